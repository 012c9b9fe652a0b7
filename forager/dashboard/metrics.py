"""The figures of a crawl in the text format of Prometheus, labelled by site."""

from collections.abc import Iterable, Sequence

from forager.dashboard.chronicle import Chronicle
from forager.dashboard.views import host_facts
from forager.dashboard.watched import Watched
from forager.report.account import SiteAccount

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[dict[str, str], float]


def exposition(watched: Watched, chronicle: Chronicle) -> str:
    """All metrics, one sample per line."""
    account, counts = chronicle.account, watched.store.counts()
    sites = sorted(account.sites.items())
    outcomes = [
        ({"site": name, "side": side, "outcome": key}, n)
        for name, one in sites
        for side, visits in (("fleet", one.fleet), ("recrawl", one.recrawl))
        for key, n in visits.outcomes.items()
    ]
    stories = [({"site": name, "channel": key}, n) for name, one in sites for key, n in one.channels.items()]
    errors = [
        ({"site": name, "kind": key}, sum(reasons.values()))
        for name, one in sites
        for key, reasons in one.errors.items()
    ]
    skipped = [({"reason": reason}, n) for reason, n in watched.skipped().counts().items()]
    hosts = [host_facts(name, watched, chronicle) for name in sorted(chronicle.hosts)]
    waits = [({"host": facts["host"]}, facts["delay"]) for facts in hosts if facts["delay"] is not None]
    families = [
        _family(
            "fetches_total",
            "counter",
            "Visits, by who made them and how they ended.",
            outcomes,
        ),
        _family("wire_bytes_total", "counter", "Bytes received.", [({"site": n}, one.wire_bytes) for n, one in sites]),
        _family("stories_total", "counter", "Stories, by the channel that brought the URL first.", stories),
        _family("errors_total", "counter", "Fetches that ended in trouble, by kind.", errors),
        _family("skipped_total", "counter", "Links left out, by reason.", skipped),
        _family(
            "host_requests_last_hour",
            "gauge",
            "Requests of the last hour.",
            [({"host": f["host"]}, f["used"]) for f in hosts],
        ),
        _family("host_delay_seconds", "gauge", "Seconds between two requests, as in force now.", waits),
        _delays(sites),
        _family("known_urls", "gauge", "URLs known to the crawl.", [({}, len(watched.known()))]),
        _family("pages_total", "counter", "Different pages fetched.", [({}, account.pages)]),
        _family("changes_total", "counter", "Visits that saw a change.", [({}, account.changes)]),
        _family("recrawl_cycles_total", "counter", "Recrawl cycles finished.", [({}, account.cycles.done)]),
        _family("versions_total", "counter", "Page versions stored.", [({}, counts.versions)]),
        _family("foragers", "gauge", "Foragers alive.", [({}, account.alive)]),
        _family("foragers_born_total", "counter", "Foragers born.", [({}, account.born)]),
        _family("foragers_deleted_total", "counter", "Foragers deleted.", [({}, account.deleted)]),
    ]
    return "".join(families)


def _delays(sites: Sequence[tuple[str, SiteAccount]]) -> str:
    """Summary of the delays of each site's stories."""
    name = "forager_story_delay_seconds"
    lines = [f"# HELP {name} Seconds from publication to fetch.", f"# TYPE {name} summary"]
    for site, account in sites:
        for share in (0.5, 0.9):
            found = account.delay(share)
            if found is not None:
                lines.append(f"{name}{_labels({'site': site, 'quantile': str(share)})} {found:.17g}")
        lines.append(f"{name}_sum{_labels({'site': site})} {account.delays.values.sum():.17g}")
        lines.append(f"{name}_count{_labels({'site': site})} {account.stories}")
    return "\n".join(lines) + "\n"


def _family(name: str, kind: str, meaning: str, samples: Iterable[Sample]) -> str:
    lines = [f"# HELP forager_{name} {meaning}", f"# TYPE forager_{name} {kind}"]
    lines += [f"forager_{name}{_labels(labels)} {value:.17g}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
