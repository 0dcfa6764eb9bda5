"""Splices, derivations, and the oracle that finds a shortest derivation."""

from textsplice.oracle.batch import Derivations, derive_corpus
from textsplice.oracle.continuing import Continuing, CostToGo
from textsplice.oracle.derivation import Derivation
from textsplice.oracle.derive import derive
from textsplice.oracle.left_to_right import Place, lrt_oracle, span_oracle, token_places
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.pricing import Certificate, LeastDerivation, Pricing
from textsplice.oracle.splice import Origin, Splice, provenance, replay, trace

__all__ = [
    "Certificate",
    "Continuing",
    "CostToGo",
    "Derivation",
    "Derivations",
    "LeastDerivation",
    "Numbering",
    "Origin",
    "Place",
    "Pricing",
    "Splice",
    "derive",
    "derive_corpus",
    "lrt_oracle",
    "provenance",
    "replay",
    "span_oracle",
    "token_places",
    "trace",
]
