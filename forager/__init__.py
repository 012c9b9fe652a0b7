"""Forager: a focused news crawler that learns where and when to look.

The rooms of the house, from the ground up; each may only use the rooms below it:

terms, events        the nouns that travel, and what can happen
clock, chance, errors, units, compiling, arrays
pages                bytes -> Page: links, dates, text, fingerprints, feeds, sitemaps            (pure)
measures             delay, coverage, freshness, efficiency, ranking quality                      (pure)
foragers             the mind of one forager: weblog, path, long-term profit, states              (pure)
recrawl              when to look again: estimators, policies, learned score functions            (pure)
frontier             where to go next: link graph, ranks, the timetable of polite visits          (pure)
reinforcing          the agent that rewards, multiplies and deletes foragers                      (pure)
world                the web seen from the house: live, polite, obeying robots, synthetic
store                what survives kill -9
engine               the only place where all rooms meet, and wait
settings, assembly   config.yaml -> settings -> parts
simulation           the same fleet on a tape, in simulated time
tuning               better settings, searched on a recording and judged on its held-out part
cli                  one file per verb
"""

__version__ = "0.1.0"
