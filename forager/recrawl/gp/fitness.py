"""The fitness of a tree: simulate the crawl with it and measure (GP4C)."""

from forager.recrawl.gp.grouped import GroupedSimulation, reads_states_only
from forager.recrawl.gp.settings import GPSettings, Measure
from forager.recrawl.gp.tree import Tree, terminals_of
from forager.recrawl.log import ChangeLog
from forager.recrawl.policies import Formula
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.simulate import simulate
from forager.recrawl.states import ALL, BASIC, EXTENDED


class Judge:
    """Measures trees on one log. Made ready at the first question, so it travels cheaply to other processes."""

    def __init__(self, log: ChangeLog, settings: GPSettings) -> None:
        self.log, self.settings = log, settings
        self._grouped: GroupedSimulation | None = None

    def __call__(self, tree: Tree) -> float:
        """The fitness of a tree; higher is better."""
        measure: Measure = self.settings.fitness
        if measure == "discovery" or not reads_states_only(terminals_of(tree)):
            return self._page_by_page(tree, measure)
        if self._grouped is None:
            self._grouped = GroupedSimulation(self.log, self.settings.k, self.settings.warmup)
        fitness = self._grouped.fitness(tree)
        return {"changerate": fitness.change_rate, "ndcg": fitness.ndcg, "freshness": fitness.freshness}[measure]

    def _page_by_page(self, tree: Tree, measure: Measure) -> float:
        settings = RecrawlSettings(k=self.settings.k, warmup=self.settings.warmup)
        curves = simulate(self.log, Formula.of(tree), settings, young=self.settings.young)
        if measure == "discovery":
            return 0.0 if curves.discovery is None else curves.discovery.worth
        return float(
            {"changerate": curves.change_rate, "ndcg": curves.ndcg, "freshness": curves.freshness}[measure].mean()
        )


def terminal_set(settings: GPSettings, log: ChangeLog) -> tuple[str, ...]:
    """The terminals trees may read on this log."""
    names = {"basic": BASIC, "all": ALL, "extended": EXTENDED}[settings.terminals]
    return (*names, "docs") if settings.terminals == "extended" and log.documents is not None else names
