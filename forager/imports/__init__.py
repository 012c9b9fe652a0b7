"""Recordings of others become tapes: capture indexes, TimeMaps, change logs, tables, archives and runs.

opening     files, folders and standard input, unpacked on the fly; `lines` cuts them into blocks of whole lines
sniffing    which format it is, by content
cdx  cdxj  timemaps  change_logs   one format each: bytes -> captures, as columns
csv_tables  CSV in batches
times       moments as these formats write them; `tally` counts what was broken or left out
captures    captures -> tape
files       many files of any format -> tape; `tables` a folder of tables -> tape (`stays` links that stood for a while)
from_run  from_warc   recordings that know links and texts -> tape
"""
