"""Records exchanges with the web as WARC files, and answers from such files, our own or those of other tools.

Invariant: a recording replays as the same `Response`; a broken record is reported, and reading continues after it.

writer       writes the files of a recording, closes them with an index, repairs them after a crash
recorder     a web that records what passes, beside the event loop
exchange     an exchange as records, each body written once
records      HTTP messages as WARC blocks, and back
index        the index beside a file, and its sortable keys
stream       reads a file as decompressed bytes
reader       reads the records of a file, whoever wrote it
captures     records as requests and responses, with bodies decoded
replay_web   a web that answers from recordings, as of its clock
wacz         packs recordings as WACZ, and unpacks them
"""
