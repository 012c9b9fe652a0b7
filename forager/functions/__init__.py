"""Score functions that come with the program, written by `forager learn`; each file says from what and how it was learned.

lists.json   for lists of links
texts.json   for pages with a single text
"""
