"""Runs the `forager` command: each verb is one file, and what verbs share stands beside them.

Invariant: a verb is imported only when it is used, and every mistake of the user ends in one line that says what to do.

app                which verbs there are, and how every one of them ends
crawl              `forager crawl`
demo               `forager demo`: a newsroom, served on loopback and crawled
fetch              `forager fetch`
robots             `forager robots`
export             `forager export`
report             `forager report`
why                `forager why`
settings           `forager settings`
import_            `forager import`
replay             `forager replay`, its stories and its dashboard
replay_bytes       `forager replay --bytes`: the crawl itself over recorded bytes
tune               `forager tune`
learn              `forager learn`
learn_states       `forager learn states`
rank               `forager rank`
compare_fleets     `forager compare fleets`, and its report
compare_policies   `forager compare policies`
compare_rankings   `forager compare rankings`, and its report
policies_report    the report of `compare policies`
options            options that verbs share, and the files they write at their end
change_logs        what `learn` and `compare policies` read
tapes              budgets, warm-ups and presets of replays
runner             a crawl from the command line: time limit, Ctrl-C, dashboard
progress           what a crawl shows while it runs
screen             one screenful of a crawl
log                the log of a crawl
statistics         the final figures as JSON
terminal           progress of long work, and tables of 80 columns
compilation        kernels compiled once per installation
"""


def main() -> None:
    """Run the command line."""
    import sys

    try:
        from forager.cli.app import run
    except KeyboardInterrupt:  # in the tenth of a second before `run` can tell it
        sys.exit(130)
    run()
