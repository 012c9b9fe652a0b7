"""Stories out: as JSON lines, CSV, Parquet or an Atom feed, while a crawl runs and afterwards.

`fields` says what is told of a story, a writer puts it into one format, and `Outlet` brings every story of a store to a
writer in the order of acceptance, each exactly once. What pages contain is hostile; `harmless` takes the sting out.
"""
