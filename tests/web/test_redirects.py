from forager.terms import Hop, Outcome, Request, Response, Trouble, Url, Validators
from forager.web.polite import Following
from forager.web.web_settings import FollowingSettings

A, B, C = Url("https://a.example/"), Url("https://b.example/page"), Url("http://c.example/")
TAG = Validators(etag='"1"')


class FakeWeb:
    """Redirects as told, answers everything else; logs the requests."""

    def __init__(self, redirects: dict[Url, str]) -> None:
        self.redirects = redirects
        self.asked: list[Request] = []

    async def fetch(self, request: Request) -> Response:
        self.asked.append(request)
        if request.url in self.redirects:
            headers = (("location", self.redirects[request.url]),)
            return Response(request.url, Outcome.MOVED, 0.0, status=301, headers=headers)
        outcome = Outcome.UNCHANGED if request.validators == TAG else Outcome.FETCHED
        return Response(request.url, outcome, 0.0, status=200)


async def test_redirects_are_followed_and_noted_also_down_to_http() -> None:
    web = FakeWeb({A: B, B: C})
    response = await Following(web).fetch(Request(A, body_limit=7))
    assert (response.url, response.outcome) == (C, Outcome.FETCHED)
    assert response.hops == (Hop(A, 301), Hop(B, 301))
    assert response.first_url == A
    assert {request.body_limit for request in web.asked} == {7}


async def test_a_location_is_relative_to_the_page_that_sent_it_and_loses_its_fragment() -> None:
    web = FakeWeb({B: "../other?b=2&a=1#part"})
    response = await Following(web).fetch(Request(B))
    assert response.url == "https://b.example/other?a=1&b=2"


async def test_a_page_that_redirects_to_itself_is_a_loop() -> None:
    web = FakeWeb({A: "/#top"})
    response = await Following(web).fetch(Request(A))
    assert (response.outcome, response.trouble) == (Outcome.FAILED, Trouble.REDIRECTS)
    assert (response.url, response.hops, len(web.asked)) == (A, (), 1)


async def test_too_many_redirects_are_a_failure_that_shows_the_way() -> None:
    web = FakeWeb({A: B, B: C, C: "/deeper"})
    response = await Following(web, FollowingSettings(redirects=2)).fetch(Request(A))
    assert (response.outcome, response.trouble) == (Outcome.FAILED, Trouble.REDIRECTS)
    assert (response.url, response.hops) == (C, (Hop(A, 301), Hop(B, 301)))
    assert len(web.asked) == 3


async def test_a_broken_location_is_broken_protocol() -> None:
    response = await Following(FakeWeb({A: "mailto:a@b.example"})).fetch(Request(A))
    assert (response.outcome, response.trouble) == (Outcome.FAILED, Trouble.PROTOCOL)
    assert "mailto" in response.error


async def test_validators_go_with_the_first_hop_when_nothing_is_known() -> None:
    web = FakeWeb({A: B})
    response = await Following(web).fetch(Request(A, TAG))
    assert [request.validators for request in web.asked] == [TAG, Validators()]
    assert response.outcome is Outcome.FETCHED


async def test_validators_go_to_the_page_that_gave_them_once_it_is_known_where_a_url_leads() -> None:
    web = FakeWeb({A: B})
    following = Following(web)
    await following.fetch(Request(A))
    web.asked.clear()
    response = await following.fetch(Request(A, TAG))
    assert [request.validators for request in web.asked] == [Validators(), TAG]
    assert (response.outcome, response.url) == (Outcome.UNCHANGED, B)


async def test_a_redirect_that_leads_elsewhere_now_is_never_called_unchanged() -> None:
    web = FakeWeb({A: B})
    following = Following(web)
    await following.fetch(Request(A))
    web.redirects[A] = C
    response = await following.fetch(Request(A, TAG))
    assert (response.outcome, response.url) == (Outcome.FETCHED, C)


async def test_a_url_that_no_longer_redirects_is_asked_without_the_old_validators_once() -> None:
    web = FakeWeb({A: B})
    following = Following(web)
    await following.fetch(Request(A))
    del web.redirects[A]
    assert (await following.fetch(Request(A, TAG))).outcome is Outcome.FETCHED
    assert (await following.fetch(Request(A, TAG))).outcome is Outcome.UNCHANGED


async def test_the_memory_of_redirects_is_bounded() -> None:
    web = FakeWeb({Url(f"https://a.example/{n}"): B for n in range(10)})
    following = Following(web, FollowingSettings(remembered=3))
    for url in list(web.redirects):
        await following.fetch(Request(url))
    assert repr(following) == "<Following remembers where 3 URLs led>"
