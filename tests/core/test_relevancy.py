import math
from dataclasses import replace

import pytest

from forager.core.agent import ReinforcingAgent
from forager.core.findings import Reinforcement, Sighting
from forager.core.judge import RELEVANT, SENT, reward_by, reward_for
from forager.core.parameters import ForagerSettings, ReinforcingSettings, RelevancySettings
from forager.core.shared import Shared
from forager.errors import SettingsError
from forager.settings import load_settings
from forager.terms import NOBODY, UrlId

HOUR = 3600.0
NOW = 100 * HOUR
FIRST = Sighting(UrlId(1), NOW, version=1, text_print=1, published=NOW)


def agent_for(identity: str = "story") -> ReinforcingAgent:
    relevancy = RelevancySettings(identity=identity)  # type: ignore[arg-type]
    return ReinforcingAgent(ReinforcingSettings(relevancy=relevancy), ForagerSettings(), seed=1)


def judge(agent: ReinforcingAgent, **more: float) -> list[Reinforcement]:
    sighting, shared = replace(FIRST, **more), Shared.fresh(agent.forager_settings)
    return agent.judge(sighting, UrlId(-1), NOW, shared, NOBODY)


def test_only_a_relevant_document_earns_the_reward_in_kernels_as_elsewhere() -> None:
    agent = ReinforcingAgent(
        ReinforcingSettings(relevancy=RelevancySettings(reward=2.0, penalty=-0.5)), ForagerSettings(), seed=1
    )
    assert [reward_for(agent.settings.relevancy, became) for became in (SENT, SENT | RELEVANT)] == [-0.5, 2.0]
    assert [reward_by(agent.rules[0], became) for became in (SENT, SENT | RELEVANT)] == [-0.5, 2.0]


def test_the_first_to_bring_a_young_document_is_rewarded_and_the_second_punished() -> None:
    agent = agent_for()
    (first,), (second,) = judge(agent), judge(agent)
    assert (first.amount, first.relevant) == (100.0, True)
    assert (second.amount, second.relevant) == (-1.0, False)


def test_old_and_undated_documents_are_not_judged_nor_remembered() -> None:
    agent = agent_for()
    assert not judge(agent, published=NOW - 24 * HOUR - 1)
    assert not judge(agent, published=math.nan)
    assert judge(agent, published=NOW - 24 * HOUR)[0].relevant


def test_a_document_is_the_same_by_version_url_or_text() -> None:
    cases = {"version": [True, True], "url": [False, True], "text": [False, False], "story": [False, False]}
    for identity, again in cases.items():
        agent = agent_for(identity)
        judge(agent)
        assert [judge(agent, version=2)[0].relevant, judge(agent, url=2, version=3)[0].relevant] == again


def test_with_a_focus_only_documents_on_topic_are_relevant() -> None:
    agent = agent_for()
    agent.on_topic = lambda version: version == 7
    assert not judge(agent)[0].relevant
    assert not judge(agent, version=7)[0].relevant  # a document is judged once, on topic or not
    assert judge(agent, url=2, version=7, text_print=2)[0].relevant


def test_one_setting_says_how_old_news_may_be_to_foragers_agent_and_expectation() -> None:
    settings = load_settings(None, ["forager.max_age=2h"]).settings
    agent = ReinforcingAgent(settings.reinforcing, settings.forager, seed=1)
    assert Shared.fresh(settings.forager).visits.max_age == 2 * HOUR
    assert not judge(agent, published=NOW - 3 * HOUR)
    for other in ("reinforcing.relevancy.max_age", "forager.expectation.max_age"):
        with pytest.raises(SettingsError):
            load_settings(None, [f"{other}=2h"])
