"""What the dependencies of a graph say about order: levels, cycles, and pairs that are ordered."""

from __future__ import annotations

from kernels import kernel

# The second of a pair waits for the first, does not, or the search was given up.
ORDERED, OPEN, UNKNOWN = 0, 1, 2


@kernel(cache=True, nogil=True)
def levels(req_start, req, ireq_start, ireq, degree, level, queue):
    """Fill the length of the longest chain of dependencies before each operation.

    ``degree`` must hold the number of dependencies each operation waits for and ``level`` zeros;
    afterwards `degree` is positive exactly where an operation waits for a cycle or is in one.
    Returns the number of the others.
    """
    tail = 0
    for op in range(len(degree)):
        if degree[op] == 0:
            queue[tail] = op
            tail += 1
    head = 0
    while head < tail:
        op = queue[head]
        head += 1
        for i in range(req_start[op], req_start[op + 1]):
            after = req[i]
            level[after] = max(level[after], level[op] + 1)
            degree[after] -= 1
            if degree[after] == 0:
                queue[tail] = after
                tail += 1
        for i in range(ireq_start[op], ireq_start[op + 1]):
            after = ireq[i]
            level[after] = max(level[after], level[op] + 1)
            degree[after] -= 1
            if degree[after] == 0:
                queue[tail] = after
                tail += 1
    return tail


@kernel(cache=True, nogil=True)
def blocked_by(req_start, req, ireq_start, ireq, degree, blocker):
    """Fill, for each operation that `levels` left out, one of those that it waits for."""
    for op in range(len(degree)):
        if degree[op] > 0:
            for i in range(req_start[op], req_start[op + 1]):
                blocker[req[i]] = op
            for i in range(ireq_start[op], ireq_start[op + 1]):
                blocker[ireq[i]] = op


@kernel(cache=True, nogil=True)
def ordered(
    first, second, level, needs_start, needs, ineeds_start, ineeds, seen, stack, effort, answer
):
    """Fill whether the second operation of each pair waits, by whatever chain, for the first.

    The chains are followed backwards, never to a level as low as the first operation's. A pair is
    given up for ``UNKNOWN`` after as many steps as ``stack`` is long, and so are all once `effort`
    steps have been taken. ``seen`` must hold zeros, one for each operation.
    """
    for pair in range(len(first)):
        target, floor = first[pair], level[first[pair]]
        if level[second[pair]] <= floor:
            answer[pair] = OPEN
            continue
        stack[0] = second[pair]
        depth, steps, found = 1, 0, False
        while depth > 0 and not found and steps < len(stack) and effort > 0:
            depth -= 1
            op = stack[depth]
            for side in range(2):
                begin = needs_start[op] if side == 0 else ineeds_start[op]
                end = needs_start[op + 1] if side == 0 else ineeds_start[op + 1]
                for i in range(begin, end):
                    before = needs[i] if side == 0 else ineeds[i]
                    steps += 1
                    effort -= 1
                    if before == target:
                        found = True
                        break
                    if level[before] > floor and seen[before] != pair + 1 and depth < len(stack):
                        seen[before] = pair + 1
                        stack[depth] = before
                        depth += 1
                    elif depth == len(stack):
                        steps = len(stack)
                if found:
                    break
        if found:
            answer[pair] = ORDERED
        elif depth == 0 and steps < len(stack):
            answer[pair] = OPEN
        else:
            answer[pair] = UNKNOWN
