"""Invents news sites that publish, change and remove articles, so that a crawl can be measured against the truth.

Invariant: settings and seed alone decide what stands at a path at a moment; earlier requests make no difference.

newsroom            the newsroom as a web that answers as of its clock
server              the same over real HTTP on loopback
plan                every article that will be published, its fate and its links
rhythm              when news is published
article             the nouns: an article, and what happens to it
site                what stands at a path at a moment, and in lists
sheets              HTML of a page, with the dates that it states
files               feeds, sitemaps and robots.txt
writer              headlines and texts, and the words they are made of
noise               what changes on a page although its content does not
traps               places where a crawl could go on for ever
truth               what was really published, changed and removed
cache               a cache of bounded size
newsroom_settings   the settings of the newsroom
"""
