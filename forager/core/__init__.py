"""Makes the decisions of a crawl, live or replayed: functions over bundles of arrays.

Nothing here waits, reads a clock or draws random numbers; time and random numbers are passed in.

Words used throughout, from the papers unless marked as ours:

- A *document* is a page with a text and a date. A *story* is a document that is new, young and on topic.
- A page is a *list*, which shows links to documents (`hub` in the code), or a *text*, which is read.
- The *weblog* of a forager holds the pages that it likes to start from, each with a value learned from earlier paths.
- A *path* is the walk of a forager from a start page along links, one *step* after the other.
- The *state* of a page is a vector: the share of each text cluster in its text, and marks of its address.
- *Long-term profit* is what a page is worth now and later, estimated from its state and learned with TD.
- The *score* of a forager is its balance with the reinforcing agent, which decides whether it multiplies or is deleted.
- The *recrawl cycle* is the other side of a crawl: it visits known pages again. A visit of its own is a *look* (ours).
- *Worth* (ours) is the number of new documents that a download is expected to find now. *Promise* (ours) is the value
  by which pages are ordered: the worth, weighted by how urgent the visit is.
- A *fresh* link (ours) appeared on a page between two visits. All that a first visit shows is *backlog* (ours).
- The *outlook* (ours) holds the means over all pages, prepared so that the worth of single pages is cheap to compute.
- A *pool* (ours) holds the pages from which the next download of the recrawl cycle is chosen.
- *Pace* (ours) is the success of the fleet: documents found per download, and how old they were when found.
- To *lean* (ours) is to change the promise of a page by long-term profit and the link graph, with a factor near 1.
- *Luck* (ours) is a random number from 0 to 1 that the caller draws.

page_table       what all visits showed of each page; the only owner of these arrays
addresses        what the address of an unvisited page tells: its form, and the date in it
page_row         the columns of that table, and the table as kernels see it
updates          kernels that record a visit, its links and the documents that it revealed
expectation      how many new documents a download is expected to find
best_pages       finds the most promising among very many pages
page_scores      what score functions read of pages, and the scores
exploration      skips pages that promise too little, but explores some; when to leave a path
choice           chooses the next page of a pool
refill           ranks the known pages and fills the pool with the best
candidates       the pools of a crawl: one, or one for each host
scheduler        the recrawl side: its policy, its cycles, its explanations
parameters       the settings of foragers, agent and focus
rules            the settings as kernels see them
fleet            the foragers in arrays, and the record of each forager's life (Alg 1, 6)
weblog           the weblog of a forager and how it learns (Alg 1, 6)
states           text -> words -> clusters -> state vector (Alg 2)
profit           long-term profit and how it is learned (Alg 3, 4)
shared           what all foragers share: page table, states, pace
findings         the types that foragers exchange with the rest of the crawl
step             the four parts of a step, as kernels (Alg 12)
territory        which forager is credited with a look of the recrawl cycle
judge            which documents are rewarded, which foragers multiply or are deleted, as kernels (Alg 7, 8)
births           carries out births and deletions, as kernels (Alg 6, 8)
draws            the random numbers of foragers
agent            the reinforcing agent, which owns the fleet (Alg 7, 8, 9)
focus            whether a document is on topic, given a query, examples and marks
topic_lesson     learns a topic: a classifier, its threshold, and what the words of links say
topic_map        where the topic is: its share on each list, the probability of each link
packed           named arrays as bytes
saved            a forager, and the whole fleet, as bytes
"""
