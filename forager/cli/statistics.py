"""Final figures of a run as JSON: the output of `--json`, and `statistics.json` in the run directory."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from forager.core.agent import ReinforcingAgent
from forager.core.fleet import ForagerRecord
from forager.engine.scope import Skipped
from forager.errors import OutputError
from forager.report.account import Account
from forager.store.rundir import own_file

FILE = "statistics.json"
HOSTS = 10
"""Number of hosts listed per reason for skipping URLs (ours)."""


def run_facts(account: Account, agent: ReinforcingAgent, skipped: Skipped | None = None) -> dict[str, Any]:
    """Results of a run: its account, all foragers that ever lived, and what was skipped."""
    facts = account.facts() | {"kind": agent.forager_settings.label, "profit": {"decided": agent.decided}}
    facts["foragers"]["kinds"] = Counter(one.kind.value for one in agent.foragers.values())
    facts["foragers"]["list"] = [_life(record) for record in agent.records.values()]
    return facts if skipped is None else facts | {"skipped": skipped_facts(skipped)}


def _life(record: ForagerRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "kind": record.kind.value,
        "score": round(record.score, 3),
        "sent": record.sent,
        "relevant": record.relevant,
        "downloads": record.downloads,
        "parent": record.parent,
        "born": record.born,
        "deleted": record.deleted,
        "parameters": {key: round(value, 4) for key, value in record.genes.items()},
    }


def write_statistics(facts: dict[str, Any], run_dir: Path) -> None:
    """Writes the final figures into the run directory, as `--json` prints them."""
    path = run_dir / FILE
    try:
        with open(path, "w", encoding="utf-8", opener=own_file) as file:
            file.write(json.dumps(facts, indent=1) + "\n")
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); make room, the crawl itself is kept"
        ) from None


def skipped_facts(skipped: Skipped) -> dict[str, Any]:
    """What was skipped: links by reason, with the hosts that had most of them and an example."""
    facts: dict[str, Any] = {}
    for skip in skipped:
        one = facts.setdefault(skip.reason, {"links": 0, "hosts": {}, "example": skip.example})
        one["links"] += skip.count
        if len(one["hosts"]) < HOSTS:
            one["hosts"][skip.host] = skip.count
    return facts
