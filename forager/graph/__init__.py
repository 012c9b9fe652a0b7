"""Ranks the frontier of a link graph: which linked but not downloaded pages to download first.

Pure: no I/O, no clock, no random numbers of its own; loops over links give bit-identical results on any number of cores.

graph      the packed link graph, edge lists, and a graph that grows
kernels    inner loops over packed links
walks      RW, RW-EG, PageRank, InDegree, Random
learned    ML, learned from the other rankings, and the choice of ω
methods    all rankings by name, and ranks on one scale; Q-Overlap and Q-Hybrid
figures    impact of a ranking; degrees, clustering, path lengths
"""
