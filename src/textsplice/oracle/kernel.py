"""The compiled oracle: the least cost of every stretch of a target, and a derivation that has that cost.

A *chain* is what one splice contributes to the finished text: pieces of one text, in order, with gaps
between them that other splices fill. `S[a][b]` is the least number of splices that derive `target[a:b]`.
With `T` the target's length, `N` the number of texts and `M` the number of matches, two facts turn the
paper's O(N·T⁶) parse into O(N·T³ + T·M):

1.  `S[a][b-1] ≤ S[a][b] ≤ S[a][b-1] + 1`: drop the last token, or add it with a splice of its own.
2.  Consider a chain that began at `a`, has consumed `target[a:c]` and could resume at `p`. It is worth
    keeping only if its cost so far is `S[a][c]` and `S[a][c] + S[c][p] = S[a][p]`. Otherwise a new chain at
    `p` costs no more and can continue in the same way.

So the state of a chain is one bit per match, *live* or not. Where a chain resumes after a gap, only the
first live place of each text matters.

**The choice.** Among the derivations of least cost, the same one is always chosen:

1.  If a chain can span the whole target (it can if the neighbors hold the begin and end tokens), the first
    splice lays such a chain: the one that keeps most of the target's tokens, then the one from the
    better-ranked source.
2.  Its gaps are filled from left to right. Each gap takes a derivation of least cost that has, in this
    order: the fewest splices from neighbors not used before, the fewest splices from neighbors rather than
    the table, and the least sum of ranks. Here neighbors that have more of the words needed in all gaps rank
    first, then better-ranked ones. (Using the fewest distinct neighbors overall is a covering problem; this
    is the greedy solution.) A vocabulary word never competes: it is used only if no other source has the
    token.
3.  Remaining ties: the longer first chain, the first text and place, the shorter gap.

Preferences are the lower digits of one number whose top digit is the cost, so comparing numbers compares
costs first. Fact 2 may drop chains that are as short and as preferable. The first splice is chosen among all
chains, but gaps are filled only from chains that fact 2 keeps. This is several times faster on long texts
and rarely changes the choice.

All compiled functions are in this file: Numba's cache notices changes of a function's own file, but not of
the files of the functions it calls.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.oracle.matches import Chains, Matches, ParsedTexts
from textsplice.oracle.numbering import FIRST_NEIGHBOR, TABLE

Flat = tuple[NDArray[np.int32], NDArray[np.int64]]  # the values and offsets of a Ragged

NOWHERE = 2**31 - 1
NEVER = 1 << 62

# A digit of twelve bits holds sums over as many splices as the longest target needs; sums of ranks have two.
LONGEST = 4095
LAST_RANK = 4095
NEIGHBOR = 1 << 24
DROPPED_TOKEN = 1 << 24
NEW_NEIGHBOR = 1 << 36
ONE_SPLICE = 1 << 48


@njit(cache=True, nogil=True)
def derive_rows(
    first: int,
    last: int,
    ids: int,
    mask_id: int,
    targets: Flat,
    tables: Flat,
    segments: NDArray[np.int32],
    table_of: NDArray[np.int32],
    store: Flat,
    neighbors: NDArray[np.int32],
    first_words: NDArray[np.int64],  # the source of word id 0, per example
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The splices of examples `first` to `last - 1` in one array, and how many each example has."""
    kind_of = np.full(ids, -1, np.int32)
    splices = np.empty((targets[1][last] - targets[1][first], 5), np.int32)
    costs = np.zeros(last - first, np.int64)
    written = 0
    for example in range(first, last):
        target = targets[0][targets[1][example] : targets[1][example + 1]]
        if len(target) == 0:
            continue
        kinds = np.empty(len(target), np.int32)
        count = 0
        for q, token in enumerate(target):
            if kind_of[token] < 0:
                kind_of[token] = count
                count += 1
            kinds[q] = kind_of[token]
        if mask_id >= 0:
            kind_of[mask_id] = -1
        begin, end = tables[1][table_of[example]], tables[1][table_of[example] + 1]
        rows = neighbors[example]
        rows = rows[rows >= 0]
        texts = gather(kind_of, tables[0][begin:end], segments[begin:end], store, rows)
        for token in target:
            kind_of[token] = -1

        matches = find_matches(kinds, texts)
        S = least_costs(matches, len(texts.start))
        cost = write_derivation(target, texts, matches, S, first_words[example], splices[written:])
        costs[example - first] = cost
        written += cost
    return splices[:written].copy(), costs


@njit(cache=True, nogil=True)
def gather(
    kind_of: NDArray[np.int32],  # per id; -1 if the target does not have it
    table: NDArray[np.int32],
    segments: NDArray[np.int32],
    store: Flat,
    neighbors: NDArray[np.int32],
) -> ParsedTexts:
    """The texts to parse one example with; a run of equal segment numbers is one value."""
    tokens, offsets = store
    count, places = len(neighbors), 1 + len(neighbors)
    for i in range(len(table)):
        if segments[i] >= 0:
            is_first = i == 0 or segments[i] != segments[i - 1]
            count += is_first
            places += 1 + is_first
    for row in neighbors:
        places += offsets[row + 1] - offsets[row]

    kind = np.full(places, -1, np.int32)
    text = np.zeros(places, np.int32)
    start = np.empty(count, np.int32)
    source = np.empty(count, np.int32)
    offset = np.empty(count, np.int32)
    place, n = 0, -1
    for i in range(len(table)):
        if segments[i] >= 0:
            if i == 0 or segments[i] != segments[i - 1]:
                n += 1
                place += 1
                start[n], source[n], offset[n] = place, TABLE, i
            kind[place] = kind_of[table[i]]
            text[place] = n
            place += 1
    for rank, row in enumerate(neighbors):
        n += 1
        place += 1
        start[n], source[n], offset[n] = place, FIRST_NEIGHBOR + rank, 0
        for i in range(offsets[row], offsets[row + 1]):
            kind[place] = kind_of[tokens[i]]
            text[place] = n
            place += 1
    return ParsedTexts(kind, text, start, source, offset)


@njit(cache=True, nogil=True)
def find_matches(kinds: NDArray[np.int32], texts: ParsedTexts) -> Matches:
    """All matches of a target, given the kind of each of its tokens."""
    length = len(kinds)
    counts = np.zeros(length, np.int32)
    for kind in texts.kind:
        if kind >= 0:
            counts[kind] += 1
    heads = np.zeros(length + 1, np.int32)
    heads[1:] = np.cumsum(counts)
    places = np.empty(heads[length], np.int32)  # of kind 0, then of kind 1, …
    index = np.zeros(len(texts.kind), np.int32)  # per place: its index among the places of its kind
    counts[:] = 0
    for place, kind in enumerate(texts.kind):
        if kind >= 0:
            index[place] = counts[kind]
            places[heads[kind] + counts[kind]] = place
            counts[kind] += 1

    rows = np.ones(length + 1, np.int32)
    for q in range(length):
        rows[q + 1] = rows[q] + counts[kinds[q]]
    position = np.zeros(rows[length], np.int32)
    place_of = np.zeros(rows[length], np.int32)
    text_of = np.zeros(rows[length], np.int32)
    before = np.zeros(rows[length], np.int32)
    for q in range(length):
        for i in range(counts[kinds[q]]):
            match, place = rows[q] + i, places[heads[kinds[q]] + i]
            position[match] = q
            place_of[match] = place
            text_of[match] = texts.text[place]
            if q > 0 and texts.kind[place - 1] == kinds[q - 1]:
                before[match] = rows[q - 1] + index[place - 1]
    return Matches(rows, position, place_of, text_of, before)


@njit(cache=True, nogil=True)
def least_costs(matches: Matches, text_count: int) -> NDArray[np.int32]:
    """`S` for every stretch; a token without a match costs one splice (a vocabulary word)."""
    rows, place, text, before = matches.rows, matches.place, matches.text, matches.before
    length = len(rows) - 1
    S = np.zeros((length + 1, length + 1), np.int32)
    ending = np.zeros((length + 1, length + 1), np.int32)  # S transposed: stretches that end at p, in one row
    live = np.zeros(rows[length], np.bool_)
    first = np.empty((length + 1, text_count), np.int32)  # first live place of chains over target[a:c]
    resume = np.empty(text_count, np.int32)  # the place after which a chain can resume at p
    alive = np.empty(length + 1, np.int32)  # positions c where a chain may end, ascending
    for a in range(length - 1, -1, -1):
        S[a, a + 1] = ending[a + 1, a] = 1
        first[a + 1] = NOWHERE
        for match in range(rows[a], rows[a + 1]):
            live[match] = True
            first[a + 1, text[match]] = min(first[a + 1, text[match]], place[match])
        alive[0] = a + 1
        alive_count = 1
        for p in range(a + 1, length):
            s = S[a, p]
            any_live = False
            if rows[p] < rows[p + 1]:
                resume[:] = NOWHERE
                for i in range(alive_count):
                    c = alive[i]
                    if c < p and S[a, c] + ending[p, c] == s:
                        for n in range(text_count):
                            resume[n] = min(resume[n], first[c, n])
                here = first[p + 1]
                here[:] = NOWHERE
                for match in range(rows[p], rows[p + 1]):
                    n = text[match]
                    live[match] = live[before[match]] or resume[n] < place[match]
                    if live[match]:
                        any_live = True
                        here[n] = min(here[n], place[match])
            cost = s
            if any_live:
                alive[alive_count] = p + 1
                alive_count += 1
            else:
                cost = s + 1
                for i in range(alive_count):
                    c = alive[i]
                    if c < p and S[a, c] + ending[p + 1, c] == s:
                        cost = s
                        break
            S[a, p + 1] = ending[p + 1, a] = cost
    return S


@njit(cache=True, nogil=True)
def write_derivation(
    target: NDArray[np.int32],
    texts: ParsedTexts,
    matches: Matches,
    S: NDArray[np.int32],
    first_word: int,
    splices: NDArray[np.int32],
) -> int:
    """Writes the chosen derivation to `splices`; returns its length, which is `S[0][len(target)]`."""
    length, count = len(target), len(texts.start)
    chains = Chains(
        np.empty(count, np.int64),
        np.zeros((length + 1, length + 1), np.int64),
        np.empty(length + 1, np.int64),
        np.empty(matches.rows[length], np.int64),
        np.zeros(matches.rows[length], np.int32),
        np.empty(length + 1, np.int64),
    )
    used = np.zeros(count, np.bool_)
    root_gaps = np.empty((length + 1, 3), np.int32)
    tasks = np.empty((2 * length + 2, 3), np.int32)  # stretches to derive: begin, end, tokens to replace
    written = 0

    for a in range(length):
        # The rest from `a` costs at least S[a][T] - 1: a new chain could do the same for one splice more.
        chains.most[a] = S[0, length] - S[a, length] + 1
        for b in range(a + 1, length + 1):
            chains.gap[a, b] = S[a, b] * ONE_SPLICE
    for n in range(count):
        rank = min(texts.source[n], LAST_RANK)
        chains.price[n] = ONE_SPLICE + length * DROPPED_TOKEN + rank
    run_chains(0, length, matches, chains, DROPPED_TOKEN)
    spans = chains.best[length] < (S[0, length] + 1) * ONE_SPLICE
    if spans and matches.rows[0] < matches.rows[1]:
        pending = lay(0, length, 0, texts, matches, chains, used, splices[0], root_gaps, 0)
        written = 1
    else:
        pending = add_task(root_gaps, 0, 0, length, 0)

    ranks = rank_texts(texts, matches, root_gaps[:pending])
    for root_gap in root_gaps[:pending][::-1]:
        for n in range(count):
            chains.price[n] = ONE_SPLICE + min(ranks[n], LAST_RANK)
            if texts.source[n] != TABLE:
                chains.price[n] += NEIGHBOR if used[n] else NEIGHBOR + NEW_NEIGHBOR
        price_gap(root_gap[0], root_gap[1], matches, S, chains)
        pending = add_task(tasks, 0, root_gap[0], root_gap[1], root_gap[2])
        while pending:
            pending -= 1
            a, b, replaced = int(tasks[pending, 0]), int(tasks[pending, 1]), int(tasks[pending, 2])
            chains.most[a : b + 1] = S[a, a : b + 1]
            run_chains(a, b, matches, chains, 0)
            end = b
            while chains.best[end] + chains.gap[end, b] != chains.gap[a, b]:
                end -= 1
            if end < b:
                pending = add_task(tasks, pending, end, b, 0)
            if matches.rows[a] == matches.rows[a + 1]:
                write(splices[written], a, replaced, first_word + target[a], 0, 1)
            else:
                pending = lay(
                    a, end, replaced, texts, matches, chains, used, splices[written], tasks, pending
                )
            written += 1
    return written


@njit(cache=True, nogil=True)
def rank_texts(texts: ParsedTexts, matches: Matches, gaps: NDArray[np.int32]) -> NDArray[np.int64]:
    """The rank of each text for filling gaps: by how many missing words it has, then by source."""
    count = len(texts.start)
    lacking = np.zeros(count, np.int64)
    for gap in gaps:
        for q in range(gap[0], gap[1]):
            row = matches.text[matches.rows[q] : matches.rows[q + 1]]
            if len(row) and texts.source[row[0]] != TABLE:
                lacking += 1
                for i in range(len(row)):
                    if i == 0 or row[i] != row[i - 1]:
                        lacking[row[i]] -= 1
    ranks = np.zeros(count, np.int64)
    for n in range(count):
        for other in range(count):
            if texts.source[n] != TABLE and texts.source[other] != TABLE:
                ranks[n] += lacking[other] < lacking[n] or (lacking[other] == lacking[n] and other < n)
    return ranks


@njit(cache=True, nogil=True)
def price_gap(a: int, b: int, matches: Matches, S: NDArray[np.int32], chains: Chains) -> None:
    """Fills `chains.gap` for every stretch of `target[a:b]`."""
    for c in range(b - 1, a - 1, -1):
        chains.most[c : b + 1] = S[c, c : b + 1]
        run_chains(c, b, matches, chains, 0)
        for q in range(c + 1, b + 1):
            least = chains.best[q]
            for middle in range(c + 1, q):
                least = min(least, chains.best[middle] + chains.gap[middle, q])
            chains.gap[c, q] = least


@njit(cache=True, nogil=True)
def run_chains(a: int, b: int, matches: Matches, chains: Chains, reward: int) -> None:
    """Fills `value`, `back` and `best` for chains from `a`; each token kept reduces the cost by `reward`."""
    rows, place, text, before = matches.rows, matches.place, matches.text, matches.before
    value, back, best = chains.value, chains.back, chains.best
    best[a + 1] = ONE_SPLICE if rows[a] == rows[a + 1] else NEVER
    for match in range(rows[a], rows[a + 1]):
        value[match] = chains.price[text[match]] - reward
        back[match] = 0
        best[a + 1] = min(best[a + 1], value[match])
    for q in range(a + 1, b):
        for match in range(rows[q], rows[q + 1]):
            value[match] = value[before[match]] - reward if before[match] else NEVER
            back[match] = before[match]
        for c in range(q - 1, a, -1):
            gap = chains.gap[c, q]
            if best[c] + gap >= (chains.most[q] + 1) * ONE_SPLICE:
                continue
            # Both rows are sorted by place: one pass finds the best earlier match of the same text.
            earlier, chosen = rows[c - 1], 0
            for match in range(rows[q], rows[q + 1]):
                if chosen and text[chosen] != text[match]:
                    chosen = 0
                while earlier < rows[c] and place[earlier] < place[match]:
                    if text[earlier] == text[match] and (not chosen or value[earlier] <= value[chosen]):
                        chosen = earlier
                    earlier += 1
                if chosen and value[chosen] + gap - reward < value[match]:
                    value[match] = value[chosen] + gap - reward
                    back[match] = chosen
        best[q + 1] = NEVER
        for match in range(rows[q], rows[q + 1]):
            best[q + 1] = min(best[q + 1], value[match])


@njit(cache=True, nogil=True)
def lay(
    a: int,
    end: int,
    replaced: int,
    texts: ParsedTexts,
    matches: Matches,
    chains: Chains,
    used: NDArray[np.bool_],
    splice: NDArray[np.int32],
    tasks: NDArray[np.int32],
    pending: int,
) -> int:
    """Writes the splice of the best chain from `a` to `end` and adds its gaps to `tasks`, rightmost first."""
    match = int(matches.rows[end - 1])
    while chains.value[match] != chains.best[end]:
        match += 1
    n = int(matches.text[match])
    used[n] = True
    last = matches.place[match]
    while chains.back[match]:
        left = int(chains.back[match])
        begin, stop = matches.position[left] + 1, matches.position[match]
        if begin < stop:
            between = matches.place[match] - matches.place[left] - 1
            pending = add_task(tasks, pending, begin, stop, between)
        match = left
    shift = texts.offset[n] - texts.start[n]
    write(splice, a, replaced, texts.source[n], matches.place[match] + shift, last + 1 + shift)
    return pending


@njit(cache=True, nogil=True)
def add_task(tasks: NDArray[np.int32], pending: int, a: int, b: int, replaced: int) -> int:
    """Pushes a stretch to derive; returns how many are pending."""
    tasks[pending, 0], tasks[pending, 1], tasks[pending, 2] = a, b, replaced
    return pending + 1


@njit(cache=True, nogil=True)
def write(splice: NDArray[np.int32], a: int, replaced: int, source: int, begin: int, end: int) -> None:
    """Writes one splice; the canvas left of `a` is finished, so `a` is also the position on the canvas."""
    splice[0], splice[1], splice[2], splice[3], splice[4] = a, a + replaced, source, begin, end
