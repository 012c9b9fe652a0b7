"""Replays: the same fleet, agent and expectations on a tape, in simulated time.

run        one replay: fleet and recrawl side, one download after the other          (Alg 9)
step       one step of a forager, linked pages as columns                            (Alg 12)
patrol     the recrawl side: which page to look at next
account    what was there, what was found and when, what it cost
telling    the journal of a replay
seeds      where to start if nobody says where
jobs       many replays on all cores
compare    means, spreads and paired tests over repeats
"""
