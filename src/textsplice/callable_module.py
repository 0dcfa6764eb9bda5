"""Packages that can be called: `textsplice.prepare` is a room of this house and a function for its users."""

from __future__ import annotations

import sys
from types import ModuleType


class CallableModule(ModuleType):
    """A module that passes a call on to its function of the same name."""

    def __call__(self, *arguments: object, **options: object) -> object:
        function = getattr(self, self.__name__.rpartition(".")[2])
        return function(*arguments, **options)


def make_callable(name: str) -> None:
    """Makes the module `name` callable."""
    sys.modules[name].__class__ = CallableModule
