import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import SettingsError
from forager.web.live import AddressRefusedError, Guard

NOT_PUBLIC = {
    "unspecified": ["0.0.0.0", "::"],
    "this network": ["0.1.2.3"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fdff::1"],
    "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0"],
    "shared by carriers": ["100.64.0.1", "100.127.255.255"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "4000::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"],
    "benchmarks": ["198.18.0.1"],
    "site-local": ["fec0::1"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe"],
    "compatible": ["::127.0.0.1"],
    "6to4": ["2002:7f00:1::1", "2002:0a00:0001::"],
    "NAT64": ["64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "no address": ["", "localhost", "2130706433", "0x7f.1", "127.1"],
}
PUBLIC = [
    "93.184.216.34",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "64:ff9b::808:808",
    "2002:808:808::1",
]


@pytest.mark.parametrize("address", [one for group in NOT_PUBLIC.values() for one in group])
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not Guard().permits(address)


@pytest.mark.parametrize("address", [*PUBLIC, "::ffff:8.8.8.8"])
def test_a_public_address_is_permitted(address: str) -> None:
    assert Guard().permits(address)


def test_only_what_is_allowed_by_name_is_allowed() -> None:
    guard = Guard(("127.0.0.0/8", "::1", "10.1.2.3"))
    assert guard.permits("127.0.0.53")
    assert guard.permits("::ffff:127.0.0.1")
    assert guard.permits("::1")
    assert guard.permits("10.1.2.3")
    assert not guard.permits("10.1.2.4")
    assert not guard.permits("192.168.0.1")


def test_a_wrong_network_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(SettingsError, match=r"allow_addresses: .*10\.0\.0\.0/8"):
        Guard(("localhost",))


def test_no_socket_is_made_for_a_refused_address() -> None:
    info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))
    with pytest.raises(AddressRefusedError):
        Guard().make_socket(info)
    Guard(("127.0.0.1",)).make_socket(info).close()


@given(st.ip_addresses(v=4))
def test_no_spelling_in_ipv6_makes_a_refused_ipv4_address_permitted(address: object) -> None:
    guard = Guard()
    number = int(address)  # type: ignore[call-overload]
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    for spelling in (f"::ffff:{high}:{low}", f"64:ff9b::{high}:{low}", f"2002:{high}:{low}::1"):
        assert guard.permits(spelling) == guard.permits(str(address))


@given(st.text(max_size=40))
def test_any_text_is_judged_without_an_exception(text: str) -> None:
    assert Guard().permits(text) in (True, False)
