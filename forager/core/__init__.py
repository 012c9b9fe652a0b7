"""The decisions of a crawl without waiting: bundles of arrays, and functions over them for live crawls and replays alike.

page_table     what all visits showed of each page: the one owner of these arrays
updates        kernels that record a visit, its links and what it revealed
rules          the settings, as kernels see them
fleet          the foragers in arrays, a slot for each: weblog, path, open links, weights, what was sent   (Alg 1, 6)
judge          is a document new, young and on topic; who multiplies and who is deleted                    (Alg 7, 8)
step           a step: choose a page, arrive there, send its documents, learn from what they earn  (Alg 3, 4, 11, 12)
moves          the same for those who make them one by one, from Python
saved          a forager as bytes

Invariant: nothing here waits, reads a clock or draws chance; time and chance are passed in.
"""
