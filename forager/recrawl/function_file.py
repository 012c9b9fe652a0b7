"""Learned score functions as text: JSON with version, formula, provenance and results."""

import json
from dataclasses import asdict, dataclass, field

from forager.errors import InputError
from forager.gp.trees import Tree
from forager.recrawl.formula import formula_text, parse
from forager.recrawl.rhythm import HOURS, Rhythm

FORMAT = "forager score function"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a function comes from."""

    log: str = ""
    pages: int = 0
    cycles: int = 0
    changed_share: float = 0.0
    k: float = 0.05
    more_k: tuple[float, ...] = ()
    warmup: int = 2
    select: str = "best"
    seeds: int = 0
    generations: int = 0
    population: int = 0
    evaluations: int = 0
    unique_evaluations: int = 0
    seconds: float = 0.0
    program: str = ""
    evolved: bool = True
    """False: a known rule, because nothing better beyond chance was evolved."""
    seeded: bool = True
    """Whether the first generation held the known rules besides random trees."""
    cycle: float = 0.0
    """Length of a cycle of the log in seconds, the unit of the function's time; 0: unknown."""
    period: str = ""
    """The time that it was learned from."""
    seed: int = 0
    command: str = ""
    date: str = ""
    note: str = ""
    """Anything else, such as how it does on held-out time."""


@dataclass(frozen=True, slots=True)
class LearnedFunction:
    """A score function with its measured fitness."""

    tree: Tree
    terminals: str
    fitness: str
    train: float
    validation: float
    provenance: Provenance = field(default_factory=Provenance)
    rhythm: Rhythm = ()
    """How busy each hour of the week was in the log it was learned from; empty if the function does not use it."""
    in_force: bool = True
    """For a function that comes with the program: whether crawls use it from the start."""

    @property
    def formula(self) -> str:
        """The function in the form that `crawl.policy` takes."""
        return formula_text(self.tree)


def function_to_text(learned: LearnedFunction) -> str:
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "formula": learned.formula,
            "tree": list(learned.tree),
            "terminals": learned.terminals,
            "fitness": learned.fitness,
            "train": learned.train,
            "validation": learned.validation,
            "provenance": asdict(learned.provenance),
            **({} if learned.in_force else {"in_force": False}),
            **({"rhythm": [round(pace, 4) for pace in learned.rhythm]} if learned.rhythm else {}),
        },
        indent=2,
        ensure_ascii=False,
    )


def function_from_text(text: str, name: str = "function file") -> LearnedFunction:
    """Reads a function back; only its formula decides. Raises an `InputError` for any other file."""
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise InputError(f"{name}: not a score function written by `forager learn`")
        if content["version"] > VERSION:
            raise InputError(f"{name}: written by a newer Forager (version {content['version']}); please update")
        known = {key: value for key, value in content.get("provenance", {}).items() if key in Provenance.__slots__}
        known["more_k"] = tuple(known.get("more_k", ()))
        return LearnedFunction(
            _tree(str(content["formula"]), name),
            str(content["terminals"]),
            str(content["fitness"]),
            float(content["train"]),
            float(content["validation"]),
            Provenance(**known),
            _rhythm(content.get("rhythm", [])),
            content.get("in_force", True) is True,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise InputError(f"{name}: not a score function written by `forager learn` ({problem})") from problem


def _tree(formula: str, name: str) -> Tree:
    try:
        return parse(formula)
    except InputError as problem:
        raise InputError(f"{name}: {problem}") from None


def _rhythm(values: list[float]) -> Rhythm:
    rhythm = tuple(float(value) for value in values)
    if len(rhythm) not in (0, HOURS) or not all(0.0 <= pace < float("inf") for pace in rhythm):
        raise ValueError(f"a rhythm is {HOURS} paces")
    return rhythm
