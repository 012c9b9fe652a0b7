"""The dashboard: a running crawl seen in a browser, on this machine alone unless a token is set.

settings    where it listens
chronicle   reads the journal along and keeps, in bounded memory, what the pages show; `timeline` over time
views       what each page shows, as plain values; `metrics` the same for Prometheus
doors       who may come in: Host header, token, security headers
stream      server-sent events
app         the routes, and `serve_dashboard`
static/     the pages themselves: plain HTML, CSS and JavaScript without a build step
"""
