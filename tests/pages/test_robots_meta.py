"""What pages ask of robots."""

import pytest

from forager.pages.head import RobotsMeta, read_robots_meta


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", RobotsMeta()),
        ("index, follow, max-snippet:-1", RobotsMeta()),
        ("NoIndex", RobotsMeta(index=False)),
        ("noindex,nofollow", RobotsMeta(index=False, follow=False)),
        ("none", RobotsMeta(index=False, follow=False, archive=False)),
        ("noarchive , nofollow", RobotsMeta(follow=False, archive=False)),
    ],
)
def test_meta_robots_is_read(content: str, expected: RobotsMeta) -> None:
    assert read_robots_meta([("description", "noindex"), ("Robots", content)]) == expected


def test_a_meta_element_may_address_us_by_name() -> None:
    metas = [("googlebot", "noindex"), ("forager", "nofollow")]
    assert read_robots_meta(metas) == RobotsMeta(follow=False)
    assert read_robots_meta(metas, agent="GoogleBot") == RobotsMeta(index=False)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("noindex", RobotsMeta(index=False)),
        ("otherbot: noindex, nofollow", RobotsMeta()),
        ("Forager: noindex, nofollow", RobotsMeta(index=False, follow=False)),
        ("otherbot: noindex, forager: nofollow, noarchive", RobotsMeta(follow=False, archive=False)),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", RobotsMeta(follow=False)),
    ],
)
def test_the_header_may_address_one_robot(header: str, expected: RobotsMeta) -> None:
    assert read_robots_meta([], [header]) == expected


def test_whatever_any_rule_forbids_is_forbidden() -> None:
    assert read_robots_meta([("robots", "noindex")], ["nofollow", "all"]) == RobotsMeta(index=False, follow=False)
