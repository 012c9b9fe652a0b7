"""Runs a live crawl: the fleet and the recrawl cycle over one world and one store, until told to stop.

Invariant: it waits, the core decides; what a visit shows is stored in one transaction before it is told.

crawl            a crawl from start to stop, and its warm start from archives
fleet            every forager is a task; one step of a forager (Alg 12); the baseline BFS, which sweeps all known pages
recrawl_cycle    the recrawl side: a worker for each host
world            the live World: one fetch for all who ask, hosts shared by both sides
ingest           from a response to what is kept of it
memory           what is remembered of pages between visits: dates, links shown, texts
scope            which URLs belong to the crawl, which were left out, and where documents stand
archive_order    what is too old by its place in an archive
walls            where on a site pages do not answer
page_states      the states of pages and links (Alg 2)
link_order       never-visited pages in the order of the link graph
corrections      second looks at young stories
stories          from an accepted document to a story
topic            the focus at work: judges, learns, takes in what people mark
policy           the recrawl policy that the settings name
teacher          learns a score function beside the crawl
resume           what the recrawl side knows, kept in the store
crawl_settings   the settings of a crawl, its dashboard and the demo
"""
