"""GOAL text to arrays, in one pass over its bytes.

``parse`` stops where an array is full and goes on there when it is called again with larger ones;
all it has to remember is in ``state``. Labels belong to a rank, so their table (open addressing,
linear probing) is stamped with the rank instead of being emptied; a label is the place in the text
where it was defined, and equal hashes are settled by comparing the bytes.

Arithmetic stays within int64, so that plain Python counts the same.
"""

from __future__ import annotations

from kernels import helper, kernel
from kernels.goal import layout
from kernels.goal.scan import (
    CLOSE,
    COLON,
    LETTER_B,
    NEWLINE,
    OPEN,
    SLASH,
    STAR,
    end_of_label,
    end_of_line,
    has,
    hashed,
    in_label,
    is_minus_one,
    number,
    operation,
    skip_blanks,
)


@helper
def find_slot(text, at, end, salt, slots, stamp, labels):
    """Return the slot where a label is, or where it would go."""
    mask = len(slots) - 1
    slot = hashed(text, at, end, salt) & mask
    while slots[slot] >> 32 == stamp:
        other = labels[slots[slot] & layout.MOST]
        i = at
        while i < end and text[i] == text[other + i - at]:
            i += 1
        # What follows a label that was defined is never part of one, and is within the text.
        if i == end and not in_label(text[other + end - at]):
            return slot
        slot = (slot + 1) & mask
    return slot


@helper
def wrong(state, at, wanted):
    """Note an error and return its status."""
    state[layout.WHERE] = at
    state[layout.WANTED] = wanted
    return layout.WRONG


@kernel(cache=True, nogil=True)
def enter_again(text, state, slots, labels, salt):
    """Enter the rank's labels again, into larger slots that hold nothing yet."""
    stamp = state[layout.RANKS]
    for i in range(state[layout.OPS] - state[layout.FIRST]):
        if labels[i] >= 0:
            at = labels[i]
            end = end_of_label(text, at)
            slot = find_slot(text, at, end, salt, slots, stamp, labels)
            if slots[slot] >> 32 != stamp:
                slots[slot] = stamp << 32 | i


@kernel(cache=True, nogil=True)
def parse(text, state, operations, line, after, before, slots, labels, double, salt):
    """Read on from ``state[AT]`` until the end, an error, or an array that is full.

    Args:
        text: uint8[bytes].
        state: int64[N_STATE], where the reading is.
        operations: `kernels.graphs.Operations`, out.
        line: int32[n], out, of each operation.
        after: int32[edges], out, the operation that waits.
        before: uint32[edges], out, the one it waits for, plus STARTS where for its start.
        slots: int64[2**k], hash table of the rank's labels.
        labels: int64[m], where the label of each operation of the rank is.
        double: int64[k], out, the first lines that define a label again.
        salt: of the hashes.

    Returns:
        DONE, WRONG, or which array is full.
    """
    rank_start, kind, size, peer, tag, cpu, nic = operations
    n = len(text)
    at = state[layout.AT]
    now = state[layout.LINE]
    ops = state[layout.OPS]
    deps = state[layout.DEPS]
    while True:
        # Between items: blanks, line ends and comments.
        at = skip_blanks(text, at)
        if at < n and text[at] == SLASH:
            if at + 1 < n and text[at + 1] == SLASH:
                while at < n and text[at] != NEWLINE:
                    at += 1
                continue
            if at + 1 < n and text[at + 1] == STAR:
                begin, opened = at, now
                at += 2
                while at + 1 < n and not (text[at] == STAR and text[at + 1] == SLASH):
                    if text[at] == NEWLINE:
                        now += 1
                    at += 1
                if at + 1 >= n:
                    state[layout.LINE] = opened
                    return wrong(state, begin, layout.W_END_OF_COMMENT)
                at += 2
                continue
        if at < n:
            end = end_of_line(text, at)
            if end >= 0:
                now += 1
                at = end
                continue

        # Where an array is full, the item is read again; so nothing may have changed before.
        state[layout.AT] = at
        state[layout.LINE] = now
        state[layout.OPS] = ops
        state[layout.DEPS] = deps

        if state[layout.INSIDE] == 0:
            if at >= n:
                if state[layout.NUM_RANKS] < 0:
                    return wrong(state, at, layout.W_FIRST)
                if state[layout.RANKS] < state[layout.NUM_RANKS]:
                    return wrong(state, at, layout.W_ALL_RANKS)
                return layout.DONE
            end = end_of_label(text, at)
            if state[layout.NUM_RANKS] < 0:
                if not (end - at == 9 and has(text, at, b"num_ranks")):
                    return wrong(state, at, layout.W_FIRST)
                at = skip_blanks(text, end)
                value, end = number(text, at)
                if end == at:
                    return wrong(state, at, layout.W_INTEGER)
                if not 1 <= value <= layout.MOST:
                    return wrong(state, at, layout.W_RANKS_RANGE)
                state[layout.NUM_RANKS] = value
                at = end
                continue
            if not (end - at == 4 and has(text, at, b"rank")):
                last = state[layout.RANKS] == state[layout.NUM_RANKS]
                return wrong(state, at, layout.W_AFTER_LAST if last else layout.W_RANK)
            if state[layout.RANKS] == state[layout.NUM_RANKS]:
                return wrong(state, at, layout.W_NO_MORE_RANKS)
            if state[layout.RANKS] + 1 >= len(rank_start):
                return layout.MORE_RANKS
            at = skip_blanks(text, end)
            value, end = number(text, at)
            if end == at:
                return wrong(state, at, layout.W_INTEGER)
            if value != state[layout.RANKS]:
                return wrong(state, at, layout.W_NEXT_RANK)
            at = skip_blanks(text, end)
            if at >= n or text[at] != OPEN:
                return wrong(state, at, layout.W_BRACE)
            at += 1
            state[layout.RANKS] += 1
            state[layout.FIRST] = ops
            state[layout.LABELS] = 0
            state[layout.INSIDE] = 1
            continue

        if at >= n:
            return wrong(state, at, layout.W_CLOSING)
        if text[at] == CLOSE:
            rank_start[state[layout.RANKS]] = ops
            state[layout.INSIDE] = 0
            at += 1
            continue
        if ops == len(kind):
            return layout.MORE_OPS
        if deps == len(after):
            return layout.MORE_DEPS
        here = ops - state[layout.FIRST]
        if here == len(labels):
            return layout.MORE_LABELS
        if 2 * state[layout.LABELS] >= len(slots):
            return layout.MORE_SLOTS
        if ops == layout.MOST:
            return wrong(state, at, layout.W_OPS_RANGE)
        if deps == layout.MOST:
            return wrong(state, at, layout.W_DEPS_RANGE)

        begin = at
        end = end_of_label(text, at)
        if end == at:
            return wrong(state, at, layout.W_ITEM)
        what = 0
        if end - at == 4:
            what = operation(text, at)
            if what == 0 and has(text, at, b"rank"):
                return wrong(state, at, layout.W_CLOSING)
        elif end - at == 9 and has(text, at, b"num_ranks"):
            return wrong(state, at, layout.W_ITEM)
        stamp = state[layout.RANKS]
        labelled = what == 0
        slot = -1
        if labelled:
            # A label that is defined here, or the waiting side of a dependency.
            slot = find_slot(text, begin, end, salt, slots, stamp, labels)
            at = skip_blanks(text, end)
            if at < n and text[at] == COLON:
                at = skip_blanks(text, at + 1)
                what = operation(text, at)
                if what == 0:
                    return wrong(state, at, layout.W_OPERATION)
                end = at + 4
            else:
                starts = has(text, at, b"irequires")
                if starts:
                    at += 9
                elif has(text, at, b"requires"):
                    at += 8
                else:
                    return wrong(state, at, layout.W_AFTER_LABEL)
                if slots[slot] >> 32 != stamp:
                    return wrong(state, begin, layout.W_DEFINED)
                waits = state[layout.FIRST] + (slots[slot] & layout.MOST)
                at = skip_blanks(text, at)
                end = end_of_label(text, at)
                if end == at:
                    return wrong(state, at, layout.W_LABEL)
                slot = find_slot(text, at, end, salt, slots, stamp, labels)
                if slots[slot] >> 32 != stamp:
                    return wrong(state, at, layout.W_DEFINED)
                at = skip_blanks(text, end)
                end = end_of_line(text, at)
                if end < 0:
                    return wrong(state, at, layout.W_END_OF_LINE)
                after[deps] = waits
                before[deps] = (
                    state[layout.FIRST]
                    + (slots[slot] & layout.MOST)
                    + (layout.STARTS if starts else 0)
                )
                deps += 1
                now += end > at
                at = end
                continue

        at = skip_blanks(text, end)
        amount, end = number(text, at)
        if end == at:
            return wrong(state, at, layout.W_INTEGER)
        if amount == layout.TOO_LARGE:
            return wrong(state, at, layout.W_SIZE_RANGE)
        at = skip_blanks(text, end)
        to, mark, core, card = 0, 0, 0, 0
        wanted = layout.W_AFTER_CALC
        if what != layout.CALC:
            if at >= n or text[at] != LETTER_B:
                return wrong(state, at, layout.W_BYTES)
            at = skip_blanks(text, at + 1)
            if what == layout.SEND:
                if not has(text, at, b"to"):
                    return wrong(state, at, layout.W_TO)
                at = skip_blanks(text, at + 2)
            else:
                if not has(text, at, b"from"):
                    return wrong(state, at, layout.W_FROM)
                at = skip_blanks(text, at + 4)
            if what == layout.RECV and is_minus_one(text, at):
                to = layout.ANY_SOURCE
                at += 2
            else:
                to, end = number(text, at)
                if end == at:
                    return wrong(state, at, layout.W_PEER)
                if to > layout.MOST:
                    return wrong(state, at, layout.W_PEER_RANGE)
                at = end
            at = skip_blanks(text, at)
            wanted = layout.W_AFTER_PEER
            if has(text, at, b"tag"):
                at = skip_blanks(text, at + 3)
                if is_minus_one(text, at):
                    mark = layout.ANY_TAG
                    at += 2
                else:
                    mark, end = number(text, at)
                    if end == at:
                        return wrong(state, at, layout.W_TAG)
                    if mark > layout.ANY_TAG:
                        return wrong(state, at, layout.W_TAG_RANGE)
                    at = end
                at = skip_blanks(text, at)
                wanted = layout.W_AFTER_TAG
        if has(text, at, b"cpu"):
            at = skip_blanks(text, at + 3)
            core, end = number(text, at)
            if end == at:
                return wrong(state, at, layout.W_INTEGER)
            if core > 255:
                return wrong(state, at, layout.W_CPU_RANGE)
            at = skip_blanks(text, end)
            wanted = layout.W_END_OF_LINE if what == layout.CALC else layout.W_AFTER_CPU
        if what != layout.CALC and has(text, at, b"nic"):
            at = skip_blanks(text, at + 3)
            card, end = number(text, at)
            if end == at:
                return wrong(state, at, layout.W_INTEGER)
            if card > 255:
                return wrong(state, at, layout.W_NIC_RANGE)
            at = skip_blanks(text, end)
            wanted = layout.W_END_OF_LINE
        end = end_of_line(text, at)
        if end < 0:
            return wrong(state, at, wanted)
        kind[ops] = what
        size[ops] = amount
        peer[ops] = to
        tag[ops] = mark
        cpu[ops] = core
        nic[ops] = card
        line[ops] = now
        labels[here] = -1
        if labelled:
            if slots[slot] >> 32 == stamp:
                if state[layout.DOUBLE] < len(double):
                    double[state[layout.DOUBLE]] = now
                state[layout.DOUBLE] += 1
            else:
                labels[here] = begin
                slots[slot] = stamp << 32 | here
                state[layout.LABELS] += 1
        ops += 1
        now += end > at
        at = end
