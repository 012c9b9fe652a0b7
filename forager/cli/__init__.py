"""The `forager` command; each verb is one file, imported only when it is used."""


def main() -> None:
    """Run the command line."""
    from forager.cli.app import run

    run()
