"""The seam to the web: everything around fetching is a web wrapped round a web."""

from typing import Protocol

from forager.terms import Request, Response


class Web(Protocol):
    async def fetch(self, request: Request) -> Response:
        """Ask once. Failure is an outcome, never an exception."""
