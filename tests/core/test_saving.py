"""What learns is saved as named arrays: they come back as they were, and nothing else is taken for them."""

import io

import numpy as np
import pytest
import zstandard

from forager.core.packed import pack, unpack
from forager.core.page_row import PAGE
from forager.core.page_table import PageTable, _in_form
from forager.core.parameters import ExpectationSettings
from forager.errors import InputError
from forager.terms import UrlId

ARRAYS = {
    "numbers": np.arange(5, dtype=np.int32),
    "table": np.zeros(3, dtype=PAGE),
    "wide": np.arange(12.0).reshape(3, 4)[:, 1:3],  # not in one piece
    "none": np.empty((0, 7)),
    "one": np.array(2.5),
    "flags": np.array([True, False, True]),
}


def test_a_row_of_the_page_table_has_no_bytes_that_no_column_owns() -> None:
    assert PAGE.itemsize == sum(PAGE[name].itemsize for name in PAGE.names or ())


def test_arrays_come_back_as_they_were_and_can_be_changed() -> None:
    held = unpack("weights", 2, pack("weights", 2, ARRAYS))
    assert list(held) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert held[name].dtype == array.dtype
        assert held[name].shape == array.shape
        np.testing.assert_array_equal(held[name], array)
        assert held[name].flags.writeable
        assert held[name].flags.aligned
    held["numbers"][0] = 7  # changes no other
    np.testing.assert_array_equal(held["wide"], ARRAYS["wide"])


@pytest.mark.parametrize("packed", [False, True])
def test_what_an_earlier_version_saved_can_be_read(packed: bool) -> None:
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, kind=np.array("weights"), form=np.array(2), **ARRAYS)
    saved = zstandard.compress(out.getvalue()) if packed else out.getvalue()
    held = unpack("weights", 2, saved)
    assert list(held) == list(ARRAYS)
    np.testing.assert_array_equal(held["wide"], ARRAYS["wide"])


def test_another_kind_or_form_is_refused() -> None:
    saved = pack("weights", 2, ARRAYS)
    with pytest.raises(InputError, match="expected saved words of format 2, got weights of format 2"):
        unpack("words", 2, saved)
    with pytest.raises(InputError, match="expected saved weights of format 3, got weights of format 2"):
        unpack("weights", 3, saved)


WHOLE = zstandard.decompress(pack("weights", 2, ARRAYS))


@pytest.mark.parametrize(
    "saved",
    [
        b"",
        b"nothing of ours",
        b"PK nothing of ours",
        pack("weights", 2, ARRAYS)[:-9],
        zstandard.compress(b""),
        zstandard.compress(b"no head\n"),
        zstandard.compress(WHOLE[:-32]),
        zstandard.compress(WHOLE.replace(b'"<i4"', b'"|O8"', 1)),
        zstandard.compress(WHOLE.replace(b"[5]", b"[-]", 1)),
    ],
)
def test_anything_else_is_one_line(saved: bytes) -> None:
    with pytest.raises(InputError, match="saved weights cannot be read"):
        unpack("weights", 2, saved)


def test_links_of_a_text_that_becomes_a_list_are_links_of_a_list_from_then_on_and_when_loaded_without_that() -> None:
    visits = PageTable(ExpectationSettings())
    visits.record(UrlId(1), 10.0, links=np.array([2, 3]))
    visits.record(UrlId(4), 20.0, hub=True, links=np.array([3, 5]))
    assert visits._table["from_list"][:6].tolist() == [False, False, False, False, False, True]
    visits.record(UrlId(1), 30.0, hub=True)
    assert visits._table["from_list"][:6].tolist() == [False, False, True, True, False, True]
    older = visits._table[[name for name in PAGE.names or () if name != "from_list"]]
    assert (_in_form(older)["from_list"] == visits._table["from_list"]).all()
