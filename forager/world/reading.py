"""From a response to its page: from what the process that fetched it has told (see `fetching`), else from the body here."""

import msgspec

from forager.pages.facts import Facts, page_with
from forager.pages.reader import Page, read
from forager.pages.settings import PagesSettings
from forager.pages.urls import UrlMemo
from forager.terms import Response


class Reader:
    """Reads here only what is asked for, and only what was not read elsewhere."""

    def __init__(self, settings: PagesSettings) -> None:
        self.settings = settings
        self._memo = UrlMemo()
        self._facts = msgspec.msgpack.Decoder(Facts)

    def page(self, response: Response) -> Page:
        """The page in a response that was fetched."""
        if response.facts:
            return page_with(response, self._facts.decode(response.facts), self.settings)
        return read(response, memo=self._memo, settings=self.settings)
