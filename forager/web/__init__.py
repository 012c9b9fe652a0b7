"""Fetches pages politely: each file adds one rule around fetching, from the wire outwards.

Invariant: every request ends in a `Response`, in bounded time, memory and bytes, whatever a server does.

web            the protocol of all webs, and the meaning of headers and statuses
live           one GET over aiohttp
guard          allows connections to public addresses only
inflate        undoes Content-Encoding while the body arrives, within a limit
recording      passes every exchange to a recorder
timetable      decides when each host may be visited; never waits
polite         waits until the timetable allows a visit
robots         fetches, obeys and explains robots.txt
redirects      follows redirects hop by hop
retries        repeats requests that may succeed the second time
web_settings   the settings of all these, and of politeness
"""
