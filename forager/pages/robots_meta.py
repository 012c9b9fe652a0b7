"""What a page itself asks of robots: `<meta name=robots>` and the X-Robots-Tag header.

A header may address one robot (`otherbot: noindex, nofollow`); the name then holds for the rest of that header or until
the next name. Rules for all and rules for us add up: what any of them forbids is forbidden.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(frozen=True, slots=True)
class RobotsMeta:
    """What the page allows."""

    index: bool = True
    follow: bool = True
    archive: bool = True


def read_robots_meta(
    metas: Iterable[tuple[str, str]], headers: Iterable[str] = (), agent: str = "forager"
) -> RobotsMeta:
    """`metas`: (name, content) of meta elements, of any name; `headers`: values of X-Robots-Tag; `agent`: our name."""
    agent = agent.lower()
    said: set[str] = set()
    for name, content in metas:
        if name.strip().lower() in ("robots", agent):
            said.update(word.strip() for word in content.lower().split(","))
    for header in headers:
        said.update(_for_us(header.lower(), agent))
    nothing = "none" in said
    return RobotsMeta(
        index=not (nothing or "noindex" in said),
        follow=not (nothing or "nofollow" in said),
        archive=not (nothing or "noarchive" in said),
    )


def _for_us(header: str, agent: str) -> Iterator[str]:
    addressed = True
    for part in header.split(","):
        name, colon, rest = (piece.strip() for piece in part.partition(":"))
        if colon and name not in _WITH_VALUE:
            addressed = name in ("robots", "*", agent)
            name = rest
        if addressed:
            yield name
