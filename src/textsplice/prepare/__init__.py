"""From a corpus to a prepared folder, and looking into one."""

from textsplice.prepare.build import prepare

__all__ = ["prepare"]
