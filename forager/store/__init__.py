"""Keeps what survives `kill -9`: known URLs, visits, versions, stories, and the states of parts.

Invariant: the ledger decides before anything waits; an outcome and all that is learned from it is one transaction.

protocol      the nouns, and what keeps their rows
columns       what is known of each URL, as arrays
turns         whose turn it is to be leased
ledger        the state of all URLs, in memory: decides at once
rows          structs as rows of crawl.db, by name
rundir        the run directory: lock, checks, schema
snapshot      crawl.db and the columns beside it -> ledger
disk          crawl.db through aiosqlite: group commit and reading
store         the store: a ledger, and a disk or none
migrations/   the schema of crawl.db, step by step
"""
