import math

import pytest
from forager.reinforcing.relevancy import Relevancy

from forager.errors import SettingsError
from forager.foragers.shared import Shared
from forager.foragers.sighting import Finding
from forager.reinforcing.agent import ReinforcingAgent
from forager.reinforcing.settings import RelevancySettings
from forager.settings import load

HOUR = 3600.0
DAY = 24 * HOUR
NOW = 100 * HOUR


def finding(url: int = 1, version: int = 1, text_print: int = 1, published: float = NOW) -> Finding:
    return Finding(0, url, version, text_print, published, sent_in=0, step=0, revealed_by=-1)


def test_the_first_to_bring_a_young_document_is_rewarded_and_the_second_punished() -> None:
    relevancy = Relevancy(RelevancySettings(), DAY)
    first, second = relevancy.judge(finding(), NOW), relevancy.judge(finding(), NOW)
    assert (first.amount, first.relevant) == (100.0, True)
    assert (second.amount, second.relevant) == (-1.0, False)


def test_old_and_undated_documents_are_not_relevant_nor_remembered() -> None:
    relevancy = Relevancy(RelevancySettings(), DAY)
    assert not relevancy.judge(finding(published=NOW - 24 * HOUR - 1), NOW).relevant
    assert not relevancy.judge(finding(published=math.nan), NOW).relevant
    assert relevancy.judge(finding(published=NOW - 24 * HOUR), NOW).relevant


def test_a_document_is_the_same_by_version_url_or_text() -> None:
    for identity, again in (("version", [True, True]), ("url", [False, True]), ("text", [False, False])):
        relevancy = Relevancy(RelevancySettings(identity=identity), DAY)  # type: ignore[arg-type]
        relevancy.judge(finding(), NOW)
        new_version, copy = finding(version=2), finding(url=2, version=3)
        assert [relevancy.judge(each, NOW).relevant for each in (new_version, copy)] == again


def test_with_a_focus_only_documents_on_topic_are_relevant() -> None:
    relevancy = Relevancy(RelevancySettings(), DAY, on_topic=lambda each: each.url == 7)
    assert not relevancy.judge(finding(url=1), NOW).relevant
    assert relevancy.judge(finding(url=7), NOW).relevant


def test_one_setting_says_how_old_news_may_be_to_foragers_agent_and_expectation() -> None:
    settings = load(None, ["forager.max_age=2h"]).settings
    agent = ReinforcingAgent(settings.reinforcing, settings.forager, seed=1)
    visits = Shared.fresh(settings.forager).visits
    assert (agent.relevancy.max_age, visits.max_age) == (2 * HOUR, 2 * HOUR)
    assert not agent.relevancy.judge(finding(published=NOW - 3 * HOUR), NOW).relevant
    for other in ("reinforcing.relevancy.max_age", "forager.expectation.max_age"):
        with pytest.raises(SettingsError):
            load(None, [f"{other}=2h"])
