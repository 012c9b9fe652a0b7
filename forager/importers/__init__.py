"""Turns recordings, archives and tables of other tools into tapes, change logs and link graphs.

Invariant: formats are told by content, memory stays bounded, and a broken record is counted and named, never fatal.

streams       files, folders and standard input as unpacked bytes and lines; what was unusable
formats       which format a stream is in
files         many files become one tape, or the histories of pages
captures      captures as columns, what is kept of a page, and how they become versions
warcs         WARC and WACZ
cdx           CDX and CDXJ
timemaps      Memento TimeMaps
change_logs   rows of url, time, and changed or digest
tables        a folder of tables becomes a tape
table_files   the files of one table, as Parquet or CSV
stays         links that stood for a while become link sets
values        columns of text, each different value looked at once
times         columns of moments, as UTC seconds
identity      which documents a recording shows: what makes one new, and how old each is
states        states for the versions of a tape
runs          a run directory becomes a tape
tape_logs     the change log of a tape
log_tables    change logs and discovery logs in tables, and their cycles
log_files     the change log of whatever lies at a path
edge_files    the files about a link graph
texts         texts that the operator has on disk
"""
