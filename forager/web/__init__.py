"""Fetches pages politely: each file adds one rule around fetching, from the wire outwards.

Invariant: every request ends in a `Response`, in bounded time, memory and bytes, whatever a server does.

web            the protocol of all webs, and the meaning of headers and statuses
live           one GET over aiohttp, to public addresses only
inflate        undoes Content-Encoding while the body arrives, within a limit
timetable      decides when each host may be visited; never waits
polite         waits until the timetable allows a visit, repeats what may succeed, follows redirects
robots         fetches, obeys and explains robots.txt
web_settings   the settings of all these, and of recordings
"""
