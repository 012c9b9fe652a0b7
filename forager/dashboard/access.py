"""Who may come in, and what a browser may do with what it gets.

A page of the web cannot reach a dashboard on loopback by a name of its own that it points to 127.0.0.1 (DNS rebinding):
the Host header must name the dashboard. Away from loopback a token is needed instead.
"""

import hmac
import ipaddress

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from forager.dashboard.dashboard_settings import DashboardSettings
from forager.errors import SettingsError

COOKIE = "forager_token"
SHORTEST = 16

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Nothing inline, nothing from elsewhere, no HTML made from strings, nothing kept."""


def check_access(settings: DashboardSettings) -> None:
    """A SettingsError if it would be open to everybody."""
    if settings.token and len(settings.token) < SHORTEST:
        raise SettingsError(f"dashboard.token: at least {SHORTEST} characters, please; try `openssl rand -hex 16`")
    if not settings.token and not is_loopback(settings.host):
        raise SettingsError(
            f"dashboard.host: {settings.host} is not loopback, so others could look in; set dashboard.token as well"
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def doorkeeper(settings: DashboardSettings, names: set[str]) -> Middleware:
    """A middleware; `names` are the Host headers that mean us, filled in once the port is known."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = _refusal(request, settings, names)
        if refused is not None:
            refused.headers.update(HEADERS)
            return refused
        try:
            return await handler(request)
        except web.HTTPException as answer:
            return web.Response(status=answer.status, text=f"{answer.status} {answer.reason}\n", headers=HEADERS)

    return keep


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Every answer carries the rules."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.pop("Server", None)


def _refusal(request: web.Request, settings: DashboardSettings, names: set[str]) -> web.Response | None:
    if not settings.token:
        if request.headers.get("Host", "").lower() in names:
            return None
        return web.Response(status=421, text="421 This name does not mean the dashboard; use the printed address.\n")
    if request.path == "/healthz" or _shows(request, settings.token):
        return None
    if _same(request.query.get("token", ""), settings.token):
        entering = web.Response(status=303, headers={"Location": request.path})
        entering.set_cookie(COOKIE, settings.token, httponly=True, samesite="Strict", path="/")
        return entering
    return web.Response(status=401, text="401 Open the dashboard with ?token=… (see dashboard.token).\n")


def _shows(request: web.Request, token: str) -> bool:
    """The token in a cookie, or as `Authorization: Bearer …`."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return _same(request.cookies.get(COOKIE, ""), token) or (scheme.lower() == "bearer" and _same(given.strip(), token))


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
