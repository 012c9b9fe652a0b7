"""Encodings: which one is believed, and what happens when a label lies; and markup that is cheap to send and dear to read."""

import codecs

import pytest
from selectolax.lexbor import LexborHTMLParser

from forager.pages.markup import decode, to_utf8, within_depth

RUSSIAN = "Совет города решил построить новый мост через реку в следующем году, сообщает газета. "
GERMAN = "Der Bürgermeister sagte, daß die Brücke über den Fluß nächstes Jahr öffnet. "
JAPANESE = "市議会は来年、川に新しい橋を架けることを決定した。"
GREEK = "Το δημοτικό συμβούλιο αποφάσισε να κατασκευάσει νέα γέφυρα. "
SAMPLES = [
    (RUSSIAN, "cp1251", "windows-1251"),
    (RUSSIAN, "koi8-r", "KOI8-R"),
    (GERMAN, "cp1252", "latin1"),
    (GERMAN, "cp1252", '"ISO-8859-1"'),
    (GREEK, "iso8859-7", "iso-8859-7"),
    (JAPANESE, "cp932", "Shift_JIS"),
    (JAPANESE, "euc_jp", "euc-jp"),
    (JAPANESE, "iso2022_jp", "iso-2022-jp"),
    ("市议会决定明年在河上建一座新桥。", "gb18030", "gb2312"),
    ("시의회는 내년에 강에 새 다리를 건설하기로 결정했다. ", "cp949", "euc-kr"),
]


@pytest.mark.parametrize(("text", "codec", "label"), SAMPLES)
def test_the_label_of_the_header_is_believed(text: str, codec: str, label: str) -> None:
    assert decode(text.encode(codec), f"text/html; charset={label}") == text


@pytest.mark.parametrize(("text", "codec", "label"), SAMPLES)
def test_the_label_in_the_document_is_believed_when_the_header_is_silent(text: str, codec: str, label: str) -> None:
    label = label.strip('"')
    body = f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'.encode() + text.encode(codec)
    assert decode(body, "text/html").endswith(text)


@pytest.mark.parametrize(("text", "codec"), [sample[:2] for sample in SAMPLES if sample[1] != "iso2022_jp"])
def test_without_a_label_the_encoding_is_guessed(text: str, codec: str) -> None:
    assert decode(("<p>" + text * 3).encode(codec)) == "<p>" + text * 3


def test_a_byte_order_mark_wins_over_every_label() -> None:
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        assert decode(mark + RUSSIAN.encode(codec), "text/html; charset=windows-1251") == RUSSIAN


def test_markup_in_utf_16_without_a_mark_is_recognised() -> None:
    assert decode(f"<p>{RUSSIAN}".encode("utf-16-le")) == f"<p>{RUSSIAN}"
    assert decode(f"<p>{RUSSIAN}".encode("utf-16-be")) == f"<p>{RUSSIAN}"


def test_valid_utf_8_is_utf_8_whatever_the_header_says() -> None:
    assert decode(GERMAN.encode(), "text/html; charset=iso-8859-1") == GERMAN


def test_a_header_that_says_utf_8_of_other_bytes_gives_way_to_the_document() -> None:
    body = b'<meta charset="windows-1251">' + RUSSIAN.encode("cp1251")
    assert decode(body, "text/html; charset=utf-8").endswith(RUSSIAN)


def test_when_all_labels_lie_the_encoding_is_guessed() -> None:
    assert decode((RUSSIAN * 3).encode("cp1251"), "text/html; charset=utf-8") == RUSSIAN * 3


def test_one_bad_byte_does_not_spoil_a_utf_8_page() -> None:
    body = GERMAN.encode() + b"\xff" + GERMAN.encode()
    assert decode(body, "text/html; charset=utf-8") == f"{GERMAN}\ufffd{GERMAN}"


def test_a_character_cut_off_at_the_end_of_a_utf_8_page_is_replaced() -> None:
    assert decode("Brücken über Flüße ü".encode()[:-1]) == "Brücken über Flüße \ufffd"


@pytest.mark.parametrize("label", ["base64", "rot13", "zlib", "utf-7", "idna", "no-such-thing", "", "\x00"])
def test_a_label_that_names_no_encoding_of_the_web_is_ignored(label: str) -> None:
    assert decode(GERMAN.encode("cp1252") * 3, f"text/html; charset={label}").startswith("Der Bürgermeister")


def test_text_that_is_utf_8_already_is_handed_on_as_the_same_object() -> None:
    body = GERMAN.encode()
    assert to_utf8(body, "text/html; charset=latin1") is body
    assert to_utf8(codecs.BOM_UTF8 + body) == body
    assert to_utf8(RUSSIAN.encode("cp1251"), "charset=cp1251") == RUSSIAN.encode()


@pytest.mark.parametrize(
    "body", [b"", b"\x00", b"\xff", b"\xef\xbb", bytes(range(256)) * 20, b"\xff\xfe\x00", b"\x80" * 5000]
)
def test_any_bytes_become_some_text(body: bytes) -> None:
    assert isinstance(decode(body, "text/html; charset=shift_jis"), str)
    to_utf8(body).decode()


MANY = 200_000
HOSTILE = {
    "div": "<div>" * MANY,
    "div and back": "<div>" * MANY + "</div>" * MANY,
    "div with stray end tags": "<div></x>" * MANY,
    "div with an end tag in quotes": '<div title="</div>">' * MANY,
    "div with a bracket and an end tag in quotes": "<div title='></div>'>" * MANY,
    "div with an end tag in a script": "<div><SCRIPT></div></SCRIPT>" * MANY,
    "elements called after one without an end tag": "<linked>" * 4_000,
    "list": "<ul><li>" * MANY,
    "table": "<table><tr><td>" * MANY,
    "link in block": "<a href=x><div>" * MANY,
    "link": "<a href=x>" * MANY,
    "bold": "<b>" * MANY,
    "fonts in a small page": "<p>" + "".join(f"<font color={number}>" for number in range(1000)) + "<p>x" * 1000,
    "fonts and end tags that end nothing": "".join(f"<font color={n}></x>" for n in range(1000)) + "<p>x</y>" * 1000,
    "fonts in very few tags": "".join(f"<FONT\ncolor={number}>" for number in range(700)) + f"<p>{'x' * 20}" * 700,
    "attributes": "<a " + " ".join(f"a{number}=1" for number in range(MANY)) + ">",
    "attributes, never closed": "<a " + " ".join(f"a{number}" for number in range(MANY)),
    "attributes with brackets": "<a " + " ".join(f'a{number}=">"' for number in range(MANY)) + ">",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_cut_before_it_costs_much(name: str) -> None:
    body = b"<title>t</title>" + HOSTILE[name].encode()
    kept = within_depth(body, 512)
    assert body.startswith(kept)
    assert b"<title>t</title>" in kept
    assert len(kept) < 20_000
    LexborHTMLParser(kept)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<",
        b"<a",
        b"<div>" * 500 + b"</div>" * 500,
        b"<p>paragraph" * 20_000,
        b"<ul>" + b"<li>item" * 20_000,
        b"<div><span>never closed</div>" * 10_000,
        b"<p><b>never closed<p>" * 10_000,
        b"<div><img src=x><br></div>" * 10_000,
        b"<script>" + b"if (a<b) x = '<div>';" * 10_000 + b"</script><p>x",
        b"<!-- " + b"<div>" * 10_000 + b"--><p>x",
        b'<a href="' + b"x" * 1_000_000 + b'">t</a>',
        b"<p title=it's>don't</p>" * 10_000,
        b"".join(b"<i class=icon-%d></i><p>text" % number for number in range(1_000)),
    ],
)
def test_long_but_honest_markup_is_handed_on_whole(body: bytes) -> None:
    assert within_depth(body, 512) == body


def test_a_page_is_cut_where_it_goes_too_deep() -> None:
    deep = b"<div>" * 5001
    assert within_depth(b"<p>kept</p>" + deep, 100) == b"<p>kept</p>" + b"<div>" * 100
