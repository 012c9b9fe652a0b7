"""What a tape keeps of what a page showed, however it was recorded."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.tape.build import TapeBuilder
from forager.terms import Dated, DateSource, Kind, Url


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Read once, though the page may show it again later."""

    digest: int
    text_print: int
    published: float
    """nan if it is not known."""
    kind: Kind
    links: NDArray[np.int32]
    state_row: int

    @classmethod
    def seen(
        cls,
        builder: TapeBuilder,
        prints: tuple[int, int],
        published: Dated | None,
        kind: Kind,
        links: NDArray[np.int32],
        state_row: int,
    ) -> "PageFacts":
        """What the reader made of a page, `prints` being those of its bytes and of its main text.

        Where each new text is a document, pages that look like lists are texts too, and a day that a text only mentions
        is not taken for its date.
        """
        if builder.identity in ("text", "version"):
            kind = Kind.OTHER if kind is Kind.HUB else kind
            published = None if published is not None and published.source is DateSource.TEXT else published
        date = np.nan if published is None else published.time
        return cls(prints[0], prints[1], date, kind, links, state_row)

    def add_to(self, builder: TapeBuilder, url: Url, at: float, seconds: float) -> None:
        """The page showed this from then on; the request took so many seconds."""
        builder.add(
            url,
            at,
            digest=self.digest,
            text_print=self.text_print,
            published=self.published,
            link_ids=self.links.tolist(),
            kind=self.kind,
            seconds=seconds,
            state_row=self.state_row,
        )
