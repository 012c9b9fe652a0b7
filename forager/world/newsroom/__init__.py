"""The Newsroom: a synthetic, living news site, deterministic from a seed, for demos, tests and recordings.

settings   every knob
words      the vocabularies; `writer` makes texts of them
rhythm     when articles are published; `graph` who links to whom; `plan` puts the fates of all articles together
site       what stands at a path at a moment (`listings`, `traps`); no markup
pages      HTML (`dates`, `noise`); `files` feeds, sitemaps, robots.txt
newsroom   the web: request -> answer at a time; `serve` the same over real HTTP
truth      what was really published, changed, removed
"""
