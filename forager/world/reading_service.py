"""What a process that reads pages does: it answers one page after the other until nobody asks any more.

A page that takes longer than it may ends the process: no parser written in C could be told otherwise.
"""

import signal
import socket

import msgspec

from forager.pages.facts import facts_of
from forager.pages.prints import simhash
from forager.pages.reader import read
from forager.pages.settings import PagesSettings
from forager.pages.urls import UrlMemo
from forager.terms import Outcome, Response, Url
from forager.world.reading import LENGTH, LENGTHS, Job


def serve(handle: int, seconds: float, settings: str) -> None:
    """Read pages that come over a socket, each within some seconds, by settings as JSON."""
    wanted = msgspec.json.decode(settings, type=PagesSettings)
    memo, jobs = UrlMemo(), msgspec.msgpack.Decoder(Job)
    told: set[Url] = set()
    with socket.socket(fileno=handle) as connection, connection.makefile("rb") as asked:
        simhash("load what is compiled")
        connection.sendall(LENGTH.pack(0))  # ready
        while head := asked.read(LENGTHS.size):
            job, body = [asked.read(length) for length in LENGTHS.unpack(head)]
            signal.setitimer(signal.ITIMER_REAL, seconds)  # what it does by default is to end the process
            answer = _answer(jobs.decode(job), body, memo, told, wanted)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.sendall(LENGTH.pack(len(answer)) + answer)


def _answer(job: Job, body: bytes, memo: UrlMemo, told: set[Url], settings: PagesSettings) -> bytes:
    """The facts; nothing if they cannot be told in UTF-8: the crawl reads the page itself then."""
    response = Response(job.url, Outcome.FETCHED, job.asked, status=200, headers=job.headers, body=body)
    try:
        return msgspec.msgpack.encode(facts_of(read(response, memo=memo, settings=settings), told))
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(None)
