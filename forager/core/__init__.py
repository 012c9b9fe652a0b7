"""The decisions of a crawl without waiting: bundles of arrays, and functions over them for live crawls and replays alike.

page_table     what all visits showed of each page: the one owner of these arrays
updates        kernels that record a visit, its links and what it revealed

Invariant: nothing here waits, reads a clock or draws chance; time and chance are passed in.
"""
