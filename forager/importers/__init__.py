"""Turns recordings, archives and tables of other tools into tapes, change logs and link graphs.

Invariant: the content decides the format, memory stays bounded, and a broken record is counted and named, never fatal.

streams         files, folders and standard input as unpacked bytes and lines; what was unusable
files           many files of any format become one tape, or the histories of pages
collector       captures as columns, what is kept of a page, its state, and how captures become versions
warcs           WARC and WACZ
indexes         CDX, CDXJ and Memento TimeMaps
tables          a folder of tables becomes a tape; links that stood for a while become link sets
table_columns   tables in batches of columns; columns of text and of times, each different value read once
identity        which documents a recording shows: what makes one new, and how old each is
runs            a run directory becomes a tape
tape_logs       the change log of a tape, and the cycles of any log
log_files       the change log of whatever is at a path; change logs and discovery logs in tables
edge_files      the files about a link graph
texts           texts that the operator has on disk
"""
