"""Our robots.txt verdicts beside those of other parsers, on real files: how many differ, why, and how long each takes.

    python tests/bench/robots_verdicts.py --every 10

Peers that are not installed are left out: protego, robotspy, robotexclusionrulesparser, and gpyrobotstxt, a port of Google's
own parser (GPL, so never a dependency). `forager` is our matcher; it must never differ from protego.
"""

import argparse
import re
import time
import urllib.robotparser
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from forager.web.robots import RobotsRules, path_of
from tests.corpora import robots_files

Judge = Callable[[str, str], bool]
"""(url, agent) -> allowed"""

WIDTHS = (9, 9, 10, 8, 9, 9, 11)
AGENTS = ("Forager", "Googlebot", "GPTBot", "Googlebot-News")
PATHS = ("/", "/index.html", "/news/2024/05/a-story.html", "/search?q=a&page=2", "/tag/caf%C3%A9/", "/feed/")


def forager(text: str) -> Judge:
    return RobotsRules.read(text).allows


def protego(text: str) -> Judge:
    from protego import Protego

    return Protego.parse(text).can_fetch


def stdlib(text: str) -> Judge:
    parser = urllib.robotparser.RobotFileParser()
    parser.parse(text.splitlines())
    return lambda url, agent: parser.can_fetch(agent, url)


def robotspy(text: str) -> Judge:
    import robots

    parser = robots.RobotsParser.from_string(text)
    return lambda url, agent: parser.can_fetch(agent, url)


def rerp(text: str) -> Judge:
    import robotexclusionrulesparser

    parser = robotexclusionrulesparser.RobotExclusionRulesParser()
    parser.parse(text)
    return lambda url, agent: parser.is_allowed(agent, url)


def google(text: str) -> Judge:
    from gpyrobotstxt.robots_cc import RobotsMatcher

    raw = text.encode()
    return lambda url, agent: RobotsMatcher().allowed_by_robots(raw, [agent], url)


PEERS: dict[str, Callable[[str], Judge]] = {
    "forager": forager, "protego": protego, "urllib.robotparser": stdlib, "robotspy": robotspy,
    "robotexclusionrulesparser": rerp, "gpyrobotstxt (Google)": google,
}  # fmt: skip


@dataclass(slots=True)
class Tally:
    seconds: float = 0.0
    crashes: int = 0
    stricter: int = 0
    looser: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)


def urls_for(host: str, text: str) -> list[str]:
    """A few usual paths, and some that the rules of the file speak of."""
    written = re.findall(r"(?im)^\s*(?:dis)?allow\s*:\s*(\S+)", text)
    spoken_of = written[:: max(1, len(written) // 8)]
    paths = [*PATHS, *("/" + value.replace("*", "x").replace("$", "").lstrip("/") for value in spoken_of)]
    return [f"https://{host}{path}" for path in dict.fromkeys(paths)]


def reason(text: str, url: str, agent: str) -> str:
    """The likely cause of a difference: what is special about the rules that match."""
    read = RobotsRules.read(text)
    group = read.group(agent)
    matching = [rule for rule in group.rules if rule.matches(path_of(url))]
    decided = read.deciding(url, agent)
    line = decided.text if decided else ""
    if decided and not re.match(r"(?i)\s*(allow|disallow)\s*:", line):
        return "a misspelt or colon-less line"
    if any("*" in rule.pattern or rule.pattern.endswith("$") for rule in matching):
        return "wildcards * and $"
    if len({rule.allow for rule in matching}) == 2:
        return "longest match or first match"
    if any("%" in rule.pattern for rule in matching) or "%" in url:
        return "percent-encoding"
    if group.name not in ("", "*", agent.lower()):
        return "a group named by the start of our name"
    if len(re.findall(rf"(?im)^\s*user-agent\s*:\s*{re.escape(group.name or '*')}\s*(?:#.*)?$", text)) > 1:
        return "several groups of one name"
    if re.search(r"(?im)^\s*user-agent[^\n]*\n(\s*\n)+\s*(dis)?allow", text):
        return "a blank line inside a group"
    return "where groups begin and end, and other lines"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=10, help="take every n-th file (default 10)")
    parser.add_argument("--examples", action="store_true", help="show one example of each class of differences")
    options = parser.parse_args()
    files = [(host, raw.decode("utf-8", "replace").removeprefix("\ufeff")) for host, raw in robots_files()]
    files = files[:: options.every]
    tallies = {name: Tally() for name in PEERS if _installed(name)}
    verdicts = 0
    for host, text in files:
        urls = urls_for(host, text)
        ours: list[bool] = []
        for name, tally in tallies.items():
            started = time.perf_counter()
            theirs = judged(PEERS[name], text, urls, tally)
            tally.seconds += time.perf_counter() - started
            if name == "forager":
                ours = [verdict is True for verdict in theirs]
                verdicts += len(ours)
            count(tally, text, urls, ours, theirs)
    report(len(files), verdicts, tallies, examples=options.examples)


def judged(read: Callable[[str], Judge], text: str, urls: list[str], tally: Tally) -> list[bool | None]:
    """One verdict for each URL and agent; None where the peer crashed."""
    try:
        judge = read(text)
        return [bool(judge(url, agent)) for url in urls for agent in AGENTS]
    except Exception:
        tally.crashes += 1
        return [None] * (len(urls) * len(AGENTS))


def count(tally: Tally, text: str, urls: list[str], ours: list[bool], theirs: list[bool | None]) -> None:
    pairs = [(url, agent) for url in urls for agent in AGENTS]
    for (url, agent), our, their in zip(pairs, ours, theirs, strict=True):
        if their is None or our == their:
            continue
        tally.stricter += our
        tally.looser += their
        why = reason(text, url, agent)
        tally.classes[why] += 1
        tally.examples.setdefault(why, f"{agent} {url} (forager: {'allowed' if our else 'disallowed'})")


def report(files: int, verdicts: int, tallies: dict[str, Tally], *, examples: bool) -> None:
    print(f"{files} real robots.txt files, {verdicts} verdicts for {', '.join(AGENTS)}\n")
    names = ("differ", "share", "stricter", "looser", "crashed", "seconds", "× forager")
    print(f"{'parser':28}" + "".join(f"{name:>{width}}" for name, width in zip(names, WIDTHS, strict=True)))
    base = tallies["forager"].seconds
    for name, tally in tallies.items():
        differ = tally.stricter + tally.looser
        print(
            f"{name:28}{differ:9}{differ / verdicts:9.2%}{tally.stricter:10}{tally.looser:8}"
            f"{tally.crashes:9}{tally.seconds:9.2f}{tally.seconds / base:11.1f}"
        )
    for name, tally in tallies.items():
        for why, number in tally.classes.most_common():
            print(f"\n{name}: {number} by {why}" + (f"\n    {tally.examples[why]}" if examples else ""), end="")
    print()


def _installed(name: str) -> bool:
    try:
        PEERS[name]("")
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main()
