"""Replay of bytes: what the live crawl saw, at the same time, at the same pace."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forager.assembly import wire
from forager.clock import LoopClock, run_virtual
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import Settings
from forager.terms import Outcome, Request, Response, Trouble, Url, Validators
from forager.warc.exchange import Exchange
from forager.warc.recorder import Recording
from forager.warc.replay_web import WarcWeb
from forager.warc.writer import WarcWriter, warcs_in
from forager.web.web import Web, validators_of
from forager.web.web_settings import RecordingSettings
from tests.virtual import InlineRecorder
from tests.warc.test_warc_reading import http, record

AGENT = "Forager/0.1 (+https://example.org/bot)"
ROOM = NewsroomSettings(days=2, resets=0.03, errors=0.03, busy=0.03, slow=0.03)
START = ROOM.start + 86400.0
PAGE = Url("https://paper.example/")
SAME, OTHER = Validators('"v1"', "Mon, 02 Mar 2026 00:00:00 GMT"), Validators('"v0"')
NOTHING = Validators()
HEADERS = (("date", "Mon, 02 Mar 2026 01:00:00 GMT"), ("etag", '"v1"'), ("last-modified", SAME.last_modified))


async def walk(web: Web, clock: LoopClock, homes: list[Url]) -> list[tuple[Request, Response]]:
    """Look at everything every ten minutes for half a day, as a crawl does: conditionally once something is known."""
    seen: list[tuple[Request, Response]] = []
    known: dict[Url, Validators] = {}
    pages = [
        Url(f"{home}{path}") for home in homes for path in ("", "robots.txt", "feed.xml", "nothing", "sitemap.xml")
    ]
    for round in range(72):
        for number, url in enumerate(pages):
            await clock.sleep(START + round * 600.0 + number * 30.0 - clock.now())
            limit = 100 if url.endswith("robots.txt") and round % 2 else None
            request = Request(url, known.get(url, NOTHING), limit)
            response = await web.fetch(request)
            seen.append((request, response))
            if response.outcome is Outcome.FETCHED:
                known[url] = validators_of(response)
    return seen


def recorded(directory: Path, work: Callable[[Web, LoopClock], object]) -> object:
    """Do something with a newsroom in simulated time, and tape it."""

    async def crawl() -> object:
        clock = LoopClock(START)
        room = Newsroom(ROOM, clock)
        recorder = InlineRecorder(WarcWriter(directory, RecordingSettings(max_size=1_000_000), AGENT))
        result = await work(Recording(room, recorder, clock), clock)  # type: ignore[misc]
        await recorder.close()
        return result

    return run_virtual(crawl())


def homes() -> list[Url]:
    return Newsroom(ROOM, LoopClock(START)).homes


def test_a_replay_gives_the_same_responses_at_the_same_times(tmp_path: Path) -> None:
    live = recorded(tmp_path, lambda web, clock: walk(web, clock, homes()))
    web = None

    async def again() -> list[tuple[Request, Response]]:
        nonlocal web
        clock = LoopClock(START)
        web = WarcWeb(warcs_in(tmp_path), clock)
        return await walk(web, clock, homes())

    assert run_virtual(again()) == live
    assert isinstance(live, list)
    assert isinstance(web, WarcWeb)
    outcomes = Counter(response.outcome for _, response in live)
    assert min(outcomes[kind] for kind in (Outcome.FETCHED, Outcome.UNCHANGED, Outcome.GONE, Outcome.FAILED)) > 10
    assert len(warcs_in(tmp_path)) > 1
    assert (web.broken, web.unrecorded) == (0, 0)


def test_the_rules_of_the_live_crawl_hold_in_a_replay(tmp_path: Path) -> None:
    async def ask(web: Web, clock: LoopClock) -> list[Response]:
        ruled = wire(Settings(), clock, web).web
        paths = ("", "feed.xml", "internal/login", "nothing", "", "about")
        return [await ruled.fetch(Request(Url(f"{home}{path}"))) for home in homes() for path in paths]

    live = recorded(tmp_path, ask)
    assert isinstance(live, list)

    async def again() -> list[Response]:
        clock = LoopClock(START)
        return await ask(WarcWeb(warcs_in(tmp_path), clock), clock)

    replayed = run_virtual(again())
    assert [replace(r, asked=0.0) for r in replayed] == [replace(r, asked=0.0) for r in live]
    assert [r.asked for r in replayed] == pytest.approx([r.asked for r in live], abs=1e-3)
    assert Trouble.ROBOTS in {response.trouble for response in live}


def taped(directory: Path, *exchanges: Exchange) -> list[Path]:
    writer = WarcWriter(directory, RecordingSettings(), AGENT)
    writer.write(exchanges)
    writer.close()
    return warcs_in(directory)


def answer(body: bytes, at: float, asked_with: Validators = NOTHING, **changes: object) -> Exchange:
    response = Response(PAGE, Outcome.FETCHED, at, 2.0, 200, HEADERS, body, len(body))
    return Exchange(Request(PAGE, asked_with), replace(response, **changes), 2.0)  # type: ignore[arg-type]


def unchanged(at: float, asked_with: Validators) -> Exchange:
    return answer(b"", at, asked_with, outcome=Outcome.UNCHANGED, status=304, headers=HEADERS)


def asked(paths: list[Path], *questions: tuple[float, Validators], limit: int | None = None) -> list[Response]:
    """The answers to questions at these seconds after the start."""

    async def ask() -> list[Response]:
        clock = LoopClock(START)
        web = WarcWeb(paths, clock)
        answers = []
        for at, validators in questions:
            await clock.sleep(START + at - clock.now())
            answers.append(await web.fetch(Request(PAGE, validators, limit)))
        return answers

    return run_virtual(ask())


def test_before_its_first_capture_a_page_is_unrecorded_and_afterwards_the_last_version_speaks(tmp_path: Path) -> None:
    paths = taped(tmp_path, answer(b"one", START + 100), answer(b"two", START + 200, headers=()))
    answers = asked(paths, (50, NOTHING), (100, NOTHING), (199, NOTHING), (210, NOTHING), (9999, NOTHING))
    assert [a.outcome for a in answers] == [Outcome.UNRECORDED] + [Outcome.FETCHED] * 4
    assert [a.body for a in answers] == [b"", b"one", b"one", b"two", b"two"]
    assert [a.asked - START for a in answers] == [50, 100, 199, 210, 9999]


def test_an_answer_takes_as_long_as_it_did_then(tmp_path: Path) -> None:
    async def ask() -> float:
        clock = LoopClock(START)
        await WarcWeb(taped(tmp_path, answer(b"one", START)), clock).fetch(Request(PAGE))
        return clock.now() - START

    assert run_virtual(ask()) == 2.0


def test_a_question_with_the_recorded_validators_is_answered_with_304(tmp_path: Path) -> None:
    paths = taped(tmp_path, answer(b"one", START))
    by_date, weak = Validators(last_modified=SAME.last_modified), Validators('W/"v1"')
    answers = asked(paths, (10, SAME), (20, OTHER), (30, by_date), (40, weak), (50, NOTHING))
    assert [a.status for a in answers] == [304, 200, 304, 304, 200]
    assert (answers[0].outcome, answers[0].body, answers[0].headers) == (Outcome.UNCHANGED, b"", HEADERS)


def test_a_server_that_ignored_validators_ignores_the_same_ones_again(tmp_path: Path) -> None:
    paths = taped(tmp_path, answer(b"one", START, SAME))
    (first,) = asked(paths, (10, SAME))
    assert (first.status, first.body) == (200, b"one")


def test_behind_a_304_stands_the_body_that_it_confirmed(tmp_path: Path) -> None:
    changed = answer(b"other", START + 100, headers=(("etag", '"v2"'),))
    back = unchanged(START + 200, SAME)  # the old version is current again
    paths = taped(tmp_path, answer(b"one", START), changed, back)
    answers = asked(paths, (110, NOTHING), (210, NOTHING), (220, SAME), (230, OTHER))
    assert [(a.status, a.body) for a in answers] == [(200, b"other"), (200, b"one"), (304, b""), (200, b"one")]


def test_a_304_without_any_body_before_it_is_unrecorded_for_whoever_needs_one(tmp_path: Path) -> None:
    paths = taped(tmp_path, unchanged(START, SAME))
    answers = asked(paths, (10, SAME), (20, NOTHING))
    assert [a.outcome for a in answers] == [Outcome.UNCHANGED, Outcome.UNRECORDED]


def test_a_repeated_body_is_found_where_it_was_written(tmp_path: Path) -> None:
    paths = taped(tmp_path, answer(b"one", START), answer(b"two", START + 100), answer(b"one", START + 200))
    assert [a.body for a in asked(paths, (210, NOTHING))] == [b"one"]


def test_whoever_reads_less_gets_less(tmp_path: Path) -> None:
    (cut,) = asked(taped(tmp_path, answer(b"0123456789", START)), (0, NOTHING), limit=4)
    assert (cut.body, cut.wire_bytes) == (b"0123", 4)


def test_a_failure_is_replayed_as_the_same_failure(tmp_path: Path) -> None:
    failure = Response(PAGE, Outcome.FAILED, START, 30.0, trouble=Trouble.TIMEOUT, error="no answer within 30 s")
    paths = taped(tmp_path, Exchange(Request(PAGE), failure, 30.0))
    assert asked(paths, (0, NOTHING), (50, SAME)) == [failure, replace(failure, asked=START + 50)]


def test_recordings_of_other_tools_are_replayed(tmp_path: Path) -> None:
    digest = "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    refers = ["WARC-Refers-To-Target-URI: https://paper.example", "WARC-Refers-To-Date: 2026-03-03T00:00:01Z"]
    identical = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    not_modified = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified"

    def at(second: int, block: bytes, *fields: str, kind: str = "response") -> bytes:
        date = f"2026-03-03T00:00:{second:02}Z"
        return record(block, *fields, kind=kind, url="https://paper.example", date=date)  # no slash: not canonical

    assert START == 1772496000.0  # date -u -d 2026-03-03 +%s
    page = http(b"one", 'ETag: "v1"')
    path = tmp_path / "foreign.warc"
    path.write_bytes(
        at(1, page, digest)
        + at(2, http(b"", 'ETag: "v1"', status="304 Not Modified"), not_modified, kind="revisit")
        + at(3, http(b"two", "X: y"))
        + at(4, b"", digest, identical, kind="revisit")
        + at(5, http(b"three"))
        + at(6, http(b"", "X: y"), identical, *refers, kind="revisit")
        + at(7, http(b"", "Location: /x", status="301 Moved"))
    )
    answers = asked([path], (0, NOTHING), *((second + 0.5, NOTHING) for second in range(1, 8)))
    assert [a.body for a in answers] == [b"", b"one", b"one", b"two", b"one", b"three", b"one", b""]
    assert [a.status for a in answers] == [0, 200, 200, 200, 200, 200, 200, 301]
    assert [a.status for a in asked([path], (2.5, Validators('"v1"')))] == [304]


def test_broken_records_are_counted_and_named(tmp_path: Path) -> None:
    (path,) = taped(tmp_path, answer(b"one", START), answer(b"two", START + 1))
    path.write_bytes(path.read_bytes()[:-10])
    web = WarcWeb([path], LoopClock(START))
    assert (web.broken, web.named[0].why, len(web.urls)) == (1, "the file ends inside a record", 1)
    assert web.period == (START, START)
