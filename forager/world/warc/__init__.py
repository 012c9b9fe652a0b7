"""Recordings as WARC 1.1: write them, read anyone's, replay the bytes.

settings    every knob
fields      the header lines of WARC and HTTP, and WARC dates; `messages` HTTP requests and answers as bytes and back
composing   an exchange as WARC records; `payloads` remembers which bodies were written already
writer      files: rotation, names, index; `mending` mends what a killed crawl left; `recorder` keeps the loop free
surts       sortable URL keys; `cdxj` the index that other tools read
members     gzip, zstd and plain files as bytes whose places are known; `reading` the records in them, broken ones named
capturing   records as requests and responses: our own exactly, those of other tools decoded
web         WarcWeb: a web that answers from recordings as of its clock
wacz        pack recordings into a WACZ, and unpack one safely
"""

from forager.world.warc.capturing import Capture, captures
from forager.world.warc.mending import repair
from forager.world.warc.reading import Broken, Record, records
from forager.world.warc.recorder import BackgroundRecorder, InlineRecorder
from forager.world.warc.settings import RecordingSettings
from forager.world.warc.wacz import PageEntry, pack, unpack
from forager.world.warc.web import WarcWeb
from forager.world.warc.writer import WarcWriter, warcs_in

__all__ = [
    "BackgroundRecorder",
    "Broken",
    "Capture",
    "InlineRecorder",
    "PageEntry",
    "Record",
    "RecordingSettings",
    "WarcWeb",
    "WarcWriter",
    "captures",
    "pack",
    "records",
    "repair",
    "unpack",
    "warcs_in",
]
