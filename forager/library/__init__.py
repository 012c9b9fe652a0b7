"""Offers Forager to other programs: the public names of `import forager`, one file per purpose.

Invariant: a call reads no file that it was not given, installs neither signal handlers nor logging, and keeps slow
work off the event loop. A call imports slow modules only when it needs them.

session          crawl: a live crawl in the background, and its stories as they appear; fetch and read: one page; seeds
run_reader       open_run: stories, versions and visits of a run directory; Story
playback         replay and tune: a fleet on a recording, and better settings for it
lessons          learn: a score function from a change log
frontier_ranks   rank: the frontier of a link graph, best first
"""
