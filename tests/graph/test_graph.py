import numpy as np

from forager.graph.graph import UNKNOWN, EdgeList, Graph, GrowingGraph, Names


def graph_of(*links: tuple[int, int]) -> Graph:
    growing = GrowingGraph()
    sources, targets = zip(*links, strict=True)
    growing.add_links(np.array(sources, dtype=np.int32), np.array(targets, dtype=np.int32))
    return growing.graph()


def test_repeated_links_and_links_of_a_page_to_itself_are_dropped():
    graph = graph_of((0, 2), (1, 2), (0, 2), (0, 0), (1, 0), (1, 2))
    assert graph.links == 3
    assert graph.into.row(2).tolist() == [0, 1]
    assert graph.into.row(0).tolist() == [1]
    assert graph.out.row(1).tolist() == [0, 2]


def test_the_frontier_is_what_downloaded_pages_link_to_and_was_not_downloaded():
    graph = graph_of((0, 1), (0, 5), (1, 5), (1, 3))
    assert graph.frontier.tolist() == [3, 5]
    assert graph.size == 4  # 2 and 4 are numbers without a page
    assert repr(graph) == "<Graph 2 downloaded, 2 frontier, 4 links>"


def test_a_downloaded_page_without_links_is_not_in_the_frontier():
    growing = GrowingGraph()
    growing.add_page(0, [1, 2])
    growing.add_page(1, [])
    assert growing.graph().frontier.tolist() == [2]
    assert growing.graph().out_degree.tolist() == [2, 0, 0]


def test_a_page_that_only_links_to_itself_is_known_and_has_no_links():
    graph = graph_of((3, 3))
    assert graph.links == 0
    assert graph.size == 1


def test_an_empty_graph_has_no_pages():
    graph = GrowingGraph().graph()
    assert (graph.pages, graph.links, graph.frontier.size, graph.size) == (0, 0, 0, 0)


def test_links_seen_at_a_second_visit_are_added_to_those_of_the_first():
    growing = GrowingGraph()
    growing.add_page(0, [1, 2])
    growing.graph()
    growing.add_page(0, [2, 3])
    assert growing.graph().out.row(0).tolist() == [1, 2, 3]


def test_the_graph_is_packed_again_only_when_something_was_added():
    growing = GrowingGraph()
    growing.add_page(0, [1])
    first = growing.graph()
    assert growing.graph() is first
    growing.add_page(1, [0])
    assert growing.graph() is not first
    assert first.links == 1  # a graph handed out never changes


def test_a_page_downloaded_without_new_links_leaves_the_frontier():
    growing = GrowingGraph()
    growing.add_page(0, [1])
    assert growing.graph().frontier.tolist() == [1]
    growing.add_page(1, [])
    assert growing.graph().frontier.tolist() == []


def test_hidden_pages_lose_their_links_and_fall_back_to_the_frontier():
    graph = graph_of((0, 1), (1, 2), (2, 0), (1, 3)).without(np.array([1]))
    assert graph.frontier.tolist() == [1]
    assert graph.links == 2
    assert not graph.downloaded[3]
    assert graph.size == 3  # 3 was known from 1 alone


def test_names_are_numbered_as_they_come_and_found_again():
    names = Names()
    assert names.number(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert names.find(["a", "c"]).tolist() == [1, UNKNOWN]
    assert (names.name(0), len(names)) == ("b", 2)


def test_an_edge_list_counts_every_row_but_links_only_once():
    edges = EdgeList(None)
    pair = np.array([0, 0], dtype=np.int32), np.array([1, 1], dtype=np.int32)
    edges.add(*pair)
    edges.add(*pair)
    assert (edges.rows, edges.growing.graph().links, edges.name(1)) == (4, 1, "1")
