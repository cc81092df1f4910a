"""One BLAS thread while many small problems are solved: waking more costs several times what they save."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries: a few milliseconds, once


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS runs on the calling thread."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context
