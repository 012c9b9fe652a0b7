"""Runs the `forager` command: one file per verb, and the code that verbs share.

Invariant: a verb is imported only when it is used, and every mistake of the user gives one line that says what to do.

app                the verbs, and how each of them ends
crawl              `forager crawl`, and `forager demo`, which serves a newsroom on loopback and crawls it
fetch              `forager fetch` and `forager robots`
export             `forager export` and `forager report`
why                `forager why` and `forager focus mark`
import_            `forager import`
replay             `forager replay`, its stories and its dashboard
replay_bytes       `forager replay --bytes`: the live crawl over recorded bytes
tune               `forager tune`
learn              `forager learn function` and `forager learn states`
rankings           `forager rank` and `forager compare rankings`, with its report
compare_fleets     `forager compare fleets`, and its report
compare_policies   `forager compare policies`, and its report
options            options that verbs share, `forager settings`, and the files and progress that verbs write
log_input          input of `learn` and `compare policies`
runner             runs a crawl from the command line: progress, screen, time limit, Ctrl-C, dashboard, statistics.json
log                log of a crawl
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
