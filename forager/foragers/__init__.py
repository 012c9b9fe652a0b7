"""The mind of one forager, and what all foragers of a fleet know together. Pure: it decides, others wait.

sighting      what a visit shows, what a forager sends, what it earns
weblog        pages worth starting from                                             (Alg 1, 6)
path          a walk: its steps, what they earned, the links still open             (Alg 10, 11)
td            long-term profit of a page, learned by temporal differences           (Alg 3, 4)
words, clusters, classifier, states, matrix      text -> state vector               (Alg 2)
table, expectation       what earlier visits say about the next one
glance, ranking          which of very many pages promise most
leaving, starts          when to leave a path, where to start the next one
ordering, thrift         which pages never seen go first; whether a page is worth a request
shared        what all foragers of a fleet know together
forager       choose, see, learn; kinds WL, RL, WLRL and BFS                        (Alg 5, 12)
settings      every choice, and the paper's mode
keeping, saving, kernels      a forager as bytes; arrays as bytes; functions as machine code
"""
