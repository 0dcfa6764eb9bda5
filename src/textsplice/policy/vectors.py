"""Loops over vectors that compiled functions share: small products, exponentials, sums.

Small matrices are multiplied tile by tile. Numba's own vectors would be written back to memory after every
product, and a call of a library costs as much as a product of 25 tokens; so the innermost loop is written in
LLVM's vectors, which LLVM makes of what the processor has. A matrix is a flat array, the place of its first
number, and the distance between two rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

F32 = NDArray[np.float32]

VECTOR = 16  # numbers
ROWS = 4  # rows of a tile: each vector that is read is used for so many
# Sums in any order, so that several products are added at once; nothing else of what fast math allows.
ANY_ORDER = {"reassoc", "contract", "nsz"}
# exp(x) = 2^n exp(r) with |r| <= log(2) / 2, and exp(r) as in Cephes' expf; log(2) is HIGH + LOW.
LEAST = np.float32(-87.0)  # exp of less would be no normal number
LOG2E, HALF, ONE = np.float32(1.44269504), np.float32(0.5), np.float32(1)
HIGH, LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
P0, P1, P2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
P3, P4, P5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
EXPONENT_BIAS, EXPONENT_SHIFT = np.int32(127), np.int32(23)


def tile(rows: int, vectors: int) -> Any:
    """A function that writes `out[i, j] = Σ left[i, k] · right[k, j]`: so many rows, `16 vectors` columns."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _write_tile((rows, vectors), context, builder, signature, arguments)
        return context.get_dummy_value()

    @intrinsic
    def multiply(
        _context: Any,
        left: Any,
        left_at: Any,
        left_step: Any,
        right: Any,
        right_at: Any,
        right_step: Any,
        depth: Any,
        out: Any,
        out_at: Any,
        out_step: Any,
    ) -> Any:
        asked = (left, left_at, left_step, right, right_at, right_step, depth, out, out_at, out_step)
        return types.void(*asked), generate

    return multiply


def _write_tile(shape: tuple[int, int], context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    """The instructions of a tile of this shape; its sums are values that each round of the loop replaces."""
    rows, vectors = shape
    _, _, left_step, _, _, right_step, depth, _, _, out_step = arguments
    vector, integer, lane = ir.VectorType(ir.FloatType(), VECTOR), depth.type, ir.IntType(32)
    nothing, zeros = ir.Constant(vector, ir.Undefined), ir.Constant(vector, [0.0] * VECTOR)
    first_lane = ir.Constant(ir.VectorType(lane, VECTOR), [0] * VECTOR)

    def begins(array: int, step: Any, count: int) -> list[Any]:
        data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
        found = [builder.gep(data, [arguments[array + 1]])]
        for _ in range(1, count):
            found.append(builder.gep(found[-1], [step]))
        return found

    def part(row: Any, number: int) -> Any:
        at = builder.gep(row, [ir.Constant(integer, VECTOR * number)])
        return builder.bitcast(at, vector.as_pointer())

    left_rows, out_rows = begins(0, left_step, rows), begins(7, out_step, rows)
    (right,) = begins(3, right_step, 1)
    before = builder.block
    loop, after = builder.append_basic_block("product"), builder.append_basic_block("written")
    builder.branch(loop)
    builder.position_at_end(loop)
    k = builder.phi(integer)
    k.add_incoming(ir.Constant(integer, 0), before)
    sums = [[builder.phi(vector) for _ in range(vectors)] for _ in range(rows)]
    right_row = builder.gep(right, [builder.mul(k, right_step)])
    values = [builder.load(part(right_row, number), align=4, typ=vector) for number in range(vectors)]
    for left_row, own in zip(left_rows, sums, strict=True):
        one = builder.insert_element(nothing, builder.load(builder.gep(left_row, [k])), lane(0))
        factor = builder.shuffle_vector(one, nothing, first_lane)
        for so_far, value in zip(own, values, strict=True):
            product = builder.fmul(factor, value, flags=("contract",))
            so_far.add_incoming(zeros, before)
            so_far.add_incoming(builder.fadd(so_far, product, flags=("contract",)), loop)
    following = builder.add(k, ir.Constant(integer, 1))
    k.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, depth), loop, after)
    builder.position_at_end(after)
    for out_row, own in zip(out_rows, sums, strict=True):
        for number, so_far in enumerate(own):
            builder.store(so_far.incomings[1][0], part(out_row, number), align=4)


FOUR_TWO, FOUR_ONE, ONE_TWO, ONE_ONE = tile(ROWS, 2), tile(ROWS, 1), tile(1, 2), tile(1, 1)


@njit(cache=True, nogil=True)
def multiply(
    left: F32,
    left_at: int,
    left_step: int,
    rows: int,
    right: F32,
    right_at: int,
    right_step: int,
    depth: int,
    out: F32,
    out_at: int,
    out_step: int,
    width: int,
) -> None:
    """Writes the product of two matrices; `width` is a multiple of `VECTOR`."""
    many = rows >= ROWS
    row = 0
    while row < rows:
        if many:  # the last tile begins early and writes some rows again
            row = min(row, rows - ROWS)
        own, to = left_at + row * left_step, out_at + row * out_step
        column = 0
        while column < width:
            at, where = right_at + column, to + column
            if width - column >= 2 * VECTOR:
                if many:
                    FOUR_TWO(left, own, left_step, right, at, right_step, depth, out, where, out_step)
                else:
                    ONE_TWO(left, own, left_step, right, at, right_step, depth, out, where, out_step)
                column += 2 * VECTOR
            else:
                if many:
                    FOUR_ONE(left, own, left_step, right, at, right_step, depth, out, where, out_step)
                else:
                    ONE_ONE(left, own, left_step, right, at, right_step, depth, out, where, out_step)
                column += VECTOR
        row += ROWS if many else 1


@njit(cache=True, nogil=True)
def turn(rows: F32, at: int, step: int, count: int, size: int, turned: F32, width: int) -> None:
    """Writes some rows as the columns of a matrix that is `width` wide; columns beyond them are 0."""
    for number in range(count):
        row = rows[at + number * step : at + number * step + size]
        for k in range(size):
            turned[k * width + number] = row[k]
    for k in range(size):
        for number in range(count, width):
            turned[k * width + number] = 0


@njit(cache=True, nogil=True)
def padded(count: int) -> int:
    """The next multiple of `VECTOR`."""
    return (count + VECTOR - 1) // VECTOR * VECTOR


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def write_exps(values: F32, highest: np.float32, exps: F32, bits: NDArray[np.int32]) -> None:
    """Writes exp(value - highest); unlike NumPy's, it is compiled to vectors. `bits` is room for as many."""
    powers = bits.view(np.float32)
    for i in range(len(values)):
        x = max(values[i] - highest, LEAST)
        n = np.floor(x * LOG2E + HALF)
        r = x - n * HIGH - n * LOW
        exps[i] = (((((P0 * r + P1) * r + P2) * r + P3) * r + P4) * r + P5) * r * r + r + ONE
        bits[i] = (np.int32(n) + EXPONENT_BIAS) << EXPONENT_SHIFT
    for i in range(len(values)):
        exps[i] *= powers[i]


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def sum_of(values: F32) -> np.float32:
    """The sum of some numbers."""
    total = np.float32(0)
    for i in range(len(values)):  # a loop over the values themselves is not compiled to vectors
        total += values[i]
    return total
