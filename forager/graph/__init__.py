"""Ranks the frontier of a link graph: which pages that are linked but not downloaded should come first.

Pure: no I/O, no clock, no chance of its own; loops over links give the same bits on any number of cores.

graph      the packed link graph, edge lists that make one, and one that grows
kernels    the inner loops over packed links
walks      RW, RW-EG, PageRank, InDegree, Random
queries    Q-Overlap and Q-Hybrid, by what people asked for
learned    ML, learned from the other rankings, and the choice of ω
methods    all rankings by name, and ranks on one scale
measures   impact of a ranking; degrees, clustering, path lengths
"""
