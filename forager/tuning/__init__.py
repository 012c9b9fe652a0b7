"""Tuning: better settings found on the first part of a recording and judged on the rest.

goals        what can be tuned for
space        which settings may move, within which bounds, and what must hold between them
space_file   the same as YAML, to be narrowed by people
course       where trials run: the recording in two parts that know nothing of each other
study        the trials: kept in a journal file, resumed, pruned                  (Optuna, TPE)
searching    trial after trial, in one process or several, until told to stop
choosing     the best of the trials, and which of its changes matter
judging      old against new on the held-out part, with paired intervals
writing      tuned.yaml
report       the search and its outcome as one HTML file
"""
