"""Where the dashboard listens."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """The live view of a crawl in a browser."""

    enabled: bool = True
    """Serve it while a crawl runs."""
    host: str = "127.0.0.1"
    """The address to listen on; any but loopback needs a token. Ours."""
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    """The port to listen on; 0 takes a free one and prints it. Ours."""
    token: str = ""
    """Secret token that visitors must give, at least 16 characters; empty: none is required on loopback. Ours."""
