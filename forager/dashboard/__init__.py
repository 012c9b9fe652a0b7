"""Shows a running crawl in a browser, on this machine alone unless a token is set.

Invariant: it only reads, and keeps a bounded amount; its figures are the account's.

app                  the routes, server-sent events, and how it is served
access               who may come in: Host header, token, security headers
chronicle            reads the journal along and keeps what happened lately
watched              the parts of a crawl or replay that are looked at
views                what each page shows, as plain values
sites_view           the page Sites
recrawl_view         the page Recrawl
coverage             of the stories that appeared, the share found
event_facts          events as plain, harmless values
metrics              figures for Prometheus
dashboard_settings   where it listens
static/              the pages themselves: plain HTML, CSS and JavaScript without a build step
"""
