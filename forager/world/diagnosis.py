"""What went wrong on the wire: exceptions of aiohttp and the operating system as one kind of trouble and one line."""

import socket
import ssl
from collections.abc import Iterator

import aiohttp

from forager.terms import Trouble
from forager.world.guard import AddressRefusedError
from forager.world.http import NO_SUCH_HOST, one_line

_NO_SUCH_NAME = frozenset({1, 4, socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
"""c-ares ENODATA and ENOTFOUND, and what getaddrinfo says for the same."""


class LostError(aiohttp.ClientError):
    """The connection broke after we asked and before an answer came."""


class TooManyHeadersError(aiohttp.ClientError):
    """The headers together passed their cap."""


def diagnosis(error: BaseException) -> tuple[Trouble, str]:
    """The kind of trouble and a line for people."""
    refused = next((cause for cause in _causes(error) if isinstance(cause, AddressRefusedError)), None)
    if refused is not None:
        return Trouble.ADDRESS, f"{refused.address} is not a public address; allow_addresses can allow it"
    match error:
        case aiohttp.ClientConnectorDNSError():
            return Trouble.DNS, _dns(error)
        case ssl.SSLError() | aiohttp.ClientSSLError() | aiohttp.ServerFingerprintMismatch():
            return Trouble.TLS, f"no secure connection: {_words(error)}"
        case aiohttp.ConnectionTimeoutError():
            return Trouble.CONNECT, "no connection within the connect time"
        case TimeoutError():
            return Trouble.TIMEOUT, "no complete answer within the total time"
        case LostError() | aiohttp.ClientConnectionError() | OSError():
            return Trouble.CONNECT, f"no connection: {_words(error)}"
        case TooManyHeadersError():
            return Trouble.HEADERS, "the headers are too large"
        case aiohttp.ClientResponseError():
            return _broken(error)
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError() | ValueError():
            return Trouble.URL, f"not a URL we can ask for: {_words(error)}"
        case _:
            return Trouble.PROTOCOL, _words(error)


def _broken(error: aiohttp.ClientResponseError) -> tuple[Trouble, str]:
    if error.message.startswith(("Got more than", "Too many headers")):  # aiohttp has no exception of its own for it
        return Trouble.HEADERS, f"the headers are too large: {one_line(error.message, 120)}"
    return Trouble.PROTOCOL, f"not an HTTP answer: {one_line(error.message, 120)}"


def _dns(error: aiohttp.ClientConnectorDNSError) -> str:
    codes = {cause.args[0] for cause in _causes(error) if cause.args and isinstance(cause.args[0], int)}
    what = NO_SUCH_HOST if codes & _NO_SUCH_NAME else "the name cannot be looked up"
    return f"{what}: {error.host}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _words(error: BaseException) -> str:
    return one_line(str(error), 200) or type(error).__name__
