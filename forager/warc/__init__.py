"""Keeps exchanges with the web as WARC files, and answers from such files, our own or those of other tools.

Invariant: what is recorded replays as the same `Response`; a broken record is named, and reading goes on behind it.

writer               the files of a recording: written, closed with an index, mended after a sudden end
recorder             the writer beside the event loop
exchange             an exchange as records, each body once
records              HTTP messages as WARC blocks, and back
index                the index beside a file, and its sortable keys
stream               a file as bytes after decompression
reader               the records of a file, whoever wrote it
captures             records as requests and responses, with bodies decoded
replay_web           a web that answers from recordings, as of its clock
wacz                 recordings packed as WACZ, and unpacked
recording_settings   the settings of a recording
"""
