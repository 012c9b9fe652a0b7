"""The settings of the store on disk."""

from dataclasses import dataclass

from forager.units import Count, Duration, Size


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How crawl.db is written and checked."""

    power_safe: bool = False
    """Whether what was acknowledged survives power loss too (one disk flush per batch), not only kill -9; ours."""
    batch_wait: Duration = 0.0
    """Seconds a batch waits for more calls before it is written; 0: written as soon as the writer is free, calls that
    arrive meanwhile share the next batch; ours, by measurement."""
    batch_rows: Count = 5000
    """Rows after which a batch waits no longer; ours."""
    check_up_to: Size = 100_000_000
    """Bytes up to which crawl.db is checked page by page when it is opened (a quarter of a second); of a larger one only
    what is read; ours."""
