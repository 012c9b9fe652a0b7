"""Runs a live crawl: the fleet and the recrawl cycle over one world and one store, until told to stop.

Invariant: the core decides, the engine waits; what a visit shows is stored in one transaction before a story is
reported.

crawl            a crawl from start to stop, and its warm start from archives
live_fleet       every forager is a task; one step of a forager (Alg 12); the baseline BFS, which sweeps all known pages
recrawl_cycle    the recrawl side: one worker for each host
world            the live World: visits pages; fleet and recrawl cycle share fetches and hosts
ingest           reads a fetched page, compares it with the version before, and stores what is new
memory           what is remembered of pages between visits: dates, links shown, texts, the order of lists
scope            which URLs belong to the crawl, which were left out and why, and in which places documents are
walls            where on a site pages do not answer
page_states      the states of pages and links (Alg 2)
link_order       unvisited pages in the order of the link graph
corrections      visits young stories again to see corrections
stories          from an accepted document to a story
topic            judges documents by topic, learns from what people mark
policy           the recrawl policy that the settings name
teacher          learns a score function beside the crawl
resume           keeps in the store what the recrawl cycle knows, and restores it
crawl_settings   the settings of a crawl, its dashboard and the demo
"""
