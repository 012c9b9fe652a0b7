"""Makes the decisions of a crawl: bundles of arrays, and functions over them, for live crawls and replays alike.

Pure: nothing here waits, reads a clock or draws random numbers of its own; both are passed in.

page_table       what all visits showed of each page: the one owner of these arrays
addresses        what an address says of a never-visited page: its form, and the date in it
page_row         one row of that table, and all of it, as kernels see them
updates          kernels that record a visit, its links and what it revealed
expectation      how many new documents one download is expected to bring
best_pages       finds the pages with the most expected documents among very many
page_scores      what score functions read of pages, and their scores
exploration      skips pages with too few expected documents; when to leave a path
choice           which page of a pool is visited next
refill           fills the pool: ranks the known pages, or a short list of them
candidates       the pools of a crawl, one or one for each host
scheduler        the recrawl side: its policy, its cycles, its reasons
parameters       the settings of foragers, agent and focus
rules            the settings, as kernels see them
fleet            the foragers in arrays, a slot for each, and the record of a life (Alg 1, 6)
weblog           pages from which good paths started (Alg 1, 6)
states           text -> words -> clusters -> state vector (Alg 2)
profit           long-term profit of a state, learned (Alg 3, 4)
shared           what all foragers of a fleet share: pages, states, pace
findings         the types that a forager exchanges with the rest
step             the four moves of a step, as kernels (Alg 12)
territory        which forager a download of the recrawl cycle counts for
judge            which documents are rewarded, which foragers multiply or are deleted, as kernels (Alg 7, 8)
births           how they do: births and deaths, as kernels (Alg 6, 8)
draws            random numbers of foragers
agent            the reinforcing agent over its fleet (Alg 7, 8, 9)
focus            whether a document is on topic, by what was given and marked
topic_lesson     what a lesson teaches of a topic: its words, its threshold, what links say
topic_map        where the topic is: the share of each list, the chance of each link
packed           named arrays as bytes
saved            a forager, and the whole fleet, as bytes
"""
