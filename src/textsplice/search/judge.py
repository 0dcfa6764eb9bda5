"""The judge: another run, whose likelihood of a text has a say in the choice among candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from textsplice.corpus.table import Example, Table
from textsplice.errors import InputError
from textsplice.policy.problem import Candidate
from textsplice.ragged import Ragged
from textsplice.search.propose import PolicyProposer, Proposal
from textsplice.text.tokens import Tokenizer, detokenize, tokenize
from textsplice.text.vocabulary import BEGIN_ID, END_ID, Vocabulary

Opinion = Callable[[Sequence[Candidate]], Sequence[float]]


class Judge(Protocol):
    """A run that can say how probable it finds texts; `Splicer` is one."""

    @property
    def weights(self) -> str | None:
        """What its weights are called in the rows that it wrote or had a say in."""
        ...

    def likelihoods(self, table: Table, texts: Sequence[str]) -> list[float]:
        """The mean log-probability per token of each text, as a text of this table."""
        ...


def opinion(judge: Judge, proposal: Proposal, tokenizer: Tokenizer) -> Opinion:
    """How probable a judge finds candidates for a table."""

    def of(candidates: Sequence[Candidate]) -> list[float]:
        tokens = ([proposal.words[n] for n in c.ids if n not in (BEGIN_ID, END_ID)] for c in candidates)
        texts = [detokenize(each, tokenizer) for each in tokens]
        return judge.likelihoods(proposal.example.table, texts)

    return of


def likelihoods(proposer: PolicyProposer, table: Table, texts: Sequence[str], *, where: str) -> list[float]:
    """The mean log-probability per token that a policy gives to texts of a table."""
    tokenizer = proposer.offers.store.tokenizer
    try:
        return log_probabilities(proposer, table, [tokenize(text, tokenizer) for text in texts])
    except InputError as error:
        raise InputError(error.what, where=where, remedy=error.remedy) from error


def log_probabilities(proposer: PolicyProposer, table: Table, texts: Sequence[Sequence[str]]) -> list[float]:
    """The mean log-probability per token that a policy gives to the tokens of texts of a table."""
    task = proposer.tasks([Example("", table, None)], ())[0]
    numbers = Vocabulary(tuple(task.problem.words), proposer.offers.vocabulary.embedded)
    tokens = Ragged.from_rows([BEGIN_ID, *numbers.encode(text), END_ID] for text in texts)
    totals = proposer.policy.log_likelihoods(task.problem.case, tokens, proposer.encodings.of([task.rows]))
    return (totals.numpy() / (tokens.lengths - 1)).tolist()
