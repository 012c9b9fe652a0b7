"""Shows a running crawl in a browser, on this machine only unless a token is set.

Invariant: it only reads, and keeps a bounded amount; its figures come from the account.

server               routes, access control, server-sent events, and the server
chronicle            reads the journal and keeps the latest events
watched              the parts of a crawl or replay that the dashboard reads; share of the published stories that was found
views                the content of each page as JSON values, and the figures for Prometheus
recrawl_view         the page Recrawl
static/              the pages: plain HTML, CSS and JavaScript without a build step
"""
