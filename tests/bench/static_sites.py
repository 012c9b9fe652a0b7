"""Crawl living sites made by static site generators, live, and judge by what was published and by the servers' logs.

python tests/bench/static_sites.py FOLDER [--systems pelican,plain,nikola,jekyll] [--minutes 9]

Each site has 120 posts of the last 60 days and gets a new one every 20 to 40 s, for which it is built anew. `plain` is
Pelican's simple theme without feeds. Needs `pip install pelican markdown nikola`, and jekyll with its theme minima and
jekyll-feed from the system's packages. The sites have the addresses 127.0.0.31 and following, port 8080.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

_WORDS = """
river council market school bridge winter storm budget league doctor farmer museum harbour railway election library festival
worker engine garden village minister company prize season voter student teacher border price energy water traffic hospital
forest island court police union bank tower coast valley concert climate project report study plan debate
"""
WORDS = _WORDS.split()
CATEGORIES = ("Politics", "Sport", "Culture", "Business", "Local", "Science")
AUTHORS = ("Anna Berg", "Tom Reed", "Ines Costa", "Karl Voss")
OLD_POSTS, OLD_DAYS = 120, 60
SETTLED = 300.0
"""Seconds after which a crawl should know a site."""


@dataclass(frozen=True, slots=True)
class Post:
    number: int
    title: str
    paragraphs: tuple[str, ...]
    category: str
    tags: tuple[str, ...]
    author: str
    when: datetime

    @property
    def slug(self) -> str:
        return self.title.lower().replace(" ", "-")


def written(number: int, when: datetime, rng: random.Random) -> Post:
    def sentence() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(8, 18))).capitalize() + "."

    verb = rng.choice(["opens", "wins", "loses", "plans", "fears", "greets"])
    title = f"{rng.choice(WORDS).capitalize()} {verb} {rng.choice(WORDS)} {rng.choice(WORDS)} {number}"
    paragraphs = tuple(" ".join(sentence() for _ in range(rng.randint(3, 6))) for _ in range(rng.randint(4, 9)))
    tags = tuple(rng.sample(WORDS, 3))
    return Post(number, title, paragraphs, rng.choice(CATEGORIES), tags, rng.choice(AUTHORS), when)


@dataclass(frozen=True, slots=True)
class System:
    """How a generator is set up, fed and run; braces are filled in."""

    files: dict[str, str]
    post_file: str
    post_head: str
    post_path: str
    build: tuple[str, ...]
    init: tuple[str, ...] = ()


_PELICAN = (
    "SITEURL='{url}'\nSITENAME='The Static Times'\nTIMEZONE='UTC'\nDEFAULT_PAGINATION=10\nPATH='content'\n"
    "AUTHOR_FEED_ATOM=None\nTRANSLATION_FEED_ATOM=None\nFEED_MAX_ITEMS=10\n"
)
_ABOUT = "Title: About\n\nThis paper was made for a test, by nobody in particular, and has no other purpose than that."


def _pelican(more: str) -> System:
    return System(
        {"conf.py": _PELICAN + more, "content/pages/about.md": _ABOUT},
        "content/{slug}.md",
        "Title: {title}\nDate: {day}+00:00\nCategory: {category}\nTags: {tags}\nAuthor: {author}\nSlug: {slug}\n\n",
        "/{slug}.html",
        ("{bin}/pelican", "-q", "-s", "conf.py", "-o", "output"),
    )


SYSTEMS = {
    "pelican": _pelican("FEED_ALL_ATOM='feeds/all.atom.xml'\nCATEGORY_FEED_ATOM='feeds/{{slug}}.atom.xml'\n"),
    "plain": _pelican("THEME='simple'\nFEED_ALL_ATOM=None\nCATEGORY_FEED_ATOM=None\n"),
    "nikola": System(
        {"conf.py": "\nSITE_URL='{url}/'\nTIMEZONE='UTC'\nBLOG_TITLE='The Nikola Post'\nFEED_LENGTH=10\n"},
        "posts/{slug}.md",
        "<!--\n.. title: {title}\n.. slug: {slug}\n.. date: {day} UTC\n.. tags: {tags}\n.. category: {category}\n"
        ".. author: {author}\n-->\n\n",
        "/posts/{slug}/",
        ("{bin}/nikola", "build", "-q"),
        ("{bin}/nikola", "init", "-q", "."),
    ),
    "jekyll": System(
        {
            "_config.yml": "title: The Jekyll Journal\nurl: {url}\ntheme: minima\nplugins: [jekyll-feed]\n"
            "permalink: /:title/\ntimezone: UTC\nfuture: true\n",
            "index.md": "---\nlayout: home\n---\n",
        },
        "_posts/{date}-{slug}.md",
        "---\nlayout: post\ntitle: {title}\ndate: {day} +0000\ncategories: {category}\nauthor: {author}\n---\n\n",
        "/{slug}/",
        ("jekyll", "build", "-q", "-d", "output"),
    ),
}


@dataclass(slots=True)
class Site:
    """A site, its server and its log."""

    name: str
    address: str
    folder: Path
    rng: random.Random
    published: dict[str, float] = field(default_factory=dict)
    """Address of each new post, and when it was there to be found."""
    asked: list[tuple[float, str, int]] = field(default_factory=list)

    @property
    def system(self) -> System:
        return SYSTEMS[self.name]

    @property
    def url(self) -> str:
        return f"http://{self.address}:8080"

    def begin(self) -> None:
        self.folder.mkdir(parents=True)
        if self.system.init:
            self._run(self.system.init)
        for name, text in self.system.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            before = path.read_text() if path.exists() else ""
            path.write_text(before + text.format(url=self.url))
        now = datetime.now(UTC)
        for number in range(OLD_POSTS):
            age = timedelta(days=OLD_DAYS * (OLD_POSTS - number) / OLD_POSTS, hours=1)
            self._add(written(number, now - age, self.rng))
        self._run(self.system.build)
        threading.Thread(target=self._server().serve_forever, daemon=True).start()

    def publish_until(self, end: float) -> None:
        number = OLD_POSTS
        while time.time() < end:
            time.sleep(self.rng.uniform(20, 40))
            post = written(number, datetime.now(UTC), self.rng)
            self._add(post)
            self._run(self.system.build)
            self.published[self.url + self.system.post_path.format(slug=post.slug)] = time.time()
            number += 1

    def _add(self, post: Post) -> None:
        said = {
            "title": post.title, "slug": post.slug, "category": post.category, "author": post.author,
            "tags": ", ".join(post.tags), "day": f"{post.when:%Y-%m-%d %H:%M:%S}", "date": f"{post.when:%Y-%m-%d}",
        }  # fmt: skip
        path = self.folder / self.system.post_file.format(**said)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.system.post_head.format(**said) + "\n\n".join(post.paragraphs) + "\n")

    def _run(self, command: tuple[str, ...]) -> None:
        programs = Path(sys.executable).parent
        subprocess.run(
            [part.format(bin=programs) for part in command], cwd=self.folder, check=True, capture_output=True
        )

    def _server(self) -> ThreadingHTTPServer:
        site = self

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments: object) -> None:
                super().__init__(*arguments, directory=str(site.folder / "output"))

            def log_message(self, format: str, *arguments: object) -> None:
                pass

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                site.asked.append((time.time(), self.path, int(code)))

        return ThreadingHTTPServer((self.address, 8080), Handler)

    def judge(self, stories: list[dict[str, str]], start: float, end: float) -> str:
        told = {one["url"]: datetime.fromisoformat(one["fetched"]).timestamp() for one in stories}
        new = {url: at for url, at in self.published.items() if start <= at <= end - 60}
        delays = sorted(told[url] - at for url, at in new.items() if url in told)
        late = quantiles(delays, n=10)[-1] if len(delays) > 1 else float("nan")
        posts = re.compile(re.escape(self.url) + re.escape(self.system.post_path).replace(r"\{slug\}", r"[^/]+-\d+"))
        others = [url for url in told if url.startswith(self.url + "/") and not posts.fullmatch(url)]
        asked = [at for at, _, _ in self.asked if start <= at <= end]
        settled = sum(at > start + SETTLED for at in asked), sum(at > start + SETTLED for at in new.values())
        gap = min(b - a for a, b in pairwise(asked))
        middle = median(delays) if delays else float("nan")
        return (
            f"| {self.name} | {len(new)} | {len(delays)} | {middle:.0f} s, {late:.0f} s | {len(asked)} | "
            f"{settled[0] / max(1, settled[1]):.1f} | {len(others)} | {gap:.2f} s |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--minutes", type=float, default=9)
    given = parser.parse_args()
    names = given.systems.split(",")
    sites = [Site(name, f"127.0.0.{31 + n}", given.folder / name, random.Random(name)) for n, name in enumerate(names)]
    for site in sites:
        site.begin()
    end = time.time() + 60 * given.minutes + 30
    for site in sites:
        threading.Thread(target=site.publish_until, args=(end,), daemon=True).start()
    start, out = time.time(), given.folder / "stories.jsonl"
    command = [
        sys.executable,
        "-m",
        "forager",
        "crawl",
        str(given.folder / "run"),
        "-o",
        str(out),
        "--no-dashboard",
        "-q",
    ]
    command += ["--time-limit", f"{given.minutes}m", "-s", "live.allow_addresses=[127.0.0.0/8]"]
    command += ["-s", "live.user_agent=bench/1 (+mailto:bench@example.org)"]
    subprocess.run([*command, *(part for site in sites for part in ("--seed", site.url + "/"))], check=True)
    stories = [json.loads(line) for line in out.read_text().splitlines()]
    print("| system | posts | told | delay, median, p90 | requests | per post after 5 min | no posts | least gap |")
    print("|---|---|---|---|---|---|---|---|")
    for site in sites:
        print(site.judge(stories, start, start + 60 * given.minutes))


if __name__ == "__main__":
    main()
