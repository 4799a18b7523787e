"""The reference of what a thread is about: one round, one job, one thing that somebody said.

It stands in the log's lines, in the audit and in what people are told, so that one can be found
from the other. It is context, and handed on to threads that work for the same thing.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

_current: ContextVar[str] = ContextVar("reference", default="")

Given = ParamSpec("Given")
Found = TypeVar("Found")


def current() -> str:
    """The reference of what is under way in this thread, "" where nothing is."""
    return _current.get()


@contextmanager
def under(reference: str) -> Iterator[str]:
    """What happens in the block is about this."""
    token = _current.set(reference)
    try:
        yield reference
    finally:
        _current.reset(token)


class CarryingThreads(ThreadPoolExecutor):
    """Threads in which the reference of whoever submits the work goes on."""

    def submit(
        self, fn: Callable[Given, Found], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Found]:
        context = copy_context()
        return super().submit(lambda: context.run(fn, *args, **kwargs))
