"""One BLAS thread where matrices are small.

A hundred by hundred eigendecomposition gains nothing from several threads and, on a busy machine, loses a hundredfold:
BLAS threads that wait for each other spin. Work is shared out over folds and blocks instead (`n_jobs`).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: Finding the libraries costs milliseconds; once is enough.
_controller = cache(ThreadpoolController)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread within a ``with`` block."""
    return _controller().limit(limits=1, user_api="blas")
