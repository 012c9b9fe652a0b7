"""Replays: the same fleet, agent and expectations on a tape, in simulated time.

run        one replay: fleet and recrawl side, one download after the other          (Alg 9)
fitting    what a replay is given is made to fit its tape
foraging   the fleet, step by step
step       one step of a forager, linked pages as columns                            (Alg 12)
reading    documents that are read off the lists that link them
patrol     the same by kernels, many times faster: playing (both sides in turn), looking (the recrawl side), ranking (all
           known pages), stepping (the fleet), entering (what both enter); course, flock, keeper (what they work on), luck
account    what was there, what was found and when, what it cost
telling    the journal of a replay
seeds      where to start if nobody says where
jobs       many replays on all cores
compare    means, spreads and paired tests over repeats
"""
