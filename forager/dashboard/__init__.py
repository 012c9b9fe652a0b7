"""The dashboard: a running crawl seen in a browser, on this machine alone unless a token is set.

settings    where it listens
chronicle   reads the journal along and keeps, in bounded memory, what happened lately; figures are the account's
watched     the parts of a crawl or replay that are looked at; `coverage` what it found of what appeared
views       what each page shows, as plain values: `places` the sites, `schedule` the recrawl cycle, `metrics` for Prometheus
doors       who may come in: Host header, token, security headers
stream      server-sent events
app         the routes, and `serve_dashboard`
static/     the pages themselves: plain HTML, CSS and JavaScript without a build step
"""
