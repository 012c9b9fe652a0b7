"""Replays a tape in simulated time, with the same fleet, agent and expectations as live, at the speed of kernels.

Invariant: the tape, the settings and the seed alone decide the result; time is simulated, and nothing waits.

replay           one replay: fleet and recrawl side, one download after the other (Alg 9); its start pages
player           prepares the input of the loop and distributes its results
loop             the main loop of fleet and recrawl side, as one kernel (Alg 12)
bundles          the arrays that the loop works on
replay_account   what could be found, what was found and when, and what it cost
replay_records   the journal of a replay, and its pages for the dashboard
jobs             many replays on all cores
fleet_rows       means, spreads and paired tests over repeats
"""
