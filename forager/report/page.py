"""The look that reports share: one HTML file that needs no network and no script."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, parts: Iterable[str]) -> str:
    """The file; the title is plain text, the parts are markup already."""
    name = escape(title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<style>{STYLE}</style></head><body><main><h1>{name}</h1>{''.join(parts)}</main></body></html>\n"
    )


def tiles(shown: Iterable[tuple[str, str, str]]) -> str:
    """Large figures: name, value and a note, all markup already."""
    drawn = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd><dd class=note>{note}</dd></div>" for name, value, note in shown
    )
    return f"<dl class=tiles>{drawn}</dl>"


def section(title: str, note: str, content: str) -> str:
    """A sheet of the page; the content is markup already."""
    return f"<section><h2>{title}</h2>{f'<p class=note>{note}</p>' if note else ''}{content}</section>"


def pair(one: str, other: str) -> str:
    """Two sheets side by side, one below the other where there is no room."""
    return f"<div class=pair>{one}{other}</div>"


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int]) -> str:
    """Cells are markup already; columns not in `text` hold numbers."""
    kinds = ["" if place in text else " class=number" for place in range(len(heads))]
    head = "".join(f"<th scope=col{kind}>{name}</th>" for name, kind in zip(heads, kinds, strict=True))
    lines = (
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<div class=scroll><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
