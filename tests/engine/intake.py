"""An ingest on a store, with a page table of its own."""

from collections.abc import Callable, Sequence
from typing import Any

from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.engine.corrections import Corrections
from forager.engine.ingest import Ingest
from forager.engine.scope import Scope
from forager.events import Event
from forager.pages.pages_settings import PagesSettings
from forager.store.store import Store
from forager.terms import Url
from forager.web.web_settings import ScopeSettings, VisitSettings


def ingest_for(
    store: Store, seeds: Sequence[Url], note: Callable[[Event], None] = lambda event: None, **more: Any
) -> Ingest:
    table, scope = PageTable(ExpectationSettings()), Scope(seeds, ScopeSettings())
    return Ingest(store, scope, VisitSettings(), PagesSettings(), table, Corrections(share=0.1), note, **more)
