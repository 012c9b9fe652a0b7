from itertools import pairwise

import pytest

from forager.chance import stream
from forager.clock import LoopClock, run_virtual
from forager.terms import Outcome, Request, Response, Trouble, Url
from forager.web.polite import Retrying
from forager.web.web import NO_SUCH_HOST
from forager.web.web_settings import RetryingSettings

URL = Url("http://a.example/")
FINE = Response(URL, Outcome.FETCHED, 0.0, status=200)


def failure(trouble: Trouble, status: int = 0, retry_after: str = "", error: str = "trouble") -> Response:
    headers = (("retry-after", retry_after),) if retry_after else ()
    return Response(URL, Outcome.FAILED, 0.0, status=status, trouble=trouble, headers=headers, error=error)


class FakeWeb:
    """Answers in turn; the last answer stays."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.times: list[float] = []

    async def fetch(self, request: Request) -> Response:
        self.times.append(LoopClock(0.0).now())
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def tried(*answers: Response, settings: RetryingSettings | None = None, seed: int = 1) -> tuple[Response, list[float]]:
    web = FakeWeb(*answers)
    retrying = Retrying(web, LoopClock(0.0), stream(seed, "retrying"), settings)
    return run_virtual(retrying.fetch(Request(URL))), web.times


ATTEMPTS = {
    "no connection": (failure(Trouble.CONNECT), 3),
    "no answer": (failure(Trouble.TIMEOUT), 3),
    "lookup failed": (failure(Trouble.DNS), 3),
    "no such host": (failure(Trouble.DNS, error=f"{NO_SUCH_HOST}: a.example"), 1),
    "500": (failure(Trouble.STATUS, 500), 3),
    "503": (failure(Trouble.STATUS, 503), 3),
    "429": (failure(Trouble.STATUS, 429), 3),
    "408": (failure(Trouble.STATUS, 408), 3),
    "425": (failure(Trouble.STATUS, 425), 3),
    "501": (failure(Trouble.STATUS, 501), 1),
    "505": (failure(Trouble.STATUS, 505), 1),
    "999": (failure(Trouble.STATUS, 999), 1),
    "broken protocol": (failure(Trouble.PROTOCOL), 2),
    "TLS": (failure(Trouble.TLS), 1),
    "too large": (failure(Trouble.SIZE), 1),
    "long Retry-After": (failure(Trouble.STATUS, 503, retry_after="61"), 1),
    "gone": (Response(URL, Outcome.GONE, 0.0, status=404, trouble=Trouble.STATUS), 1),
    "refused": (Response(URL, Outcome.REFUSED, 0.0, trouble=Trouble.ROBOTS), 1),
    "fine": (FINE, 1),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_only_what_may_go_well_later_is_asked_again(name: str) -> None:
    answer, attempts = ATTEMPTS[name]
    response, times = tried(answer)
    assert response == answer
    assert len(times) == attempts


def test_the_first_good_answer_ends_it() -> None:
    response, times = tried(failure(Trouble.CONNECT), FINE)
    assert response is FINE
    assert len(times) == 2


@pytest.mark.parametrize("seed", range(20))
def test_the_wait_doubles_and_is_jittered_by_half(seed: int) -> None:
    # backoff 1 s: first wait 1 s ± 0.5 s, second 2 s ± 1 s, third 4 s ± 2 s
    _, times = tried(failure(Trouble.CONNECT), settings=RetryingSettings(retries=3), seed=seed)
    waits = [after - before for before, after in pairwise(times)]
    for wait, middle in zip(waits, (1.0, 2.0, 4.0), strict=True):
        assert 0.5 * middle <= wait <= 1.5 * middle


def test_the_same_seed_waits_the_same() -> None:
    assert tried(failure(Trouble.CONNECT), seed=3)[1] == tried(failure(Trouble.CONNECT), seed=3)[1]
    assert tried(failure(Trouble.CONNECT), seed=3)[1] != tried(failure(Trouble.CONNECT), seed=4)[1]


def test_a_short_retry_after_is_obeyed() -> None:
    _, times = tried(failure(Trouble.STATUS, 429, retry_after="30"), FINE)
    assert times[1] - times[0] == 30.0


def test_a_retry_after_date_is_obeyed() -> None:
    _, times = tried(failure(Trouble.STATUS, 503, retry_after="Thu, 01 Jan 1970 00:00:40 GMT"), FINE)
    assert times == [0.0, 40.0]


def test_a_refused_second_attempt_does_not_hide_the_first_answer() -> None:
    first = failure(Trouble.STATUS, 503)
    refused = Response(URL, Outcome.REFUSED, 0.0, trouble=Trouble.BUDGET)
    response, times = tried(first, refused)
    assert response is first
    assert len(times) == 2
