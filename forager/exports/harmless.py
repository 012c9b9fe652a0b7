"""Text of pages made safe for what will read it: encoders, spreadsheets, XML parsers and terminals."""

import re

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_FORMULA = re.compile(  # after blanks and invisible marks, which some programs skip; ＝＋－＠ are the full-width forms
    "[\\s\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*[=+\\-@＝＋－＠]|[\t\r\n]"
)
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]")


def encodable(text: str) -> str:
    """With a replacement character for each half surrogate pair, which no encoding knows."""
    return text if text.isascii() else _HALF_PAIR.sub("\ufffd", text)


def without_controls(text: str) -> str:
    """Without the control characters that XML forbids or discourages; tabs and line ends stay."""
    return _CONTROL.sub("", text)


def defused(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe marks it as text."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def escaped(json: str) -> str:
    """The same JSON with escapes for characters that steer terminals, turn the line around or may end it."""
    return json if json.isascii() and "\x7f" not in json else _STEERING.sub(_escape, json)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
