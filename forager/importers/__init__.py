"""Turns recordings, archives and tables of other tools into tapes, change logs and link graphs.

Invariant: formats are told by content, memory stays bounded, and a broken record is counted and named, never fatal.

streams       files, folders and standard input as unpacked bytes and lines; what was unusable
files         many files, whatever their format, become one tape, or the histories of pages
captures      captures as columns, what is kept of a page, its state, and how they become versions
warcs         WARC and WACZ
indexes       CDX, CDXJ and Memento TimeMaps
tables        a folder of tables becomes a tape; links that stood for a while become link sets
columns       tables in batches of columns; columns of text and of moments, each different value looked at once
identity      which documents a recording shows: what makes one new, and how old each is
runs          a run directory becomes a tape
tape_logs     the change log of a tape, and the cycles of any log
log_files     the change log of whatever lies at a path; change logs and discovery logs in tables
edge_files    the files about a link graph
texts         texts that the operator has on disk
"""
