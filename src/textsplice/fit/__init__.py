"""From a stranger's file to a system that writes: `textsplice fit`, and `textsplice.fit(…)`."""

from __future__ import annotations

from textsplice.callable_module import make_callable
from textsplice.fit.steps import Fitted, fit

__all__ = ["Fitted", "fit"]

make_callable(__name__)
