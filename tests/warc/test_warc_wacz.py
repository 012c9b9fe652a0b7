"""Recordings in one file: packed for others, and unpacked from anybody without harm."""

import stat
import zipfile
from pathlib import Path

import msgspec
import pytest

from forager.errors import InputError, OutputError
from forager.warc.captures import Capture, captures
from forager.warc.wacz import pack_wacz, unpack_wacz
from tests.warc.test_warc_writing import EVERY_KIND, NOON, PAGE, write

WARC = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"


def wacz(path: Path, members: dict[str, bytes], compress: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compress) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def test_what_is_packed_comes_out_again(tmp_path: Path) -> None:
    warcs = write(tmp_path / "warc", *EVERY_KIND)
    target = tmp_path / "run.wacz"
    assert pack_wacz(tmp_path / "warc", target, now=NOON, title="A run") == 1
    (path,) = unpack_wacz(target, tmp_path / "out")
    assert (path.name, path.read_bytes()) == (warcs[0].name, warcs[0].read_bytes())
    assert all(isinstance(capture, Capture) for capture in captures([path]))


def test_a_package_holds_what_replay_tools_expect(tmp_path: Path) -> None:
    (warc,) = write(tmp_path / "warc", *EVERY_KIND)
    pack_wacz(tmp_path / "warc", tmp_path / "run.wacz", now=NOON)
    with zipfile.ZipFile(tmp_path / "run.wacz") as file:
        assert file.getinfo(f"archive/{warc.name}").compress_type == zipfile.ZIP_STORED
        package = msgspec.json.decode(file.read("datapackage.json"))
        pages = [msgspec.json.decode(line) for line in file.read("pages/pages.jsonl").splitlines()]
        index = file.read("indexes/index.cdxj").decode().splitlines()
    assert package["wacz_version"] == "1.1.1"
    assert {entry["path"] for entry in package["resources"]} == {
        f"archive/{warc.name}",
        "indexes/index.cdxj",
        "pages/pages.jsonl",
    }
    assert pages[1] == {"id": "0", "url": PAGE, "ts": "2025-10-09T08:53:20Z"}
    assert index == sorted(index)


def test_every_html_page_is_listed_once(tmp_path: Path) -> None:
    write(tmp_path / "warc", *EVERY_KIND)
    pack_wacz(tmp_path / "warc", tmp_path / "run.wacz", now=NOON)
    with zipfile.ZipFile(tmp_path / "run.wacz") as file:
        pages = [msgspec.json.decode(line) for line in file.read("pages/pages.jsonl").splitlines()][1:]
    assert [page["url"] for page in pages] == [PAGE, "https://paper.example/robots.txt"]


def test_the_same_recording_makes_the_same_package(tmp_path: Path) -> None:
    write(tmp_path / "warc", *EVERY_KIND)
    one, other = tmp_path / "a.wacz", tmp_path / "b.wacz"
    pack_wacz(tmp_path / "warc", one, now=NOON)
    pack_wacz(tmp_path / "warc", other, now=NOON)
    assert one.read_bytes() == other.read_bytes()


def test_packing_nothing_or_to_nowhere_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no closed WARC files"):
        pack_wacz(tmp_path, tmp_path / "run.wacz", now=NOON)
    write(tmp_path / "warc", *EVERY_KIND)
    with pytest.raises(OutputError, match="cannot be written"):
        pack_wacz(tmp_path / "warc", tmp_path / "missing" / "run.wacz", now=NOON)


OUTSIDE = [
    "../evil.warc",
    "archive/../../evil.warc",
    "/tmp/evil.warc",
    "..\\evil.warc",
    "C:\\evil.warc",
    "archive/..\\..\\e.warc",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_points_outside_is_refused_and_nothing_written(tmp_path: Path, name: str) -> None:
    source = wacz(tmp_path / "evil.wacz", {"archive/good.warc": WARC, name: WARC})
    with pytest.raises(InputError, match="points outside"):
        unpack_wacz(source, tmp_path / "deep" / "out")
    assert list(tmp_path.iterdir()) == [source]


def test_a_link_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "link.wacz"
    with zipfile.ZipFile(source, "w") as file:
        entry = zipfile.ZipInfo("archive/a.warc")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="is a link"):
        unpack_wacz(source, tmp_path / "out")


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    source = wacz(tmp_path / "bomb.wacz", {"archive/a.warc": b"\0" * 20_000_000}, zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="grows absurdly"):
        unpack_wacz(source, tmp_path / "out")
    big = wacz(tmp_path / "big.wacz", {"archive/a.warc": WARC * 1000})
    with pytest.raises(InputError, match="more than 1000 bytes"):
        unpack_wacz(big, tmp_path / "out", limit=1000)
    assert not (tmp_path / "out").exists()


def test_a_member_that_lies_about_its_size_gives_no_more_than_it_declares(tmp_path: Path) -> None:
    source = wacz(tmp_path / "liar.wacz", {"archive/a.warc": b"x" * 50_000}, zipfile.ZIP_DEFLATED)
    raw = source.read_bytes().replace((50_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    source.write_bytes(raw)
    with pytest.raises(InputError, match="not a WACZ that can be read"):
        unpack_wacz(source, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    source = wacz(tmp_path / "two.wacz", {"archive/a.warc": WARC, "archive/b/a.warc": WARC})
    with pytest.raises(InputError, match="same name"):
        unpack_wacz(source, tmp_path / "out")


def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    source = wacz(tmp_path / "a.wacz", {"archive/a.warc": WARC})
    unpack_wacz(source, tmp_path / "out")
    with pytest.raises(InputError, match="exists already"):
        unpack_wacz(source, tmp_path / "out")


def test_a_wrong_digest_is_noticed(tmp_path: Path) -> None:
    package = {"resources": [{"path": "archive/a.warc", "hash": "sha256:" + "0" * 64}]}
    members = {"archive/a.warc": WARC, "datapackage.json": msgspec.json.encode(package)}
    with pytest.raises(InputError, match="digest is wrong"):
        unpack_wacz(wacz(tmp_path / "a.wacz", members), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("package", [b"[]", b'{"resources": 5}', b'{"resources": [5, {"path": []}]}'])
def test_a_strange_data_package_is_passed_over(tmp_path: Path, package: bytes) -> None:
    source = wacz(tmp_path / "a.wacz", {"archive/a.warc": WARC, "datapackage.json": package})
    assert [path.name for path in unpack_wacz(source, tmp_path / "out")] == ["a.warc"]


@pytest.mark.parametrize("package", [b"", b"{", b"\xff"])
def test_a_data_package_that_is_no_json_is_refused(tmp_path: Path, package: bytes) -> None:
    source = wacz(tmp_path / "a.wacz", {"archive/a.warc": WARC, "datapackage.json": package})
    with pytest.raises(InputError, match="not a WACZ that can be read"):
        unpack_wacz(source, tmp_path / "out")


@pytest.mark.parametrize("raw", [b"", b"PK", b"PK\x03\x04" + b"\0" * 50, WARC])
def test_a_file_that_is_no_zip_is_refused(tmp_path: Path, raw: bytes) -> None:
    source = tmp_path / "a.wacz"
    source.write_bytes(raw)
    with pytest.raises(InputError, match="not a WACZ"):
        unpack_wacz(source, tmp_path / "out")


def test_a_zip_without_recordings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no WARC files"):
        unpack_wacz(wacz(tmp_path / "a.wacz", {"readme.txt": b"hello"}), tmp_path / "out")
