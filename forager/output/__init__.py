"""Writes stories to files and other places, in the order of acceptance, while the crawl runs or afterwards.

Invariant: every story reaches its writer exactly once, and text of pages is made safe for what will read it.

outlet         from a store to a writer; what a writer is
writers        the format for a suffix or a scheme; Parquet and Atom, which are written whole
lines          JSON lines and CSV, which can be gone on with; where rows go
fields         what is told of a story, and how its text is made safe
"""
