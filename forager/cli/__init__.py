"""Runs the `forager` command: one file per verb, and the code that verbs share.

Invariant: a verb is imported only when it is used, and every mistake of the user gives one line that says what to do.

app                the verbs, and how each of them ends
crawl              `forager crawl`
demo               `forager demo`: serves a newsroom on loopback and crawls it
fetch              `forager fetch`
robots             `forager robots`
export             `forager export`
report             `forager report`
why                `forager why`
focus              `forager focus mark`
settings           `forager settings`
import_            `forager import`
replay             `forager replay`, its stories and its dashboard
replay_bytes       `forager replay --bytes`: the live crawl over recorded bytes
tune               `forager tune`
learn              `forager learn`
learn_states       `forager learn states`
rank               `forager rank`
compare_fleets     `forager compare fleets`, and its report
compare_policies   `forager compare policies`
compare_rankings   `forager compare rankings`, and its report
policies_report    the report of `compare policies`
options            options that verbs share, and the files that verbs write
change_logs        input of `learn` and `compare policies`
tapes              budgets, warm-ups and presets of replays
runner             runs a crawl from the command line: time limit, Ctrl-C, dashboard
progress           live view of a running crawl
screen             one screenful of a crawl
log                log of a crawl
statistics         final figures of a run as JSON
terminal           progress of long work, and tables of 80 columns
compilation        compiles kernels once per installation
"""


def main() -> None:
    """Runs the command line."""
    import sys

    try:
        from forager.cli.app import run
    except KeyboardInterrupt:  # in the tenth of a second before `run` can handle it
        sys.exit(130)
    run()
