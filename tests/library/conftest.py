from collections.abc import Iterator

import pytest

from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from tests.served import served_newsroom


@pytest.fixture(scope="session")
def newsroom() -> Iterator[Newsroom]:
    with served_newsroom(NewsroomSettings(pace=40.0)) as served:
        yield served
