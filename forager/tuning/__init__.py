"""Searches better settings on the first part of a recording, and judges them on the rest.

Invariant: no trial sees anything of the held-out part, and a search that is resumed goes on as if never stopped.

tuning       the whole of a tuning, in a folder that keeps every trial
goals        what can be tuned for
space        which settings may move, within which bounds; the same as YAML
split        the recording in two parts that know nothing of each other
study        the trials: suggested, pruned, kept in a journal file
search       trial after trial, in one process or several
select       the best of the trials, and which of its changes matter
judge        old against new on the held-out part, with paired intervals
tuned_file   tuned.yaml
report       the search and its outcome as one HTML file
"""
