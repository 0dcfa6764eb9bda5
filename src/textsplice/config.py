"""One TOML file per experiment, read into frozen dataclasses: the list of all settings.

An unknown key is an error that names the nearest known one. `configs/master.toml` explains each.
"""

from __future__ import annotations

import difflib
import re
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar, Union, cast, get_args, get_origin

from textsplice.errors import ConfigError
from textsplice.parsing import parse_toml, read_text, short_repr

Device = Literal["auto", "cpu", "cuda", "mps"]

# Settings added after folders were first written. Their defaults are not written, so that a configuration
# that does not use them makes the same files and the same keys as before.
LATER_SETTINGS = (
    ("corpus", "targets"),
    ("corpus", "target_alternatives"),
    ("corpus", "lists"),
    ("corpus", "list_columns"),
    ("corpus", "asked"),
    ("corpus", "placeholders"),
    ("corpus", "forms"),
    ("corpus", "kinds"),
    ("neighbors", "score"),
    ("training", "device"),
    ("training", "recompute"),
    ("search", "device"),
    ("search", "max_table_tokens"),
    ("search", "proposers"),
    ("search", "writers"),
    ("search", "misplaced_values"),
    ("search", "swap_writes"),
    ("search", "seams"),
    ("search", "avoid"),
    ("search", "whole_sentences"),
    ("search", "approved_first"),
    ("search", "lexicon"),
    ("search", "alternatives"),
)
WIDEST_BEAM = 1 << 12
LARGEST = 2**31 - 1  # of all numbers in a configuration; none is below 0
# Beyond these, nothing could be made, or no machine has the memory for it.
RANGES: Mapping[str, tuple[float, float]] = {
    "corpus.max_tokens": (1, 1 << 20),
    "corpus.max_table_tokens": (1, 1 << 20),
    "neighbors.k": (1, 1 << 16),
    "policy.d_model": (1, 1 << 14),
    "policy.encoder_layers": (1, 1 << 8),
    "policy.decoder_layers": (1, 1 << 8),
    "policy.heads": (1, 1 << 10),
    "policy.ffn": (1, 1 << 16),
    "policy.dropout": (0.0, 0.99),
    "policy.max_positions": (3, 1 << 20),
    "policy.max_age": (0, 1 << 16),
    "training.learning_rate": (1e-30, LARGEST),
    "training.epsilon": (1e-30, LARGEST),
    "training.betas": (0.0, 0.999999999),
    "training.batch_sequences": (1, 1 << 20),
    "training.micro_sequences": (1, 1 << 20),
    "training.log_every": (1, LARGEST),
    "training.threads": (1, 1 << 12),
    "training.processes": (1, 1 << 12),
    "search.beam": (1, WIDEST_BEAM),
    "search.max_splices": (1, 1 << 16),
    "search.max_tokens": (1, 1 << 20),
    "search.start_neighbors": (0, 1 << 16),
    "search.batch_size": (1, 1 << 16),
}
MAX_CONFIG_BYTES = 1 << 20
CORPUS_ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".xlsx", ".xls", ".parquet")
_CONTROL = re.compile("[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """Where the records and texts are."""

    source: str = "bundled"
    text_column: str = ""
    sentences: Literal["first", "all"] = "first"
    max_tokens: int = 400
    max_table_tokens: int = 500
    too_long: Literal["error", "truncate", "drop"] = "error"
    drop_duplicates: bool = False
    splits: tuple[str, ...] = ("train", "dev", "test")
    # Remove training rows whose delexicalized text also appears in these splits.
    decontaminate: tuple[str, ...] = ()
    # A folder of texts to learn from instead of the corpus's own, as `textsplice generate` writes them.
    targets: str = ""
    # How many alternatives of each of its rows are learned too.
    target_alternatives: int = 1
    # Columns of a CSV, TSV or Excel file whose cells hold several values: "auto" finds them, "none" keeps
    # every cell whole, and "features |" names one and what separates its values.
    lists: tuple[str, ...] = ("auto",)
    # Written by `prepare`: the columns that were read so, as `generate` reads them too.
    list_columns: tuple[str, ...] = ()
    # Written by `prepare`: the fields that ask for a value where a record names them without one.
    asked: tuple[str, ...] = ()
    # Written by `prepare`: fields whose values texts say in another form, such as "price=1,000".
    forms: tuple[str, ...] = ()
    # Written by `prepare`: texts that stand where nobody has written one ("TBC"), which are left out.
    placeholders: tuple[str, ...] = ()
    # What kinds of fields there are: "auto" finds them, "id=unsaid" says so. None: as if all were said.
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextConfig:
    """How text becomes tokens."""

    tokenizer: Literal["words", "spaces"] = "words"
    mask: bool = True
    # How values are worded: "e2e", "bundled" or a TOML file.
    lexicon: str = ""


@dataclass(frozen=True, slots=True)
class NeighborsConfig:
    """Which texts a policy may splice from."""

    k: int = 20
    # How near two tables are: a name in `extensions.SCORES`.
    score: str = "fields-and-values"
    exclude: Literal["same-table", "self", "none"] = "same-table"
    # "auto", or names of yes/no fields whose value is made part of the field's name in the score.
    fold: tuple[str, ...] = ()
    # Offer only texts that say all values of their own table word for word: those are masked without a leak.
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class VocabularyConfig:
    """Which words are embedded and which may be generated."""

    embed_min_count: int = 2
    generate_min_count: int = 50
    frequent: int = 30_000


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """The shape of the network; the paper's is 6 + 6 layers, 420, 7 heads, 650."""

    # A name in `extensions.POLICIES`.
    kind: str = "full"
    d_model: int = 192
    encoder_layers: int = 3
    decoder_layers: int = 3
    heads: int = 6
    ffn: int = 384
    dropout: float = 0.1
    pre_norm: bool = True
    conditioned_second: bool = True
    max_positions: int = 512
    max_age: int = 32


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How the policy is fitted to the derivations."""

    learning_rate: float = 1e-3
    betas: tuple[float, ...] = (0.9, 0.98)
    epsilon: float = 1e-7
    weight_decay: float = 1e-3
    schedule: Literal["inverse-sqrt", "cosine", "constant"] = "inverse-sqrt"
    warmup_steps: int = 200
    total_steps: int = 0
    batch_sequences: int = 24
    micro_sequences: int = 24
    epochs: int = 100
    max_steps: int = 0
    max_minutes: float = 0.0
    clip: float = 2.0
    patience: int = 5
    # Steps; 500 is a tenth of the run's steps if these are fewer than 5,000. 0: after every epoch.
    validate_every: int = 500
    validate_sequences: int = 1000
    checkpoint_every: int = 200
    log_every: int = 20
    max_cost: int = 0
    # Train only on references that say all values of their table word for word.
    verbatim: bool = False
    seed: int = 1
    threads: int = 1
    processes: int = 2
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    tensorboard: bool = False
    device: Device = "auto"
    # Keep only what enters each layer, and compute the rest again for gradients: less memory, more time.
    recompute: bool = False


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How text is found, and which of the finished texts is given."""

    beam: int = 3
    max_splices: int = 16
    max_tokens: int = 120
    # The longest table, in tokens; 0 is corpus.max_table_tokens of the run.
    max_table_tokens: int = 0
    marginalize: bool = True
    choose: Literal["likelihood", "consensus", "typical"] = "typical"
    start_neighbors: int = 8
    slots_first: bool = True
    judge: str = ""
    # Who is asked for texts, in this order, until one has a text that obeys the rules.
    proposers: tuple[Literal["policy", "drafts", "swap"], ...] = ("policy",)
    # Before them all: an approved text that was added for the very same record is given as it is.
    approved_first: bool = True
    # Folders of lrt or copy runs whose texts are the drafts; none means this run.
    writers: tuple[str, ...] = ()
    # FULL: whether a value may take the place of another field's value in a neighbor.
    misplaced_values: Literal["free", "discouraged", "forbidden"] = "free"
    # Whether swap's texts are drafts too.
    swap_writes: bool = False
    # What each seam that no text of the store attests takes from the merit of a text.
    seams: float = 0.0
    # House style: wordings that texts have only if no other text was found. "in the riverside !area": not
    # before "area"; "restaurant ?eatType ?food": only where the record has neither.
    avoid: tuple[str, ...] = ()
    # House style: texts without a final mark, or with run-together sentences, likewise.
    whole_sentences: bool = False
    # How values are worded, where texts are chosen by their slot errors; "" is text.lexicon of the run.
    lexicon: str = ""
    # How many other texts are given with each, if there are so many; a beam of K gives K - 1 at most.
    alternatives: int = WIDEST_BEAM - 1
    batch_size: int = 32
    device: Device = "auto"

    @property
    def given(self) -> int:
        """How many texts are given at most: one, and its alternatives."""
        return min(self.beam, 1 + self.alternatives)


@dataclass(frozen=True, slots=True)
class OutputConfig:
    """Where the prepared folder and the run go; "" names them after the corpus."""

    prepared: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of one experiment."""

    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    text: TextConfig = field(default_factory=TextConfig)
    neighbors: NeighborsConfig = field(default_factory=NeighborsConfig)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    output: OutputConfig = field(default_factory=OutputConfig)

    @property
    def prepared_folder(self) -> str:
        """Where the prepared folder goes: `prepared/mine` for `mine.csv`, unless it is named."""
        return self.output.prepared or f"prepared/{self._corpus_name}"

    @property
    def run_folder(self) -> str:
        """Where the run goes: `runs/mine` for `mine.csv`, unless it is named."""
        return self.output.run or f"runs/{self._corpus_name}"

    @property
    def _corpus_name(self) -> str:
        path = self.corpus.source.split(":", 1)[-1].split("#")[0]
        return Path(path).name.split(".")[0] or "corpus"

    def to_dict(self) -> dict[str, dict[str, object]]:
        """Plain sections, as JSON and TOML hold them."""
        return asdict(self)

    def stored(self) -> dict[str, dict[str, object]]:
        """The sections as folders hold them: without later settings that have their defaults."""
        sections, defaults = self.to_dict(), Config().to_dict()
        for section, key in LATER_SETTINGS:
            if sections[section][key] == defaults[section][key]:
                del sections[section][key]
        return sections

    def with_values(self, assignments: Sequence[str], *, where: str = "--set") -> Config:
        """The same with `section.key=value` assignments applied; values are TOML, or bare words."""
        sections: dict[str, dict[str, object]] = {}
        for assignment in assignments:
            path, equals, raw = assignment.partition("=")
            section, dot, key = path.strip().partition(".")
            if not (equals and dot):
                raise ConfigError(
                    f"{short_repr(assignment)} is not of the form section.key=value.", where=where
                )
            sections.setdefault(section, {})[key] = _toml_value(raw.strip(), where)
        return _merge(self, sections, where)


def load_config(path: Path | str) -> Config:
    """Reads a TOML file over the defaults."""
    path = Path(path)
    remedy = "Name a TOML file; `configs/` holds a commented master file to start from."
    if path.suffix.lower() in CORPUS_ENDINGS:
        raise ConfigError(
            "is a corpus, not a configuration.",
            where=str(path),
            remedy=f"`textsplice fit {path}` does everything with it. Or name it in a configuration: "
            f"CONFIG.toml --set corpus.source={path}",
        )
    text = read_text(path, ConfigError, remedy=remedy, limit=MAX_CONFIG_BYTES)
    return _merge(Config(), parse_toml(text, ConfigError, str(path)), str(path))


def config_from_dict(data: Mapping[str, object], where: str) -> Config:
    """Reads plain sections, as `Config.to_dict` writes them."""
    return _merge(Config(), data, where)


def to_toml(config: Config) -> str:
    """The configuration as TOML: every setting, except later ones that have their defaults."""
    lines: list[str] = []
    for section, values in config.stored().items():
        lines.append(f"[{section}]")
        lines.extend(f"{key} = {_toml_text(value)}" for key, value in values.items())
        lines.append("")
    return "\n".join(lines)


def _toml_value(raw: str, where: str) -> object:
    try:
        found = tomllib.loads(f"value = {raw}")
    except RecursionError as error:
        raise ConfigError(f"{short_repr(raw)} is nested too deeply.", where=where) from error
    except ValueError:  # not TOML: a bare word
        return raw
    return found["value"] if len(found) == 1 else raw


def _toml_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml_text(v) for v in cast("Sequence[object]", value)) + "]"
    return repr(value)


Section = TypeVar("Section")


def _merge(base: Section, data: Mapping[str, object], where: str, prefix: str = "") -> Section:
    """`base` with the values of `data`, checked against the dataclass's annotations."""
    hints = typing.get_type_hints(type(base))
    known = [f.name for f in fields(base)]  # pyright: ignore[reportArgumentType]
    changes: dict[str, object] = {}
    for key, value in data.items():
        if key not in hints:
            raise unknown_name("setting", prefix + key, [prefix + k for k in known], where)
        current = getattr(base, key)
        if is_dataclass(current):
            if not isinstance(value, Mapping):
                raise ConfigError(f"[{key}] must be a section, not {short_repr(value)}.", where=where)
            section = cast("Mapping[str, object]", value)
            changes[key] = _merge(current, section, where, f"{key}.")
        else:
            changes[key] = _checked(value, hints[key], f"{prefix}{key}", where)
    return replace(base, **changes)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]


def unknown_name(kind: str, name: str, known: Sequence[str], where: str) -> ConfigError:
    """`there is no setting 'x'. Did you mean 'y'?`"""
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    remedy = f"Did you mean {nearest[0]!r}?" if nearest else f"Known: {', '.join(known)}."
    return ConfigError(f"there is no {kind} {short_repr(name)}.", where=where, remedy=remedy)


def _checked(value: object, hint: object, name: str, where: str) -> object:
    """`value` as the annotation `hint` wants it, or a `ConfigError`."""
    origin = get_origin(hint)
    if origin is Literal:
        if value in get_args(hint):
            return value
        choices = ", ".join(repr(choice) for choice in get_args(hint))
        raise ConfigError(f"{name} = {short_repr(value)} is not one of {choices}.", where=where)
    if origin in (Union, types.UnionType):
        return value
    if origin is tuple:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise ConfigError(f"{name} = {short_repr(value)} must be a list.", where=where)
        inner = get_args(hint)[0]
        return tuple(_checked(item, inner, name, where) for item in cast("list[object]", items))
    if hint is bool and isinstance(value, bool):
        return value
    if hint is int or hint is float:
        return _number(value, hint, name, where)
    if hint is str and isinstance(value, str) and "\0" not in value:
        return value
    wanted = "true or false" if hint is bool else "text without NUL characters"
    raise ConfigError(f"{name} = {short_repr(value)} must be {wanted}.", where=where)


def _number(value: object, kind: type[int] | type[float], name: str, where: str) -> int | float:
    """A number that is not true or false, in the range of its setting."""
    low, high = RANGES.get(name, (0, LARGEST))
    known = (int,) if kind is int else (int, float)
    if isinstance(value, known) and not isinstance(value, bool) and low <= value <= high:
        return kind(value)
    what = "a whole number" if kind is int else "a number"
    raise ConfigError(f"{name} = {short_repr(value)} must be {what} from {low:,} to {high:,}.", where=where)
