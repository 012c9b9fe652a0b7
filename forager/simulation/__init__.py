"""Replays a tape in simulated time: the same fleet, agent and expectations as live, at the speed of kernels.

Invariant: the tape, the settings and the seed alone decide the result; time is simulated, and nothing waits.

replay           one replay: both sides, one download after the other (Alg 9)
player           gives the loop what it works on, and tells what it has done
loop             both sides in turn, as one kernel
fleet_turn       one step of a forager on a tape (Alg 12)
recrawl_turn     one download of the recrawl side
visit            what a download brings is entered
bundles          the arrays that the loop works on
luck             chance drawn in blocks
fit              what a replay is given is made to fit its tape
seeds            where to start if nobody says where
replay_account   what was there, what was found and when, what it cost
replay_events    the journal of a replay
records          what a replay knows of its pages, asked for like a store
jobs             many replays on all cores
compare          means, spreads and paired tests over repeats
"""
