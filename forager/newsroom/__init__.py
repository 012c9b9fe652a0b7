"""Invents news sites that publish, change and remove articles, so that a crawl can be measured against the truth.

Invariant: only settings and seed decide what a path shows at a time; earlier requests make no difference.

newsroom            the newsroom as a web that answers as of its clock, also over real HTTP; what it really published
plan                every article that will be published, when, its changes and its links
article             an article, and what happens to it
site                what a path shows at a time, and the lists of articles
sheets              HTML of a page, with its stated dates
files               feeds, sitemaps and robots.txt
writer              headlines and texts, and their vocabulary
noise               what changes on a page although its content does not, and traps for crawlers
newsroom_settings   the settings of the newsroom
"""
