"""Offers Forager to other programs: what `import forager` gives, one file for each thing a program wants.

Invariant: a call reads no file that it was not given, installs neither signal handlers nor logging, and keeps what
takes long off the event loop. What is slow to load is loaded by the call that needs it.

session          crawl: a live crawl beside the program, and its stories as they are told
one_page         fetch and read: one page through all rules, or the extractor alone
run_reader       open_run: stories, versions and visits of a run directory; Story
playback         replay and tune: a fleet on a recording, and better settings for it
lessons          learn: a score function from a change log
frontier_ranks   rank: the frontier of a link graph, best first
seed_list        the URLs to start from, checked
"""
