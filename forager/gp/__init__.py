"""Evolves score functions from a change log by genetic programming (GP4C).

Pure: no clock, and all random numbers follow from the seed; the result is the same on any number of processes.

trees         expression trees, and how to cut and graft them
evolve        makes trees and their canonical form; evolves generation after generation and keeps the best
fitness       how good a tree is: simulates the crawl with it, page by page or in groups, in one process or several
grouped       the simulation on groups of pages with equal state, the best groups first
machine       evaluates trees: a small compiled machine for their functions and terminals
learn         learns a function from start to end: runs, validation, choice, a shorter form
gp_settings   the settings of GP4C
"""
