"""From a corpus to a prepared folder, and looking into one."""

from textsplice.callable_module import make_callable
from textsplice.prepare.build import prepare

__all__ = ["prepare"]

make_callable(__name__)
