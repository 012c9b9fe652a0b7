"""Where the topic is: the share of each list's documents that are on topic, and the probability of each link.

A list is judged by the links that it shows: links that were read count by their verdict, others by the odds that their
words make of the share of the whole crawl. A link is on topic with the odds that its words make of the largest share of
any list that shows it. The share of the whole crawl is the one that agrees with the mean of the resulting
probabilities; it is found by iteration.
"""

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.terms import UrlId

LISTED = 100
"""The number of newest links by which a list is judged (ours)."""
FEW = 5.0
"""The links of a list count as much as what is known of all others if there are this many (ours)."""
ENOUGH = 50
"""A share changes only if something is known of at least this many pages (ours)."""
ROUNDS = 20
"""Iterations after which the share of the whole crawl is accurate enough."""


class TopicMap:
    """What is known of the topic of pages, by URL number."""

    def __init__(self, share: float = 1.0) -> None:
        self.share = share
        """The share of the whole crawl's documents that are on topic."""
        self._lists: dict[UrlId, IntArray] = {}
        """The newest links of each list, as it was shown last."""
        self._read, self._odds, self._largest = np.empty((3, 0))
        """For each page: 1 if it was read and is on topic, 0 if it is not; the odds that the words of a link make; the
        largest share of the lists that show it. nan if nothing is known."""

    def __repr__(self) -> str:
        return f"<TopicMap of {len(self._lists)} lists, {self.share:.3f} of all on topic>"

    def read(self, id: UrlId, on_topic: bool) -> None:
        """Records the verdict on a page."""
        self._reserve(id + 1)
        self._read[id] = on_topic

    def hear(self, ids: IntArray, odds: FloatArray) -> None:
        """Records what the words of links say; 1: nothing."""
        self._reserve(int(ids.max(initial=-1)) + 1)
        self._odds[ids] = np.where(odds == 1, np.nan, odds)

    def show(self, id: UrlId, links: IntArray) -> tuple[IntArray, FloatArray]:
        """Records the links of a list; returns the list and its unread links, with their shares and probabilities."""
        self._reserve(max(id, int(links.max(initial=-1))) + 1)
        self._lists[id] = links = links[-LISTED:]
        share = self._share_of(links)
        self._largest[links] = np.fmax(self._largest[links], share)
        links = links[np.isnan(self._read[links])]
        links = np.array([link for link in links.tolist() if link not in self._lists], dtype=np.int64)
        return np.append(links, id), np.append(self.chances(links), share)

    def listed(self, id: UrlId) -> float:
        """The largest share of the lists that show a page; 0 if none is known."""
        return float(np.nan_to_num(self._largest[id])) if id < len(self._largest) else 0.0

    def chances(self, ids: IntArray) -> FloatArray:
        """The probabilities of unread links."""
        share = np.where(np.isnan(self._largest[ids]), self.share, self._largest[ids])
        return _chance(share, np.where(np.isnan(self._odds[ids]), 1.0, self._odds[ids]))

    def settle(self) -> tuple[IntArray, FloatArray]:
        """Computes all shares and probabilities again; returns those of all pages."""
        said = np.flatnonzero(~(np.isnan(self._read) & np.isnan(self._odds)))
        if len(said) >= ENOUGH or self.share == 1:
            self.share = 0.5
            for _ in range(ROUNDS):
                self.share = float((self._known(said).sum() + 0.5) / (len(said) + 1))
        self._largest[:] = np.nan
        lists, shares = np.array(list(self._lists), dtype=np.int64), np.zeros(len(self._lists))
        for place, links in enumerate(self._lists.values()):
            shares[place] = self._share_of(links)
            self._largest[links] = np.fmax(self._largest[links], shares[place])
        every = self.chances(np.arange(len(self._read)))
        every[lists] = shares
        return np.arange(len(self._read)), every

    def _share_of(self, links: IntArray) -> float:
        known = self._known(links)
        known = known[~np.isnan(known)]
        return float((known.sum() + FEW * self.share) / (len(known) + FEW))

    def _known(self, ids: IntArray) -> FloatArray:
        """The verdict on each page, or what the words of links to it say; nan if nothing is known."""
        return np.where(np.isnan(self._read[ids]), _chance(self.share, self._odds[ids]), self._read[ids])

    def _reserve(self, pages: int) -> None:
        more = pages - len(self._read)
        if more > 0:
            unknown = np.full(more + pages // 2, np.nan)
            self._read, self._odds, self._largest = (
                np.append(column, unknown) for column in (self._read, self._odds, self._largest)
            )


def _chance(share: float | FloatArray, odds: FloatArray) -> FloatArray:
    return share * odds / (share * odds + 1 - share)
