"""Saves the reinforcing agent with its whole fleet, and brings it back as it was."""

from collections.abc import Callable

import msgspec
import numpy as np

from forager.errors import InputError
from forager.foragers.keeping import load_forager, save_forager
from forager.foragers.settings import ForagerSettings
from forager.foragers.sighting import Finding
from forager.reinforcing.agent import ReinforcingAgent
from forager.reinforcing.scores import Record
from forager.reinforcing.settings import ReinforcingSettings

_FORM = 1


class _Saved(msgspec.Struct):
    form: int
    seed: int
    turns: int
    relevant: int
    downloads: int
    accepted: bytes
    records: list[Record]
    foragers: list[bytes]


def save_agent(agent: ReinforcingAgent) -> bytes:
    """Everyone alive, everyone's record, every accepted document, and whose turn it is."""
    saved = _Saved(
        form=_FORM,
        seed=agent.seed,
        turns=agent.turns,
        relevant=agent.scores.relevant,
        downloads=agent.scores.downloads,
        accepted=np.array(sorted(agent.relevancy.accepted), dtype=np.uint64).tobytes(),
        records=list(agent.records.values()),
        foragers=[save_forager(forager) for forager in agent.foragers.values()],
    )
    return msgspec.msgpack.encode(saved)


def load_agent(
    saved: bytes,
    settings: ReinforcingSettings,
    foragers: ForagerSettings,
    on_topic: Callable[[Finding], bool] | None = None,
) -> ReinforcingAgent:
    """The agent as it was; an `InputError` if these bytes are none."""
    try:
        held = msgspec.msgpack.decode(saved, type=_Saved)
    except msgspec.DecodeError as trouble:
        raise InputError(f"the saved fleet cannot be read ({trouble}); delete it and start afresh") from None
    if held.form != _FORM:
        raise InputError(f"the saved fleet has format {held.form}, this program reads {_FORM}; start afresh")
    agent = ReinforcingAgent(settings, foragers, held.seed, on_topic)
    agent.turns = held.turns
    agent.scores.relevant, agent.scores.downloads = held.relevant, held.downloads
    pairs = np.frombuffer(held.accepted, dtype=np.uint64).reshape(-1, 2).tolist()
    agent.relevancy.accepted = {(kind, value) for kind, value in pairs}
    agent.records = {record.id: record for record in held.records}
    for each in held.foragers:
        forager = load_forager(each, foragers)
        agent.foragers[forager.id] = forager
    return agent
