"""Answers that are worked out when they are asked for the first time, and then stand in the object itself.

As `functools.cached_property`, without the lock that it takes up to Python 3.11: a page has twenty such answers, and each
page is read by one thread.
"""

from collections.abc import Callable
from typing import Generic, Self, TypeVar, overload

Owner = TypeVar("Owner")
T = TypeVar("T")


class lazily(Generic[Owner, T]):
    """A method as a property that is worked out once."""

    def __init__(self, work: Callable[[Owner], T]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Owner]) -> Self: ...

    @overload
    def __get__(self, instance: Owner, owner: type[Owner]) -> T: ...

    def __get__(self, instance: Owner | None, owner: type[Owner]) -> Self | T:
        if instance is None:
            return self
        answer = instance.__dict__[self._name] = self._work(instance)  # found there the next time
        return answer
