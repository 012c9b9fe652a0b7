"""What a tape keeps of what a page showed, however it was recorded."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.terms import Kind, Url
from forager.world.tape.build import TapeBuilder


@dataclass(frozen=True, slots=True)
class Facts:
    """Read once, though the page may show it again later."""

    digest: int
    text_print: int
    published: float
    """nan if it is not known."""
    kind: Kind
    links: NDArray[np.int32]
    state_row: int

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
