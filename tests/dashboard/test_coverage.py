"""Coverage over time, of a live crawl and of worlds that know what appeared."""

import numpy as np

from forager.dashboard.watched import BUCKETS, AnnouncedStories, Appeared, Coverage
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import Channel, Url, UrlId


def _arrays(pairs: list[tuple[float, bool]]) -> Appeared:
    return np.array([at for at, _ in pairs]), np.array([found for _, found in pairs], dtype=np.bool_)


def test_columns_count_what_appeared_and_what_was_found() -> None:
    pairs = [(100.0, True), (119.0, False), (130.0, True), (3000.0, False)]  # 2,900 s: 49 minutes are too many
    series = Coverage("stories", lambda: _arrays(pairs)).over_time()
    assert (series["start"], series["width"], series["share"]) == (0.0, 300.0, 0.5)
    assert series["appeared"] == [3, *[0] * 9, 1]
    assert series["found"] == [2, *[0] * 9, 0]


def test_any_span_has_few_columns_and_nothing_appeared_is_nothing_shown() -> None:
    for span in (0.0, 59.0, 3e4, 3e6, 3e9):
        series = Coverage("stories", lambda span=span: _arrays([(0.0, True), (span, True)])).over_time()
        assert len(series["appeared"]) <= BUCKETS
        assert sum(series["appeared"]) == sum(series["found"]) == 2
    nothing = Coverage("stories", lambda: _arrays([])).over_time()
    assert (nothing["start"], nothing["share"]) == (None, None)


async def test_a_live_crawl_counts_what_feeds_announced_after_it_began() -> None:
    store, told = Store(), set[UrlId]()
    await store.put([Found(Url("https://a.example/old"), Channel.FEED, 900.0, published=890.0)])  # of an earlier run
    announced = AnnouncedStories(store, told.__contains__, lambda: 1000.0)
    dates = (999.0, 1000.0, 1500.0, 2001.0, None)  # before the crawl, two that count, a date to come, no date
    urls = [Url(f"https://a.example/{number}") for number in range(len(dates))]
    found = zip(urls, dates, strict=True)
    await store.put([Found(url, Channel.FEED, 2000.0, published=date) for url, date in found])
    times, seen = announced()
    assert (times.tolist(), seen.tolist()) == ([1000.0, 1500.0], [False, False])
    told.add(UrlId(3))
    await store.put([Found(Url("https://a.example/new"), Channel.FEED, 3000.0, published=2500.0)])
    times, seen = announced()
    assert (times.tolist(), seen.tolist()) == ([1000.0, 1500.0, 2500.0], [False, True, False])
    assert np.isfinite(times).all()
