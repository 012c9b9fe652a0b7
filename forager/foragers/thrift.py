"""Few requests: a page that promises too little is not asked for, but a small share of downloads explores all the same.

Both numbers are ours. Without the share a crawl can lock itself in: what is never looked at never shows its worth.
"""


class Thrift:
    """Decides whether a download is worth a request; one for the fleet and the recrawl cycle together."""

    def __init__(self, least_worth: float, explore: float) -> None:
        self.least_worth, self.explore = least_worth, explore
        self.spent = self.explored = 0

    def __repr__(self) -> str:
        return f"<Thrift {self.spent} downloads, {self.explored} of them to explore>"

    def allows(self, worth: float) -> bool:
        """Whether so many expected documents are worth a request; asking changes nothing. Unknown worth (nan) is."""
        return not worth < self.least_worth or self.explored < self.explore * (self.spent + 1)

    def spend(self, worth: float) -> None:
        """A page of this worth was downloaded."""
        self.spent += 1
        self.explored += worth < self.least_worth
