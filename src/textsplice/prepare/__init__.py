"""From a corpus to a prepared folder, and looking into one."""

from textsplice.prepare.build import prepare
from textsplice.prepare.folder import Prepared, PreparedSplit, sources_of

__all__ = ["Prepared", "PreparedSplit", "prepare", "sources_of"]
