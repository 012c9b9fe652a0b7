"""Which code reads the input of each target of `fuzzing`; apart from it, because it must be known before that is imported."""

MODULES: dict[str, tuple[str, ...]] = {
    "page": ("pages",),
    "url": ("pages.urls",),
    "robots": ("web.robots", "pages.urls"),
    "feed": ("pages.feeds", "pages.about", "pages.markup", "pages.moments", "pages.urls"),
    "sitemap": ("pages.sitemaps", "pages.markup", "pages.moments", "pages.urls"),
    "date": ("pages.moments",),
    "warc": ("warc",),
    "index": ("warc.index",),
    "recording": ("importers", "warc", "tape", "pages.urls"),
    "change_log": ("cli.log_input", "importers", "recrawl.change_log"),
    "tape": ("tape",),
    "formula": ("recrawl.formula", "recrawl.policies", "gp.trees", "gp.machine"),
    "settings": ("settings", "units"),
    "seeds": ("library.session", "pages.urls"),
    "query": ("dashboard", "report"),
    "focus": ("core.focus", "importers.texts"),
    "rankings": ("importers.edge_files", "graph"),
    "packed": ("warc",),
    "body": ("web.inflate",),
    "change_table": ("cli.log_input", "importers", "recrawl.change_log"),
    "tables": ("importers", "tape", "pages.urls"),
}
"""By target, the modules and packages of `forager` that read its input: what coverage is measured of."""
