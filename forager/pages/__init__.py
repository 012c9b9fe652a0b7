"""Reads pages: the bytes of a response become a `Page` with links, dates, text, kind and fingerprints.

Pure: no I/O, no clock, no random numbers. Whatever the bytes are, reading raises nothing and ends soon.

page             response -> `Page`, which works out each answer when it is first asked for
markup           bytes -> text: content types, encodings, endless nesting, unsafe XML
head             a parsed page and what it says of itself: meta and link elements, the story in JSON-LD, rules for robots
about            what a page tells of its story: headline, authors, lead, picture, section, tags, paywall
language         the language of a text
links            the links of an HTML page, with their texts, places, and the dates beside them
text             the main text, one line for each block, without navigation and other furniture
kinds            whether a page is an article or a list ("hub")
dates            when a page was published and last modified, as it states or shows its readers
moments          one date as people and programs write it, and time zones
trust            which date sources are wrong on which site
feeds            RSS, Atom and JSON Feed
sitemaps         sitemaps, news sitemaps and lists of URLs
urls             one spelling for each URL
fingerprints     hashes that show changes and near copies
pages_settings   the settings of reading, and what counts as a change
"""
