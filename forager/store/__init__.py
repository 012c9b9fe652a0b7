"""Stores what survives `kill -9`: known URLs, visits, versions, stories, and the states of parts.

Invariant: the ledger decides before anything waits; an outcome and all that is learned from it is one transaction.

protocol      the record types, and the interface of an archive
known_urls    every URL at its number, and its number by URL
turns         which pending URL is leased next
ledger        what is known of each URL, as arrays in memory; decides at once
rows          maps structs to rows of crawl.db by name
rundir        the run directory: lock, checks, schema
snapshot      loads a ledger from crawl.db and a file of columns beside it
disk          crawl.db through aiosqlite: group commit and reading
store         the store: a ledger, and a disk or none
migrations/   the schema of crawl.db, step by step
"""
