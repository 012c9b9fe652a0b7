"""The final figures of a run as JSON: what `--json` prints, and `statistics.json` in the run directory."""

import json
from pathlib import Path
from typing import Any

from forager.core.agent import ReinforcingAgent
from forager.core.scores import ForagerRecord
from forager.engine.scope import Skipped
from forager.errors import OutputError
from forager.report.account import Account

FILE = "statistics.json"
HOSTS = 10
"""Hosts named for each reason of leaving URLs out (ours)."""


def run_facts(account: Account, agent: ReinforcingAgent, skipped: Skipped | None = None) -> dict[str, Any]:
    """What a run came to: its account, everyone who ever lived, and what was left out."""
    facts = account.facts()
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
    }


def write_statistics(facts: dict[str, Any], run_dir: Path) -> None:
    """The final figures of a run, as `--json` prints them, beside its database."""
    path = run_dir / FILE
    try:
        path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); make room, the crawl itself is kept"
        ) from None


def skipped_facts(skipped: Skipped) -> dict[str, Any]:
    """What was left out: links by reason, with the hosts that had most of them and an example."""
    facts: dict[str, Any] = {}
    for skip in skipped:
        one = facts.setdefault(skip.reason, {"links": 0, "hosts": {}, "example": skip.example})
        one["links"] += skip.count
        if len(one["hosts"]) < HOSTS:
            one["hosts"][skip.host] = skip.count
    return facts
