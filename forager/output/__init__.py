"""Writes stories to files and other places, in the order of acceptance, while the crawl runs or afterwards.

Invariant: every story reaches its writer exactly once, and text of pages is made safe for the programs that will read
it.

outlet         from a store to a writer; what a writer is
writers        the format for a suffix or a scheme; Parquet and Atom, which are written whole
lines          JSON lines and CSV, which can be continued; where rows go
fields         the fields of a story, and how their text is made safe
"""
