"""Going on with a file: no story is lost and none is written twice, wherever the last writing ended."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.errors import OutputError
from forager.output.fields import Row, row
from forager.output.lines import CsvTable, InPlace, JsonLines, LineFormat, LineWriter
from forager.output.outlet import Last, Mode, Outlet
from forager.output.writers import writer_for
from forager.store.store import Store
from tests.output.press import HOSTILE, numbers, tell, tell_one

LINES = ("jsonl", "csv")


async def out(store: Store, path: Path, mode: Mode = Mode.APPEND) -> None:
    async with Outlet(store, writer_for(path, mode), pytest.fail):
        pass


async def hostile_rows() -> list[Row]:
    store = Store()
    return [await row(number, await tell_one(store, title, title), store) for number, title in enumerate(HOSTILE)]


@pytest.mark.parametrize("suffix", LINES)
async def test_appending_goes_on_behind_the_last_story(tmp_path: Path, suffix: str) -> None:
    store, path, whole = Store(), tmp_path / f"s.{suffix}", tmp_path / f"whole.{suffix}"
    for _ in range(3):
        await tell(store, 5, text='Quoted "text"\r\nand a line, {}.\n')
        await out(store, path)
        await out(store, path)
    await out(store, whole, Mode.REPLACE)
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("suffix", LINES)
async def test_a_file_cut_at_any_byte_is_completed(tmp_path: Path, suffix: str) -> None:
    store, path = Store(), tmp_path / f"s.{suffix}"
    await tell(store, 2, title='T "{}"', text='1, "2"\n3,4\r\n"5\n{}"')
    await out(store, path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        await out(store, path)
        assert path.read_bytes() == whole, size


@pytest.mark.parametrize("format", [JsonLines(), CsvTable()], ids=LINES)
@given(share=st.floats(0, 1), count=st.integers(0, len(HOSTILE)))
@settings(max_examples=40, deadline=None)
async def test_hostile_rows_are_found_again_after_a_sudden_end(
    tmp_path_factory: pytest.TempPathFactory, format: LineFormat, share: float, count: int
) -> None:
    rows = (await hostile_rows())[:count]
    pieces = [format.head, *(format.encode([one]) for one in rows)]
    size = int(share * len(b"".join(pieces)))
    path = tmp_path_factory.mktemp("torn") / "file"
    path.write_bytes(b"".join(pieces)[:size])
    complete = [len(b"".join(pieces[: place + 1])) <= size for place in range(len(pieces))].count(True) - 1
    writer = LineWriter(InPlace(path, keep=True), format)
    last = writer.open()
    assert last == (Last(complete - 1, str(rows[complete - 1]["url"])) if complete > 0 else None)
    writer.write(rows[max(0, complete) :])
    writer.close()
    assert path.read_bytes() == b"".join(pieces)


@pytest.mark.parametrize("suffix", LINES)
@pytest.mark.parametrize(
    "content",
    [
        "hello",
        "hello\n",
        '{"id": 1}\n',
        '{"number": "1", "url": "u"}\n',
        '{"number": true}\n',
        "[]\n",
        "\n\n",
        "\0\0\0\n",
        "number;url\n1;u\n",
        "url,number\r\nu,1\r\n",
        CsvTable.head.decode() + "one,two\r\n",
        CsvTable.head.decode() + "x" + "," * 20 + "\r\n",
    ],
)
async def test_a_file_that_is_not_ours_is_refused_and_not_touched(tmp_path: Path, suffix: str, content: str) -> None:
    store, path = Store(), tmp_path / f"s.{suffix}"
    await tell(store, 3)
    path.write_bytes(content.encode())
    with pytest.raises(OutputError, match=r"does not hold stories of Forager.*-O"):
        await out(store, path)
    assert path.read_bytes() == content.encode()


@pytest.mark.parametrize("suffix", LINES)
@pytest.mark.parametrize("count", [1, 3, 9], ids=["fewer", "as many", "more"])
async def test_a_file_of_another_crawl_is_refused_and_not_touched(tmp_path: Path, suffix: str, count: int) -> None:
    store, other, path = Store(), Store(), tmp_path / f"s.{suffix}"
    for _ in range(3):
        await tell_one(other, "Title", host="other.example")
    await out(other, path)
    before = path.read_bytes() + b"torn"
    path.write_bytes(before)
    await tell(store, count)
    with pytest.raises(OutputError, match="another crawl"):
        await out(store, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", LINES)
@pytest.mark.parametrize("mode", [Mode.REPLACE, Mode.REWRITE])
async def test_overwriting_begins_anew_whatever_was_there(tmp_path: Path, suffix: str, mode: Mode) -> None:
    store, path, whole = Store(), tmp_path / f"s.{suffix}", tmp_path / f"whole.{suffix}"
    await tell(store, 3)
    path.write_text("something else\n" * 1000)
    await out(store, path, mode)
    await out(store, whole)
    assert path.read_bytes() == whole.read_bytes()


async def test_a_parquet_file_cannot_be_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    await out(Store(), path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="cannot be appended to; overwrite it with -O"):
        await out(Store(), path)
    assert path.read_bytes() == before


async def test_a_feed_goes_on_but_other_xml_is_not_touched(tmp_path: Path) -> None:
    store, feed, other = Store(), tmp_path / "feed.xml", tmp_path / "other.xml"
    for _ in range(2):
        await tell(store, 1)
        await out(store, feed)
    assert feed.read_text(encoding="utf-8").count("<entry") == 2
    other.write_text("<note/>")
    with pytest.raises(OutputError, match="not a feed of Forager"):
        await out(store, other)
    assert other.read_text() == "<note/>"


async def test_a_line_longer_than_the_blocks_it_is_read_in_is_found(tmp_path: Path) -> None:
    store, path = Store(), tmp_path / "s.jsonl"
    await tell(store, 2, text="x" * 700_000)
    await out(store, path)
    path.write_bytes(path.read_bytes() + b'{"number": 2, "url": "' + b"y" * 500_000)
    await tell(store, 1)
    await out(store, path)
    assert numbers(path) == [0, 1, 2]


async def test_two_processes_do_not_write_the_same_file(tmp_path: Path) -> None:
    store, path = Store(), tmp_path / "s.jsonl"
    await tell(store, 1)
    script = (
        "import sys; from forager.output.writers import writer_for; from forager.output.outlet import Mode\n"
        "from forager.errors import OutputError\n"
        "try: writer_for(sys.argv[1], Mode.APPEND).open()\n"
        "except OutputError as error: print(error)"
    )
    async with Outlet(store, writer_for(path, Mode.APPEND), pytest.fail):
        said = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60)
    assert "another process writes it" in said.stdout
    assert numbers(path) == [0]


async def test_a_csv_file_that_was_gone_on_with_has_one_head(tmp_path: Path) -> None:
    store, path = Store(), tmp_path / "s.csv"
    for _ in range(3):
        await tell(store, 2)
        await out(store, path)
    with path.open(encoding="utf-8", newline="") as file:
        assert [one["number"] for one in csv.DictReader(file)] == ["0", "1", "2", "3", "4", "5"]
