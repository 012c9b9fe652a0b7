"""One spelling for each URL: the canonical form, and quick joining of the hrefs of a page.

Parsing and joining follow the WHATWG URL standard (the ada parser). On top of it, so that one page has one URL:

- the fragment is dropped (also `#!`), and so are user name and password;
- percent-encoding is normalised: unreserved characters are decoded, hex digits upper case, a stray `%` becomes `%25`;
- parameters that only track visitors or carry a session are removed, the others are sorted by name (the order of
  repeated names is kept), and an empty query goes;
- a trailing dot of the host name is removed.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import unquote

import can_ada
from publicsuffixlist import PSLFILE, PublicSuffixList

from forager.terms import Url

LONGEST = 2_000  # characters; longer URLs are refused (ours: above it are traps and tokens)

_READY = re.compile(  # what a parser would leave as it is, but for the query: (origin, if it has one) (path) (query)
    r"(https?://(?:[a-z0-9-]+\.)+[a-z]{2,}(?=/)|(?=/(?!/)))([A-Za-z0-9._~!$'()*+,:@/=&-]*+)"
    r"(?:\?([A-Za-z0-9._~!$()*+,:@/=&;-]*+))?(?:#.*)?"
)
_ORIGIN = re.compile(r"https?://[^/?#\\]+(?=/)")
_PARTS = re.compile(r"(https?://)([^/?]*)([^?]*)\??(.*)")
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[^\[\].:]+(?:\.[^\[\].:]+)*)(?::[0-9]+)?")
_PERCENT = re.compile("%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;]*", re.IGNORECASE)
_SESSION_VALUE = re.compile(r"[A-Za-z0-9,-]{16,}")
_NOISE_NAMES = """
    jsessionid phpsessid phpsessionid sessionid session_id sessid aspsessionid asp.net_sessionid cfid cftoken

    fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid ysclid twclid ttclid li_fat_id igshid igsh mc_cid mc_eid
    mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking _ga _gl _openstat vero_id vero_conv oly_anon_id oly_enc_id
    wickedid rb_clickid s_cid cmpid cmp icid ncid ocid smid smtyp xtor wt_mc wt_zmc wt.mc_id ns_campaign ns_mchannel
    ns_source ns_linkname ns_fee at_campaign at_medium at_link_id at_link_type at_link_origin at_format at_ptr_name
    at_bbc_team at_campaign_type ref_src ref_url __twitter_impression guccounter guce_referrer guce_referrer_sig
    trk trkcampaign
"""
_NOISE = frozenset(_NOISE_NAMES.split())
_NOISE_PREFIXES = ("utm_", "pk_", "mtm_", "matomo_", "piwik_", "hsa_")
_UNKNOWN = Url("")  # what a memo gives for an href that it does not know
_WORD = re.compile(r"[^\W\d_]{2,}")
_EXTENSION = re.compile(r"\.[a-z]{2,5}$", re.IGNORECASE)


def canonical(url: str, base: str | None = None) -> Url | None:
    """The canonical form of a URL, resolved against `base` if given; None if it is no usable http(s) URL."""
    return _plain(url, "") or _resolve(url, base)


def host(url: Url) -> str:
    """The host as it stands in the URL, with its port if it has one."""
    return url.split("/", 3)[2]


def path(url: Url) -> str:
    """What follows the host, without the query; it begins with a slash."""
    return "/" + url.split("/", 3)[3].partition("?")[0]


def site(url: Url) -> str:
    """The registrable domain; hosts without one (IP addresses, localhost) as they are, with port."""
    return _site(host(url))


def url_words(url: Url) -> list[str]:
    """The words in the path, in lower case: all that is known of a page that was never visited."""
    return _WORD.findall(_EXTENSION.sub("", unquote(path(url))).lower())


class UrlMemo:
    """Remembers the canonical forms of hrefs, for many pages; when it is full it forgets everything."""

    def __init__(self, size: int = 100_000) -> None:
        self.size = size
        self.entries = 0
        self._origins: dict[str, dict[str, Url | None]] = {}

    def of(self, origin: str) -> dict[str, Url | None]:
        """What is known of the hrefs on pages of an origin."""
        known = self._origins.get(origin)
        if known is None:
            self.make_room()
            known = self._origins[origin] = {}
        return known

    def make_room(self) -> None:
        """Count a new entry; forget all if there are too many."""
        self.entries += 1
        if self.entries > self.size:
            for known in self._origins.values():
                known.clear()
            self._origins.clear()
            self.entries = 1

    def __repr__(self) -> str:
        return f"<UrlMemo {self.entries} of {self.size} hrefs, {len(self._origins)} origins>"


class Joiner:
    """Joins the hrefs of one page to its base URL.

    An href that starts with a slash or with `http://` or `https://` means the same on every page of an origin, so these
    are shared through the memo. All others are joined each time.
    """

    def __init__(self, base: str, memo: UrlMemo | None = None) -> None:
        self._memo = memo if memo is not None else UrlMemo()
        self._base = base if _parsed(base) is not None else None
        origin = _ORIGIN.match(base)
        self._known = self._memo.of(base if origin is None else origin[0])
        self.recall = self._known.get
        """What is known of an href that means the same on all pages of the origin; the quickest way to ask."""
        ready = _READY.fullmatch(base)
        self._origin = ready[1] if ready is not None and "xn--" not in ready[1] else ""
        """The origin of the base, if it is plain; hrefs that are plain as well need no parser."""

    def join(self, href: str) -> Url | None:
        """The canonical URL the href points to; None if it is no usable http(s) URL."""
        known = self._known.get(href, _UNKNOWN)
        if known is not _UNKNOWN:
            return known
        joined = (self._origin and _plain(href, self._origin)) or _resolve(href, self._base)
        if len(href) <= LONGEST and self._base is not None and href.startswith(("/", "http://", "https://")):
            self._memo.make_room()
            self._known[href] = joined
        return joined


def _plain(href: str, origin: str) -> Url | None:
    """The canonical URL of an href that needs no repair outside its query; twice as fast as a parser."""
    ready = _READY.fullmatch(href) if len(href) < LONGEST // 2 else None
    if ready is None:
        return None
    own, path, query = ready.groups()
    if "/." in path or "xn--" in own or not (own or origin):
        return None
    plain = (own or origin) + path
    kept = _kept(query) if query else ""
    return Url(f"{plain}?{kept}" if kept else plain)


def _parsed(url: str) -> can_ada.URL | None:
    try:
        return can_ada.parse(url)
    except (ValueError, TypeError):  # TypeError: the text holds half a surrogate pair
        return None


def _resolve(raw: str, base: str | None) -> Url | None:
    """What a parser makes of it. No object of the parser outlives the call: its library complains of those at exit."""
    if len(raw) > LONGEST:
        return None
    start = None if base is None else _parsed(base)
    try:
        parsed = can_ada.parse(raw) if start is None else start + raw
    except (ValueError, TypeError):
        return None
    if parsed.has_credentials():
        parsed.username = parsed.password = ""
    tidy = _tidy(parsed.href)
    return Url(tidy) if tidy and len(tidy) <= LONGEST else None


def _tidy(href: str) -> str:
    """What the standard leaves undone; empty if this is not http(s) or the host cannot exist."""
    parts = _PARTS.fullmatch(href.partition("#")[0])
    if parts is None:
        return ""
    scheme, netloc, path, query = parts.groups()
    name, colon, port = netloc.partition(":") if not netloc.startswith("[") else (netloc, "", "")
    netloc = name.removesuffix(".") + colon + port
    if not _HOST.fullmatch(netloc):
        return ""
    if "%" in path:
        path = _PERCENT.sub(_unescaped, path)
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
        if "/." in path:  # what is left may be a dot segment now
            path = can_ada.parse(f"http://x{path}").pathname
    if query:
        query = _kept(_PERCENT.sub(_unescaped, query))
    return f"{scheme}{netloc}{path}?{query}" if query else f"{scheme}{netloc}{path}"


def _unescaped(escape: re.Match[str]) -> str:
    digits = escape[1]
    if digits is None:
        return "%25"
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else "%" + digits.upper()


def _kept(query: str) -> str:
    fields = [field for field in query.split("&") if field and not _is_noise(field)]
    if len(fields) > 1:
        fields.sort(key=_name)
    return "&".join(fields)


def _name(field: str) -> str:
    return field.partition("=")[0]


def _is_noise(field: str) -> bool:
    name, _, value = field.partition("=")
    name = name.lower()
    if name == "sid":  # a story on some sites, a session on others: only a long token is a session
        return _SESSION_VALUE.fullmatch(value) is not None
    return name in _NOISE or name.startswith(_NOISE_PREFIXES)


@lru_cache(maxsize=50_000)
def _site(netloc: str) -> str:
    return _suffixes().privatesuffix(netloc.partition(":")[0]) or netloc


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList(_ascii_rules(), accept_unknown=False, accept_encoded_idn=False)


def _ascii_rules() -> Iterator[str]:
    """The rules for public suffixes as they appear in canonical URLs; three times as fast as the library encodes them."""
    for line in Path(PSLFILE).read_text("utf-8").splitlines():
        if not line.startswith("//"):
            yield line if line.isascii() else can_ada.idna_encode(line.split()[0]).decode()
