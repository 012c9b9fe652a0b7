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
