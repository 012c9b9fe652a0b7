"""Ranks the frontier of a link graph: which linked but not downloaded pages to download first.

Pure: no I/O, no clock, no random numbers of its own; bit-identical results on any number of cores.

graph      the link graph as a sparse matrix, edge lists, and a graph that grows
walks      RW, RW-EG, PageRank, InDegree, Random
learned    ML, learned from the other rankings, and the choice of ω
methods    all rankings by name, and ranks on one scale; Q-Overlap and Q-Hybrid
figures    impact of a ranking; degrees, clustering, path lengths
"""
