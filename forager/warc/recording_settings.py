"""The knobs of a recording."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from forager.units import Count, Duration, Size


@dataclass(frozen=True, slots=True)
class RecordingSettings:
    """The WARC recording of a crawl."""

    enabled: bool = True
    """Whether a crawl writes WARC files (ours)."""
    max_size: Size = 250_000_000
    """Bytes after which a file is closed and the next one begun (ours)."""
    max_age: Duration = 6 * 3600.0
    """Seconds after which a file is closed when the next exchange comes (ours)."""
    level: Annotated[int, Field(ge=0, le=9)] = 2
    """How hard to compress: 0 to 3 with ISA-L (fast), 4 to 9 with zlib (slow, a few percent smaller) (ours)."""
    queue: Size = 64_000_000
    """Bytes that may wait for the writer; beyond it, whoever fetches waits too (ours)."""
    remember: Count = 1_000_000
    """Bodies and URLs remembered, so that a repeated body is written once (ours)."""
