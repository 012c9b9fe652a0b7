"""The `forager` command; each verb is one file, imported only when it is used."""


def main() -> None:
    """Run the command line."""
    import sys

    try:
        from forager.cli.app import run
    except KeyboardInterrupt:  # in the tenth of a second before `run` can tell it
        sys.exit(130)
    run()
