"""A newspaper of a few pages as a tape: a home page that links two sections, each showing its newest articles."""

import numpy as np

from forager.tape.build import TapeBuilder
from forager.tape.tape import Tape
from forager.terms import Kind, UrlId

HOUR = 3600.0
DAY = 24 * HOUR
HOME = UrlId(0)
SECTIONS = ("https://paper.example/near/", "https://paper.example/far/")


def paper(days: float = 3.0, every: tuple[float, float] = (2.0, 3.0), shown: int = 6, identity: str = "url") -> Tape:
    """Section s has an article every `every[s]` hours; each is corrected once, an hour after it appeared."""
    builder = TapeBuilder("paper", identity)
    home = "https://paper.example/"
    builder.numbers([home, *SECTIONS])
    rng = np.random.default_rng(7)

    def state() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return rng.uniform(-0.2, 0.2, 8).astype(np.float32)

    builder.add(home, 0.0, digest=1, links=SECTIONS, kind=Kind.HUB, state=state())
    for number, section in enumerate(SECTIONS):
        urls: list[str] = []
        builder.add(section, 0.0, digest=2, links=[home], kind=Kind.HUB, state=state())
        for count, born in enumerate(np.arange(every[number] * HOUR, days * DAY, every[number] * HOUR).tolist()):
            url = f"{section}{count}"
            urls.append(url)
            builder.add(section, born, digest=10 + count, links=[home, *urls[-shown:]], kind=Kind.HUB, state=state())
            for turn, at in enumerate((born, born + HOUR)):
                builder.add(url, at, digest=1000 * count + turn, text_print=10_000 * (number + 1) + 10 * count + turn,
                            published=born, links=[home, section], kind=Kind.ARTICLE, state=state())  # fmt: skip
    return builder.finish(start=0.0, end=days * DAY)
