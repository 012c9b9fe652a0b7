"""The address guard: allows connections to public addresses only, whatever a name or a redirect points to.

Checking the name or the URL is not enough: a name can resolve to another address a moment later (DNS rebinding), and an
address can be written in many ways. So the guard checks where a socket is created for one concrete address, and checks
the peer of the connection once more before a request is written to it.
"""

import errno
import socket
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from forager.errors import SettingsError

Address = IPv4Address | IPv6Address

REMEMBERED = 10_000
"""Number of addresses whose verdict is cached (ours)."""

_NAT64 = IPv6Network("64:ff9b::/96")


class AddressRefusedError(OSError):
    """Raised inside the connector instead of creating a socket."""

    def __init__(self, address: str) -> None:
        super().__init__(errno.EACCES, "the address guard refuses the address")  # one fixed text: see `Live`
        self.address = address


class Guard:
    """Refuses addresses that are not public (loopback, private, link-local, shared, multicast, reserved), unless
    allowed."""

    def __init__(self, allow_addresses: Sequence[str] = ()) -> None:
        try:
            self.allowed = tuple(ip_network(text, strict=False) for text in allow_addresses)
        except ValueError as error:
            message = f"allow_addresses: {error}; write addresses or networks such as 127.0.0.1, 10.0.0.0/8 or ::1"
            raise SettingsError(message) from None
        self.permits = lru_cache(REMEMBERED)(self._permits)
        """Whether we may connect to this address; refuses anything that is not an address."""

    def __repr__(self) -> str:
        return f"<Guard public addresses{''.join(f' and {network}' for network in self.allowed)}>"

    def _permits(self, address: str) -> bool:
        try:
            written = ip_address(address)
        except ValueError:
            return False
        meant = embedded(written)
        return _public(meant) or any(one in network for network in self.allowed for one in (written, meant))

    def check(self, address: str) -> None:
        if not self.permits(address):
            raise AddressRefusedError(address)

    def make_socket(
        self, addr_info: tuple[socket.AddressFamily | int, socket.SocketKind | int, int, str, tuple[object, ...]]
    ) -> socket.socket:
        """A socket for one concrete address (aiohttp's `socket_factory`); raises AddressRefusedError."""
        family, kind, proto, _, sockaddr = addr_info
        self.check(str(sockaddr[0]))
        return socket.socket(family=family, type=kind, proto=proto)


def embedded(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address (mapped, 6to4, NAT64), or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _public(address: Address) -> bool:
    odd = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_link_local
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not odd and not site_local
