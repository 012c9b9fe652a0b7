"""Tables of figures that fit into 80 columns: no frame, and no figure ever cut or broken."""

from collections.abc import Sequence

from rich import box
from rich.table import Table


def narrow_table(title: str, caption: str, headings: Sequence[str]) -> Table:
    """An empty table; its first column may break, and all others hold figures."""
    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(headings):
        if place:
            table.add_column(heading, justify="right", no_wrap=True)
        else:
            table.add_column(heading, overflow="fold")
    return table
