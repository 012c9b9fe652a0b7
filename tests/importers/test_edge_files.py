import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

from forager.errors import InputError
from forager.importers.edge_files import read_edges, read_impacts, read_overlap, read_pages

LINKS = [(0, 1), (0, 2), (1, 2), (2, 2), (0, 1)]
URLS = [(f"https://a.example/{source}", f"https://a.example/{target}") for source, target in LINKS]


def text(pairs, delimiter=",", header=True) -> str:
    rows = [("source", "target")] * header + [tuple(map(str, pair)) for pair in pairs]
    return "".join(delimiter.join(row) + "\n" for row in rows)


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    data = content.encode()
    if name.endswith(".gz"):
        data = gzip.compress(data)
    elif name.endswith(".zst"):
        data = zstandard.compress(data)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz", "e.csv.zst"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("pairs", [LINKS, URLS])
def test_edges_are_read_plain_and_compressed_with_numbers_or_urls(tmp_path, name, header, pairs):
    edges = read_edges(write(tmp_path, name, text(pairs, header=header)))
    graph = edges.growing.graph()
    assert (graph.links, edges.rows, graph.size) == (3, 5, 3)
    assert edges.name(int(graph.out.indices[graph.out.indptr[0]])) == str(pairs[0][1])


def test_tabs_spaces_and_leading_comments_are_understood(tmp_path):
    tabs = read_edges(write(tmp_path, "e.tsv", "# Nodes: 3\n# From To\n" + text(LINKS, "\t", header=False)))
    spaces = read_edges(write(tmp_path, "e.txt", text(LINKS, " ", header=False)))
    assert tabs.growing.graph().links == spaces.growing.graph().links == 3


@pytest.mark.parametrize("pairs", [LINKS, URLS])
def test_parquet_is_read_by_column_name(tmp_path, pairs):
    sources, targets = zip(*pairs, strict=True)
    pa.parquet.write_table(pa.table({"weight": [1] * 5, "target": targets, "source": sources}), tmp_path / "e.parquet")
    graph = read_edges(tmp_path / "e.parquet").growing.graph()
    assert (graph.links, graph.out_degree.tolist()) == (3, [2, 1, 0])


def test_page_numbers_far_apart_are_numbered_anew(tmp_path):
    edges = read_edges(write(tmp_path, "e.csv", "source,target\n7000000000000,3\n3,1900000000\n"))
    assert edges.growing.graph().pages == 3
    assert [edges.name(page) for page in range(3)] == ["7000000000000", "3", "1900000000"]


def test_columns_may_stand_anywhere_and_be_called_from_and_to(tmp_path):
    edges = read_edges(write(tmp_path, "e.csv", "weight,To,From\n1,4,0\n1,5,0\n"))
    out = edges.growing.graph().out
    assert out.indices[out.indptr[0] : out.indptr[1]].tolist() == [4, 5]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("source,target\n", "no links"),
        ("page,rank\n1,2\n", "needs the columns source and target"),
        ("source,target\n1,2\nx,3\n", "cannot be read"),
        ("source,target\n1,2\n3\n", "cannot be read"),
        ("source,target\n1,2\n,3\n", "a row has no source"),
        ("source,target\n1,2\n-1,3\n", "negative"),
    ],
)
def test_a_wrong_edge_list_is_one_line_that_names_the_file(tmp_path, content, complaint):
    path = write(tmp_path, "wrong.csv", content)
    with pytest.raises(InputError, match=complaint) as caught:
        read_edges(path)
    assert "wrong.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_a_foreign_and_a_cut_off_file_are_input_errors(tmp_path):
    rows = np.random.default_rng(0).integers(0, 10**6, (200_000, 2)).tolist()
    cut = write(tmp_path, "cut.csv.gz", text(rows))
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    cut_zst = write(tmp_path, "cut.csv.zst", text(rows))
    cut_zst.write_bytes(cut_zst.read_bytes()[: cut_zst.stat().st_size // 2])
    (tmp_path / "not.parquet").write_text("source,target\n")
    (tmp_path / "not.csv.gz").write_text("source,target\n1,2\n")
    for name in ("missing.csv", "cut.csv.gz", "cut.csv.zst", "not.parquet", "not.csv.gz"):
        with pytest.raises(InputError, match=name):
            read_edges(tmp_path / name)


def test_impact_rows_of_one_page_add_up_and_unknown_pages_are_left_out(tmp_path):
    edges = read_edges(write(tmp_path, "e.csv", text(URLS)))
    rows = "url,clicks,views\nhttps://a.example/2,1,10\nhttps://a.example/2,2,5\nhttps://b.example/,9,9\n"
    impacts = read_impacts(write(tmp_path, "i.csv", rows), edges, 3)
    assert list(impacts.kinds) == ["clicks", "views"]
    assert impacts.kinds["clicks"].tolist() == [0, 0, 3]
    assert impacts.kinds["views"].tolist() == [0, 0, 15]
    assert impacts.named.tolist() == [2]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("id,weight\n1,2\n", "no column impact or clicks or views"),
        ("impact\n1\n", "no column url or id"),
        ("id,impact\n1,much\n", "cannot be read"),
        ("id,impact\n1,-2\n", "from 0 up"),
        ("id,impact\n1,nan\n", "from 0 up|has no impact"),
        ("id,impact\n1,\n", "a row has no impact"),
        ("id,impact\n77,1\n", "none of its pages"),
    ],
)
def test_a_wrong_impact_file_is_one_line_that_names_the_file(tmp_path, content, complaint):
    edges = read_edges(write(tmp_path, "e.csv", text(LINKS)))
    with pytest.raises(InputError, match=complaint):
        read_impacts(write(tmp_path, "i.csv", content), edges, 3)


def test_overlap_is_read_from_anchors_and_counted_queries(tmp_path):
    edges = read_edges(write(tmp_path, "e.csv", text(LINKS)))
    anchors = write(tmp_path, "a.csv", 'source,target,anchor\n0,1,"Storm, Berlin"\n0,2,news\n9,99,storm\n')
    queries = write(tmp_path, "q.csv", "query,count\nstorm berlin,4\nnews,1\n")
    assert read_overlap(anchors, queries, edges, 3).ranking(3).scores.tolist() == [0.0, 4.0, 1.0]


def test_commas_quotes_byte_order_marks_and_windows_line_ends_are_understood(tmp_path):
    rows = '\ufeff"source","target"\r\n"https://a.example/?q=1,2","https://a.example/b"\r\n'
    edges = read_edges(write(tmp_path, "e.csv", rows))
    assert [edges.name(page) for page in range(2)] == ["https://a.example/?q=1,2", "https://a.example/b"]
    listed = write(tmp_path, "f.csv", "url\nhttps://a.example/?q=1,2\n")
    assert read_pages(listed, edges, 2).tolist() == [0]


def test_listed_pages_are_found_once_each(tmp_path):
    edges = read_edges(write(tmp_path, "e.csv", text(LINKS)))
    assert read_pages(write(tmp_path, "f.csv", "id\n2\n1\n2\n50\n"), edges, 3).tolist() == [1, 2]
