"""Holds a recorded site as columns: which version of each page appeared when, with its links, dates and states.

Invariant: a tape is checked when it is opened and never changes; nothing on it is parsed or fetched.

tape     the columns, how they are stored, and whether they can be trusted
build    versions in any order become a tape
cut      a part of a tape as a tape of its own
rewire   a twin with the same degrees and another graph
lookup   kernels that look up versions and links
truth    which documents were there to be found, and when
world    the tape as a World that foragers visit
"""
