"""GOAL text to arrays, in one pass over its bytes.

``parse`` stops where an array is full and goes on there when it is called again with larger ones;
all it has to remember is in ``state``. Labels belong to a rank, so their table (open addressing,
linear probing) is stamped with the rank instead of being emptied; a label is the place in the text
where it was defined, and equal hashes are settled by comparing the bytes.

Arithmetic stays within int64, so that plain Python counts the same.
"""

from __future__ import annotations

from numba import njit

from kernels.goal.layout import (
    ANY_SOURCE,
    ANY_TAG,
    AT,
    CALC,
    DEPS,
    DONE,
    DOUBLE,
    FIRST,
    INSIDE,
    LABELS,
    LINE,
    MORE_DEPS,
    MORE_LABELS,
    MORE_OPS,
    MORE_RANKS,
    MORE_SLOTS,
    MOST,
    NUM_RANKS,
    OPS,
    RANKS,
    RECV,
    SEND,
    STARTS,
    TOO_LARGE,
    W_AFTER_CALC,
    W_AFTER_CPU,
    W_AFTER_LABEL,
    W_AFTER_LAST,
    W_AFTER_PEER,
    W_AFTER_TAG,
    W_ALL_RANKS,
    W_BRACE,
    W_BYTES,
    W_CLOSING,
    W_CPU_RANGE,
    W_DEFINED,
    W_DEPS_RANGE,
    W_END_OF_COMMENT,
    W_END_OF_LINE,
    W_FIRST,
    W_FROM,
    W_INTEGER,
    W_ITEM,
    W_LABEL,
    W_NEXT_RANK,
    W_NIC_RANGE,
    W_NO_MORE_RANKS,
    W_OPERATION,
    W_OPS_RANGE,
    W_PEER,
    W_PEER_RANGE,
    W_RANK,
    W_RANKS_RANGE,
    W_SIZE_RANGE,
    W_TAG,
    W_TAG_RANGE,
    W_TO,
    WANTED,
    WHERE,
    WRONG,
)
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


@njit(cache=True, nogil=True)
def find_slot(text, at, end, salt, slots, stamp, labels):
    """Return the slot where a label is, or where it would go."""
    mask = len(slots) - 1
    slot = hashed(text, at, end, salt) & mask
    while slots[slot] >> 32 == stamp:
        other = labels[slots[slot] & MOST]
        i = at
        while i < end and text[i] == text[other + i - at]:
            i += 1
        # What follows a label that was defined is never part of one, and is within the text.
        if i == end and not in_label(text[other + end - at]):
            return slot
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def wrong(state, at, wanted):
    """Note an error and return its status."""
    state[WHERE] = at
    state[WANTED] = wanted
    return WRONG


@njit(cache=True, nogil=True)
def enter_again(text, state, slots, labels, salt):
    """Enter the rank's labels again, into larger slots that hold nothing yet."""
    stamp = state[RANKS]
    for i in range(state[OPS] - state[FIRST]):
        if labels[i] >= 0:
            at = labels[i]
            end = end_of_label(text, at)
            slot = find_slot(text, at, end, salt, slots, stamp, labels)
            if slots[slot] >> 32 != stamp:
                slots[slot] = stamp << 32 | i


@njit(cache=True, nogil=True)
def parse(
    text,
    state,
    rank_start,
    kind,
    size,
    peer,
    tag,
    cpu,
    nic,
    line,
    after,
    before,
    slots,
    labels,
    double,
    salt,
):
    """Read on from ``state[AT]`` until the end, an error, or an array that is full."""
    n = len(text)
    at = state[AT]
    now = state[LINE]
    ops = state[OPS]
    deps = state[DEPS]
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
                    state[LINE] = opened
                    return wrong(state, begin, W_END_OF_COMMENT)
                at += 2
                continue
        if at < n:
            end = end_of_line(text, at)
            if end >= 0:
                now += 1
                at = end
                continue

        # Where an array is full, the item is read again; so nothing may have changed before.
        state[AT] = at
        state[LINE] = now
        state[OPS] = ops
        state[DEPS] = deps

        if state[INSIDE] == 0:
            if at >= n:
                if state[NUM_RANKS] < 0:
                    return wrong(state, at, W_FIRST)
                if state[RANKS] < state[NUM_RANKS]:
                    return wrong(state, at, W_ALL_RANKS)
                return DONE
            end = end_of_label(text, at)
            if state[NUM_RANKS] < 0:
                if not (end - at == 9 and has(text, at, b"num_ranks")):
                    return wrong(state, at, W_FIRST)
                at = skip_blanks(text, end)
                value, end = number(text, at)
                if end == at:
                    return wrong(state, at, W_INTEGER)
                if not 1 <= value <= MOST:
                    return wrong(state, at, W_RANKS_RANGE)
                state[NUM_RANKS] = value
                at = end
                continue
            if not (end - at == 4 and has(text, at, b"rank")):
                last = state[RANKS] == state[NUM_RANKS]
                return wrong(state, at, W_AFTER_LAST if last else W_RANK)
            if state[RANKS] == state[NUM_RANKS]:
                return wrong(state, at, W_NO_MORE_RANKS)
            if state[RANKS] + 1 >= len(rank_start):
                return MORE_RANKS
            at = skip_blanks(text, end)
            value, end = number(text, at)
            if end == at:
                return wrong(state, at, W_INTEGER)
            if value != state[RANKS]:
                return wrong(state, at, W_NEXT_RANK)
            at = skip_blanks(text, end)
            if at >= n or text[at] != OPEN:
                return wrong(state, at, W_BRACE)
            at += 1
            state[RANKS] += 1
            state[FIRST] = ops
            state[LABELS] = 0
            state[INSIDE] = 1
            continue

        if at >= n:
            return wrong(state, at, W_CLOSING)
        if text[at] == CLOSE:
            rank_start[state[RANKS]] = ops
            state[INSIDE] = 0
            at += 1
            continue
        if ops == len(kind):
            return MORE_OPS
        if deps == len(after):
            return MORE_DEPS
        here = ops - state[FIRST]
        if here == len(labels):
            return MORE_LABELS
        if 2 * state[LABELS] >= len(slots):
            return MORE_SLOTS
        if ops == MOST:
            return wrong(state, at, W_OPS_RANGE)
        if deps == MOST:
            return wrong(state, at, W_DEPS_RANGE)

        begin = at
        end = end_of_label(text, at)
        if end == at:
            return wrong(state, at, W_ITEM)
        what = 0
        if end - at == 4:
            what = operation(text, at)
            if what == 0 and has(text, at, b"rank"):
                return wrong(state, at, W_CLOSING)
        elif end - at == 9 and has(text, at, b"num_ranks"):
            return wrong(state, at, W_ITEM)
        stamp = state[RANKS]
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
                    return wrong(state, at, W_OPERATION)
                end = at + 4
            else:
                starts = has(text, at, b"irequires")
                if starts:
                    at += 9
                elif has(text, at, b"requires"):
                    at += 8
                else:
                    return wrong(state, at, W_AFTER_LABEL)
                if slots[slot] >> 32 != stamp:
                    return wrong(state, begin, W_DEFINED)
                waits = state[FIRST] + (slots[slot] & MOST)
                at = skip_blanks(text, at)
                end = end_of_label(text, at)
                if end == at:
                    return wrong(state, at, W_LABEL)
                slot = find_slot(text, at, end, salt, slots, stamp, labels)
                if slots[slot] >> 32 != stamp:
                    return wrong(state, at, W_DEFINED)
                at = skip_blanks(text, end)
                end = end_of_line(text, at)
                if end < 0:
                    return wrong(state, at, W_END_OF_LINE)
                after[deps] = waits
                before[deps] = state[FIRST] + (slots[slot] & MOST) + (STARTS if starts else 0)
                deps += 1
                now += end > at
                at = end
                continue

        at = skip_blanks(text, end)
        amount, end = number(text, at)
        if end == at:
            return wrong(state, at, W_INTEGER)
        if amount == TOO_LARGE:
            return wrong(state, at, W_SIZE_RANGE)
        at = skip_blanks(text, end)
        to, mark, core, card = 0, 0, 0, 0
        wanted = W_AFTER_CALC
        if what != CALC:
            if at >= n or text[at] != LETTER_B:
                return wrong(state, at, W_BYTES)
            at = skip_blanks(text, at + 1)
            if what == SEND:
                if not has(text, at, b"to"):
                    return wrong(state, at, W_TO)
                at = skip_blanks(text, at + 2)
            else:
                if not has(text, at, b"from"):
                    return wrong(state, at, W_FROM)
                at = skip_blanks(text, at + 4)
            if what == RECV and is_minus_one(text, at):
                to = ANY_SOURCE
                at += 2
            else:
                to, end = number(text, at)
                if end == at:
                    return wrong(state, at, W_PEER)
                if to > MOST:
                    return wrong(state, at, W_PEER_RANGE)
                at = end
            at = skip_blanks(text, at)
            wanted = W_AFTER_PEER
            if has(text, at, b"tag"):
                at = skip_blanks(text, at + 3)
                if is_minus_one(text, at):
                    mark = ANY_TAG
                    at += 2
                else:
                    mark, end = number(text, at)
                    if end == at:
                        return wrong(state, at, W_TAG)
                    if mark > ANY_TAG:
                        return wrong(state, at, W_TAG_RANGE)
                    at = end
                at = skip_blanks(text, at)
                wanted = W_AFTER_TAG
        if has(text, at, b"cpu"):
            at = skip_blanks(text, at + 3)
            core, end = number(text, at)
            if end == at:
                return wrong(state, at, W_INTEGER)
            if core > 255:
                return wrong(state, at, W_CPU_RANGE)
            at = skip_blanks(text, end)
            wanted = W_END_OF_LINE if what == CALC else W_AFTER_CPU
        if what != CALC and has(text, at, b"nic"):
            at = skip_blanks(text, at + 3)
            card, end = number(text, at)
            if end == at:
                return wrong(state, at, W_INTEGER)
            if card > 255:
                return wrong(state, at, W_NIC_RANGE)
            at = skip_blanks(text, end)
            wanted = W_END_OF_LINE
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
                if state[DOUBLE] < len(double):
                    double[state[DOUBLE]] = now
                state[DOUBLE] += 1
            else:
                labels[here] = begin
                slots[slot] = stamp << 32 | here
                state[LABELS] += 1
        ops += 1
        now += end > at
        at = end
