"""The account of a crawl."""

from forager.engine.summary import Summary
from forager.events import Fetched
from forager.terms import NOBODY, Kind, Outcome, Trouble, Url, UrlId

SITE = "paper.example"


def fetched(outcome: Outcome, trouble: Trouble = Trouble.NONE, status: int = 0) -> Fetched:
    return Fetched(
        at=0.0,
        id=UrlId(0),
        url=Url(f"https://{SITE}/"),
        by=NOBODY,
        outcome=outcome,
        status=status,
        trouble=trouble,
        error="",
        seconds=0.1,
        wire_bytes=100 if status else 0,
        kind=Kind.HUB,
        changed=False,
        new_links=0,
    )


def test_a_page_that_we_do_not_ask_for_is_neither_a_request_nor_an_error() -> None:
    summary = Summary()
    for trouble in (Trouble.ROBOTS, Trouble.ADDRESS, Trouble.BUDGET, Trouble.URL):
        summary(fetched(Outcome.REFUSED, trouble))
    told = summary.facts()
    assert (told["requests"], told["errors"], told["sites"][SITE]["errors"]) == (0, {}, {})


def test_what_went_wrong_with_a_request_is_counted_by_its_kind() -> None:
    summary = Summary()
    for event in (
        fetched(Outcome.FETCHED, status=200),
        fetched(Outcome.UNCHANGED, status=304),
        fetched(Outcome.GONE, Trouble.STATUS, 404),
        fetched(Outcome.FAILED, Trouble.STATUS, 503),
        fetched(Outcome.FAILED, Trouble.TIMEOUT),
        fetched(Outcome.FAILED, Trouble.TIMEOUT),
        fetched(Outcome.REFUSED, Trouble.ROBOTS),
    ):
        summary(event)
    told = summary.facts()
    assert (told["requests"], told["pages"], told["not_modified"], told["wire_bytes"]) == (6, 1, 1, 400)
    assert told["errors"] == told["sites"][SITE]["errors"] == {"status 404": 1, "status 503": 1, "timeout": 2}
