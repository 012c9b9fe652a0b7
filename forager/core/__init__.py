"""Makes the decisions of a crawl: bundles of arrays, and functions over them, for live crawls and replays alike.

Pure: nothing here waits, reads a clock or draws chance of its own; time and chance are passed in.

page_table       what all visits showed of each page: the one owner of these arrays
page_row         one row of that table, as kernels see it
updates          kernels that record a visit, its links and what it revealed
expectation      how many new documents one download promises
glance           the same to one part in a thousand, from kept figures
promise          which of very many pages promise most
exploration      what promises too little is left alone, but for a small share
pool             the pages among which one is chosen for a while
choice           which page of a pool is looked at next
ranking          the known pages, or a short list of them, are ranked and make the pool
candidates       the pools of a crawl, one or one for each host
scheduler        the recrawl side: its policy, its cycles, its reasons
leanings         what the link graph says of pages never visited
parameters       the settings of a forager
agent_settings   the settings of the reinforcing agent and of the focus
rules            the settings, as kernels see them
fleet            the foragers in arrays, a slot for each (Alg 1, 6)
weblog           pages from which good paths started (Alg 1, 6)
starts           where a new path starts
pace             when to leave a path
states           text -> words -> state vector (Alg 2)
clusters         PDDP, which finds the clusters of texts
classifier       PrTFIDF, which tells how near a text is to each
state_matrix     the states of all pages in one array
profit           long-term profit of a state, learned (Alg 3, 4)
shared           what all foragers of a fleet know together
sighting         what travels between a forager and the rest
step             the four moves of a step, as kernels (Alg 12)
moves            the same for those who make them one by one, from Python
judge            who is rewarded, who multiplies, who is deleted, as kernels (Alg 7, 8)
agent            the reinforcing agent over its fleet (Alg 7, 8, 9)
scores           the record of a forager's life
focus            whether a document is on topic
packed           named arrays as bytes
saved            a forager as bytes
saved_fleet      the agent with its whole fleet as bytes
kernels          small functions over arrays
"""
