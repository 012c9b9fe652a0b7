"""Replays: the same fleet, agent and recrawl cycle on a tape, in simulated time."""
