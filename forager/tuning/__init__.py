"""Searches better settings on the first part of a recording, and judges them on the rest.

Invariant: no trial sees the held-out part, and a resumed search gives the same trials as one that was never stopped.

search       runs a whole tuning in a folder that keeps every trial
goals        the figures that a search can improve
space        which settings a search may change, within which bounds; reads and writes them as YAML
study        cuts the recording in two; the trials: suggests, prunes and keeps them in a journal file
held_out     picks the best trial and tests it on the held-out part
report       the search and its outcome as one HTML file; tuned.yaml
"""
