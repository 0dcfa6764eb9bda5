"""Rows that can't be read, where the others are wanted all the same."""

from __future__ import annotations

from textsplice.errors import CorpusError


class BadRows:
    """The problems of rows that were skipped, each once, however often the file is read."""

    def __init__(self, most_kept: int = 1000) -> None:
        self.kept: list[CorpusError] = []
        """The first of them."""
        self._most_kept = most_kept
        self._seen: set[str | None] = set()

    def add(self, problem: CorpusError) -> None:
        """Records the problem of a row, which `problem.where` names."""
        if problem.where in self._seen:
            return
        self._seen.add(problem.where)
        if len(self.kept) < self._most_kept:
            self.kept.append(problem)

    def __len__(self) -> int:
        return len(self._seen)
