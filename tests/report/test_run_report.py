"""The report of a run and the answer to "why this page?", from a store alone."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from forager.cli.app import command
from forager.core.agent import ReinforcingAgent
from forager.core.fleet import ForagerRecord
from forager.core.parameters import ForagerKind, ForagerSettings, ReinforcingSettings
from forager.core.saved import save_agent
from forager.engine.resume import Schedule
from forager.engine.scope import Skipped
from forager.errors import ForagerError
from forager.events import Learned
from forager.report.charts import BOTTOM, HEIGHT, dots, line_chart
from forager.report.run import read_run, run_report
from forager.store.protocol import AcceptedStory, Found, Version, VersionId, Visit
from forager.store.store import Store
from forager.terms import NOBODY, Channel, Dated, DateSource, ForagerId, Kind, Outcome, Trouble, Url, UrlId

HOME, STORY, COPY, OLD, BARRED, NEVER = (
    Url(f"https://www.paper.example/{name}")
    for name in ("", "flood.html", "copy.html", "old.html", "admin/", "later.html")
)
DAY = 1_772_409_600.0  # 2026-03-02 00:00 UTC
HOSTILE = '</title><script>alert(1)</script>\u202eflood & "more" <b>'
RULE = "Disallow: /admin/ (line 2)"
TEXT = "The river rose by two metres on Monday and the lower town was flooded before noon, the council said."


async def _make(folder: Path) -> None:
    """Six pages: a home page, a story corrected once, a copy of it, an old text, one barred, and one never visited."""
    store = await Store.open(folder)
    home, story, copy, old, barred, _ = await store.put(
        [
            Found(HOME, Channel.SEED, DAY, due=DAY),
            Found(STORY, Channel.LINK, DAY + 10, UrlId(0), depth=1, due=DAY),
            Found(COPY, Channel.FEED, DAY + 10, UrlId(0), depth=1, due=DAY, published=DAY + 5),
            Found(OLD, Channel.SITEMAP, DAY + 10, UrlId(0), depth=1, due=DAY),
            Found(BARRED, Channel.LINK, DAY + 10, UrlId(0), depth=1, due=DAY),
            Found(NEVER, Channel.LINK, DAY + 10, UrlId(0), depth=1, due=DAY + 9999),
        ]
    )

    def version(title: str, text: str, published: float | None) -> Version:
        dated = None if published is None else Dated(published, DateSource.META)
        kind = Kind.HUB if published is None else Kind.ARTICLE
        return Version(kind, hash(text) % 2**32, hash(text) % 2**31, 7, title, text, "en", published=dated)

    async def visit(
        id: UrlId, at: float, what: Version | None, *, by: int = NOBODY, changed: bool = False
    ) -> VersionId:
        seen = Visit(
            id, at, Outcome.FETCHED, 200, 0.2, 5000, by=ForagerId(by), changed=changed, due=at + 600, version=what
        )
        number = await store.ack(seen)
        assert number is not None
        return number

    await store.settle(await visit(home, DAY + 10, version("Home", "list", None), by=3), None)
    first = await visit(story, DAY + 60, version(HOSTILE, TEXT, DAY), by=3)
    told = AcceptedStory(
        story,
        first,
        STORY,
        "paper.example",
        HOSTILE,
        DAY,
        "meta",
        DAY + 10,
        DAY + 60,
        HOME,
        Channel.LINK,
        ForagerId(3),
    )
    await store.settle(first, told)
    second = await visit(story, DAY + 700, version(HOSTILE, TEXT.replace("two", "three"), DAY), changed=True)
    await store.settle(second, None)
    again = await visit(copy, DAY + 120, version("Copy", TEXT, DAY + 5))
    await store.settle(
        again,
        AcceptedStory(
            copy,
            again,
            COPY,
            "paper.example",
            "Copy",
            DAY + 5,
            "feed",
            DAY + 10,
            DAY + 120,
            HOME,
            Channel.FEED,
            duplicate_of=STORY,
        ),
    )
    await store.settle(await visit(old, DAY + 180, version("Old", "An old text.", DAY - 3 * 86_400)), None)
    refused = Visit(barred, DAY + 200, Outcome.REFUSED, trouble=Trouble.ROBOTS, error=RULE, due=DAY + 4000)
    await store.ack(refused)
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(), 1)
    agent.start(np.array([0]), DAY)
    await store.keep("fleet", save_agent(agent))
    skipped = Skipped()
    for url in ("https://ads.example/1", "https://ads.example/2?<b>"):
        skipped.add("another site", Url(url))
    await store.keep("skipped", skipped.save())
    lesson = Learned(DAY, "t * X", "ndcg", new=0.7, old=0.6, replaced=True, visits=9)
    await store.keep("schedule", msgspec.json.encode(Schedule("nad", "t * X", learned=True, lessons=[lesson])))
    await store.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    asyncio.run(_make(folder))
    return folder


VERB_FILES = {"report": "export"}


def _say(capsys: pytest.CaptureFixture[str], verb: str, *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        command(f"forager.cli.{VERB_FILES.get(verb, verb)}:{verb}", verb)(args=list(arguments))
    assert end.value.code == 0
    return capsys.readouterr().out


async def test_the_account_counts_what_the_store_holds(run: Path) -> None:
    reader = await Store.view(run)
    run_state = await read_run(reader)
    await reader.close()
    account = run_state.account
    site = account.sites["paper.example"]
    assert (run_state.known, account.pages, account.visits, account.total.requests) == (
        6,
        4,
        6,
        5,
    )  # one was refused unasked
    assert site.delays.values.tolist() == [60.0, 115.0]  # 60 - 0, 120 - 5
    assert site.channels == {"link": 1, "feed": 1}
    assert (account.total.fleet.visits, account.total.fleet.stories) == (2, 1)
    assert (account.total.recrawl.visits, account.total.recrawl.changed, account.total.recrawl.stories) == (4, 1, 1)
    assert not account.total.errors
    assert account.total.refusals["robots.txt does not allow it"] == {"Disallow: /admin/ (line 2)": 1}
    assert run_state.skipped.counts() == {"another site": 2}
    assert (account.began, account.ended) == (DAY + 10, DAY + 700)
    assert len(run_state.records) == 2


async def test_the_report_needs_nobody_and_escapes_everything(run: Path) -> None:
    reader = await Store.view(run)
    page = run_report(await read_run(reader), "<i>run</i>")
    await reader.close()
    assert "<script" not in page and "\u202e" not in page and "<i>run" not in page and "<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search(r"""(src|@import|url\()\s*=?["']?http""", page)
    assert "Disallow: /admin/ (line 2)" in page
    assert "In force: <code>t * X</code>, in cycles of 15 min." in page and "0.700" in page
    assert "another site" in page and "https://ads.example/2?&lt;b&gt;" in page
    assert page.count("№ ") >= 4  # two foragers, drawn and listed


async def test_children_stand_below_their_parents_and_their_parameters_are_folded_up(run: Path) -> None:
    def born(number: int, parent: int | None, step: float) -> ForagerRecord:
        above = None if parent is None else ForagerId(parent)
        return ForagerRecord(ForagerId(number), ForagerKind.WL, above, DAY, 0.0, genes={"weblog.step": step})

    family = [born(0, None, 0.3), born(1, None, 0.3), born(2, 0, 0.4), born(3, 1, 0.3), born(4, 2, 0.5)]
    reader = await Store.view(run)
    page = run_report(replace(await read_run(reader), records=family), "run")
    await reader.close()
    drawn = re.findall(r'text-anchor="end">№ (\d)</text>', page)
    assert drawn == ["0", "2", "4", "1", "3"]
    assert page.count("<details><summary>1 of its own</summary>weblog.step 0.4</details>") == 1
    assert page.count("as set") == 3


def test_the_report_is_written_and_a_bad_place_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.html"
    assert str(target) in _say(capsys, "report", str(run), "-O", str(target))
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(ForagerError, match="-O"):
        command("forager.cli.export:report", "report")(args=[str(run), "-O", str(tmp_path / "no" / "out.html")])
    with pytest.raises(ForagerError):
        command("forager.cli.export:report", "report")(args=[str(tmp_path / "nowhere")])


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (STORY, ["A story?  Yes", "told 2026-03-02 00:01:00 UTC by forager 3, 60 s after",
                 "by link on the page below, which forager 3",
                 "-  two", "+  three", "2 of 2", COPY]),
        (COPY, ["Yes", "the first print", "says it was published 2026-03-02 00:00:05"]),
        (OLD, ["A story?  No: it was 3.0 d old", "the limit is 24.0 h", "by sitemap"]),
        (BARRED, ["never read", "robots.txt does not allow it: Disallow: /admin/ (line 2)", "ended as refused"]),
        (NEVER, ["Not yet: it has never been visited", "may be visited again from 2026-03-02 02:46:39"]),
        (HOME, ["kind hub", "a seed", "Host www.paper.example is asked at most every 1 s; it is free now."]),
    ],
)  # fmt: skip
def test_why_says_what_happened_and_why(
    run: Path, capsys: pytest.CaptureFixture[str], url: str, said: list[str]
) -> None:
    text = _say(capsys, "why", str(run), url)
    for words in said:
        assert re.sub(r"\s+", " ", words) in re.sub(r"\s+", " ", text), text
    assert "\u202e" not in text and "\x1b" not in text


def test_why_as_json_holds_the_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(_say(capsys, "why", str(run), STORY, "--json"))
    assert facts["stories"][0]["by"] == "forager 3"
    assert [piece["text"].strip() for piece in facts["editions"][0]["text_changes"] if piece["mark"] != "="] == [
        "two",
        "three",
    ]
    assert [step["channel"] for step in facts["found"]] == ["link", "seed"]


def test_why_tells_when_a_url_is_unknown_or_none(run: Path) -> None:
    for url, words in (
        ("https://www.paper.example/unknown", "never met.*was it linked"),
        ("https://elsewhere.example/", "never met.*stays out: another site"),
        ("no url", "not an http"),
    ):
        with pytest.raises(ForagerError, match=words):
            command("forager.cli.why:why", "why")(args=[str(run), url])


def test_the_marks_of_an_axis_are_round_numbers() -> None:
    drawn = line_chart([("WL", [(1.0, 0.0354), (19.0, 0.667)])], "Efficiency", along="hours")
    assert re.findall(r">([\d.]+)</text>", drawn) == ["0.2", "0.4", "0.6", "5", "10", "15"]


def test_the_axis_of_delays_ends_at_a_mark_above_the_longest() -> None:
    axis = dots([(0.0, 5.0, 0), (60.0, 80_000.0, 0)], 0.0, 60.0, "Delays")
    assert re.findall(r">([\d.]+ \w+)</text>", axis) == ["10 s", "60 s", "10 min", "60 min", "6.0 h", "24.0 h"]
    assert max(float(y) for y in re.findall(r'cy="([\d.]+)"', axis)) == HEIGHT - BOTTOM  # 5 s stands at the lowest mark
