"""What a replay is given is made to fit its tape."""

from dataclasses import replace
from typing import cast

import numpy as np

from forager.core.agent_settings import ReinforcingSettings
from forager.core.parameters import ForagerSettings, Identity
from forager.core.shared import Shared
from forager.tape.tape import Tape
from forager.tape.truth import Documents


def fitted(
    tape: Tape, foragers: ForagerSettings, reinforcing: ReinforcingSettings
) -> tuple[ForagerSettings, ReinforcingSettings]:
    """The settings with the tape's identity of documents and length of states."""

    def identity(given: Identity) -> Identity:
        own = "url" if tape.identity == "link" else tape.identity
        return cast("Identity", own) if given == "story" else given

    relevancy = replace(reinforcing.relevancy, identity=identity(reinforcing.relevancy.identity))
    states = replace(foragers.states, dimension=tape.states.shape[1] or foragers.states.dimension)
    return (
        replace(foragers, identity=identity(foragers.identity), states=states),
        replace(reinforcing, relevancy=relevancy),
    )


def shared_for(tape: Tape, foragers: ForagerSettings) -> Shared:
    """What a fleet knows together, with room for the whole tape and all states on it."""
    shared = Shared.fresh(foragers)
    shared.visits.reserve(tape.pages)
    shared.states.reserve(tape.pages)
    if len(tape.states):
        shared.states.add(np.asarray(tape.states))
    return shared


class TapeNumbers:
    """The numbers of the documents of a tape."""

    def __init__(self, truth: Documents) -> None:
        self.truth = truth

    def __len__(self) -> int:
        return len(self.truth)

    def of(self, url: int, version: int, text_print: int) -> tuple[int, int]:
        return self.truth.of_version.item(version), -1
