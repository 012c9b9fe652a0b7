"""Evolves score functions from a change log by genetic programming (GP4C).

Pure: no clock, and all chance comes from the seed; the result is the same on any number of processes.

trees         expression trees, and how to cut and graft them
evolve        making trees, their canonical form, and generation after generation with the best kept
fitness       how good a tree is: the crawl simulated with it, page by page or in groups, in one process or several
grouped       the simulation on groups of pages with equal state, the best groups first
machine       the functions and terminals of trees, evaluated by a small compiled machine
learn         the whole of a learning: runs, validation, choice, a shorter form
gp_settings   the settings of GP4C
"""
