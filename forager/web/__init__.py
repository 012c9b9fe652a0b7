"""Asks the web, politely: each file wraps one rule round fetching, from the wire outwards.

Invariant: every request ends in a `Response`, in bounded time, memory and bytes, whatever a server does.

web            the protocol of all webs, and what headers and statuses mean
live           one GET over aiohttp
guard          only public addresses are connected to
inflate        Content-Encoding undone while the body arrives, within a limit
recording      every exchange handed to a recorder
timetable      when each host may be visited: decides, never waits
polite         waits for the turn that the timetable gives
robots         robots.txt: fetched, obeyed, explained
redirects      redirects followed hop by hop
retries        what may go well the second time is asked again
web_settings   the settings of all these, and of politeness
"""
