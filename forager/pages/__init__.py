"""Reads pages: the bytes of a response become a `Page` with links, dates, text, kind and fingerprints.

Pure: no I/O, no clock, no chance of its own. Whatever the bytes are, reading raises nothing and ends soon.

page             response -> `Page`, whose answers are worked out when they are asked for
markup           bytes -> text: encodings, endless nesting, unsafe XML
head             what a page says of itself: meta, link, JSON-LD, rules for robots
links            the links of an HTML page, with their texts and places
text             the main text, without navigation and other furniture
furniture        which elements are no part of a story
kinds            whether a page is an article or a hub
dates            when a page was published and last modified
moments          one date as people and programs write it
trust            which date sources lie on which site
feeds            RSS, Atom and JSON Feed
sitemaps         sitemaps, news sitemaps and lists of URLs
urls             one spelling for each URL
fingerprints     hashes that tell changes and near copies
changes          what counts as a change of a page
lazy             properties that are worked out once
pages_settings   the settings of reading
"""
