"""Settings of a recording."""

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
    """File size in bytes at which the next file begins (ours)."""
    max_age: Duration = 6 * 3600.0
    """Age in seconds at which a file is closed when the next exchange comes (ours)."""
    level: Annotated[int, Field(ge=0, le=9)] = 2
    """Compression level: 0 to 3 with ISA-L (fast), 4 to 9 with zlib (slow, a few percent smaller) (ours)."""
    queue: Size = 64_000_000
    """Bytes that may wait for the writer; beyond it, fetches wait too (ours)."""
    remember: Count = 1_000_000
    """Number of bodies and URLs remembered, so that a repeated body is written once (ours)."""
