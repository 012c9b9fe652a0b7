"""Saves the reinforcing agent with its whole fleet, and brings it back as it was."""

from collections.abc import Callable

import msgspec
import numpy as np

from forager.core.agent import ReinforcingAgent
from forager.core.agent_settings import ReinforcingSettings
from forager.core.judge import KeyNumbers
from forager.core.parameters import ForagerSettings
from forager.core.saved import load_forager, save_forager
from forager.core.scores import ForagerRecord
from forager.errors import InputError

_FORM = 1


class _Saved(msgspec.Struct):
    form: int
    seed: int
    turns: int
    relevant: int
    downloads: int
    accepted: bytes
    records: list[ForagerRecord]
    foragers: list[bytes]


def save_agent(agent: ReinforcingAgent) -> bytes:
    """Everyone alive, everyone's record, every accepted document, and whose turn it is."""
    sent_as, known_as, state = agent.sent_as, agent.known_as, agent.flock.state
    assert isinstance(sent_as, KeyNumbers) and isinstance(known_as, KeyNumbers)
    tally = state.tally[0]
    saved = _Saved(
        form=_FORM,
        seed=agent.seed,
        turns=int(tally["turns"]),
        relevant=int(tally["relevant"]),
        downloads=int(tally["worked"]),
        accepted=np.array(known_as.marked(state.accepted), dtype=np.uint64).tobytes(),
        records=list(agent.records.values()),
        foragers=[save_forager(forager, sent_as) for forager in agent.foragers.values()],
    )
    return msgspec.msgpack.encode(saved)


def load_agent(
    saved: bytes,
    settings: ReinforcingSettings,
    foragers: ForagerSettings,
    on_topic: Callable[[int], bool] | None = None,
) -> ReinforcingAgent:
    """The agent as it was; an `InputError` if these bytes are none."""
    try:
        held = msgspec.msgpack.decode(saved, type=_Saved)
    except msgspec.DecodeError as trouble:
        raise InputError(f"the saved fleet cannot be read ({trouble}); delete it and start afresh") from None
    if held.form != _FORM:
        raise InputError(f"the saved fleet has format {held.form}, this program reads {_FORM}; start afresh")
    agent = ReinforcingAgent(settings, foragers, held.seed, on_topic)
    sent_as, known_as, flock = agent.sent_as, agent.known_as, agent.flock
    assert isinstance(sent_as, KeyNumbers) and isinstance(known_as, KeyNumbers)
    pairs = np.frombuffer(held.accepted, dtype=np.uint64).reshape(-1, 2).tolist()
    accepted = [known_as.number((kind, value)) for kind, value in pairs]
    flock.reserve(pages=0, links=0, accepted=len(known_as))
    flock.state.accepted[accepted] = True
    records = {record.id: record for record in held.records}
    for record in records.values():
        agent.remember(record)
    for each in held.foragers:
        forager = load_forager(each, flock, sent_as)
        agent.enter(forager, records[forager.id])
    tally = flock.state.tally
    tally["turns"], tally["relevant"], tally["worked"] = held.turns, held.relevant, held.downloads
    return agent
