"""Through how many files a story goes from the choice of a page to being told, live on a Newsroom and in a replay.

Every call of a function of the package is noted. Live there is one forager and no recrawl cycle, so that the calls between a
choice and its story belong to that story. In a replay kernels run as plain Python, so that they count too, and stories are
told in batches: what is counted is all files of a replay.

    python tests/bench/story_walk.py
"""

import sys
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

import forager
from forager.clock import LoopClock
from forager.kernel import interpreted
from forager.library.playback import make_replay
from forager.newsroom.newsroom import Newsroom
from forager.settings import load_settings
from tests.newsroom_tape import tape_of_newsroom
from tests.virtual import QUICK, Crawled

ROOT = f"{Path(forager.__file__).parent}/"
ALONE = [
    *(f"reinforcing.population.{name}=1" for name in ("first", "least", "most")),
    "crawl.recrawl_share=0",
]


class Walk:
    """A profiler that notes in which file each call of ours goes."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.walks: list[list[str]] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT) or "/newsroom/" in code.co_filename:
            return
        file = code.co_filename.removeprefix(ROOT)
        if code.co_name == "choose" and file == "core/agent.py":
            self.files = []
        self.files.append(file)
        if code.co_name == "told":
            self.walks.append(self.files.copy())


def room(file: str) -> str:
    return file.rpartition("/")[0]


def changes(places: list[str]) -> int:
    return sum(one != other for one, other in pairwise(places))


def live() -> None:
    walk = Walk()
    crawled = Crawled(load_settings(None, [*QUICK, *ALONE], {}).settings)
    sys.setprofile(walk)
    crawled.run(2.0)
    sys.setprofile(None)
    files = median(len(set(one)) for one in walk.walks)
    rooms = [[room(file) for file in one] for one in walk.walks]
    print(
        f"live, median of {len(walk.walks)} stories: {files:g} files in {median(len(set(one)) for one in rooms):g} rooms, "
        f"{median(map(changes, walk.walks)):g} changes of file, {median(map(changes, rooms)):g} changes of room"
    )


def replayed() -> None:
    walk = Walk()
    settings = load_settings(None, ["newsroom.days=1", "newsroom.pace=0.3", "newsroom.backlog=12h"], {}).settings
    tape = tape_of_newsroom(Newsroom(settings.newsroom, LoopClock(settings.newsroom.start)))
    replay = make_replay(tape, settings, budget=30.0, time_limit=3 * 3600.0, tell=lambda event: None)
    with interpreted():
        sys.setprofile(walk)
        replay.run()
        sys.setprofile(None)
    print(f"replay: {len(set(walk.files))} files in {len({room(file) for file in walk.files})} rooms")


if __name__ == "__main__":
    live()
    replayed()
