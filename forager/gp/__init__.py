"""Evolves score functions from a change log by genetic programming (GP4C).

Pure: no clock, and all chance comes from the seed; the result is the same on any number of processes.

trees         expression trees, their functions, and their canonical form
breed         making trees: first ones, crossover, mutations
evolve        generation after generation, the best kept
fitness       how good a tree is: the crawl simulated with it
grouped       the simulation on groups of pages with equal state
top_groups    which groups and pages a cycle takes
pagewise      the simulation page by page
machine       trees evaluated by a small compiled machine
parallel      trees measured in several processes
selection     which individual becomes the function, and whether it beats the known rules
learn         the whole of a learning: runs, validation, a shorter form
gp_settings   the settings of GP4C
"""
