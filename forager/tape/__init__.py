"""Stores a recorded site as columns: which version of each page appeared when, with its links, dates and states.

Invariant: a tape is checked when it is opened and never changes; nothing on it is parsed or fetched.

tape         the columns, how they are stored, and the checks
build        makes a tape from versions in any order
cut          makes a tape of a part of another, and the rewired twin of a tape
lookup       kernels that look up versions and links
tape_world   the tape as a World that foragers visit; which documents could be found there, and when
"""
