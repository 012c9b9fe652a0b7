"""The decisions of a crawl without waiting: bundles of arrays, and functions over them for live crawls and replays alike.

page_table     what all visits showed of each page: the one owner of these arrays
updates        kernels that record a visit, its links and what it revealed
pool           the pages among which one is chosen for a while
choice         which page of a pool is looked at next, by the documents expected or by the numbers a score function gave
ranking        all known pages, or a short list of them, are ranked and make the pool
candidates     the pools of a crawl, one or one for each host, and the score function that numbers pages
scheduler      the recrawl side: its policy, its cycles, its reasons
rules          the settings, as kernels see them
fleet          the foragers in arrays, a slot for each: weblog, path, open links, weights, what was sent   (Alg 1, 6)
judge          is a document new, young and on topic; who multiplies and who is deleted                    (Alg 7, 8)
step           a step: choose a page, arrive there, send its documents, learn from what they earn  (Alg 3, 4, 11, 12)
moves          the same for those who make them one by one, from Python
saved          a forager as bytes

Invariant: nothing here waits, reads a clock or draws chance; time and chance are passed in.
"""
