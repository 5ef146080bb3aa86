"""What an operation or message does to the clocks of its host, and what is kept of that."""

from __future__ import annotations

from kernels import inlined
from kernels.loggops.layout import CPU, MESSAGE, NIC, PS_PER_NS, byte_cost
from kernels.loggops.noise import delay


@inlined
def run_computation(program, noise, pending, kept, clocks, host, core, op, t, freed):
    """Occupy a core for a computation from a time on; mark its start and its end."""
    work = program.size[op] * PS_PER_NS
    lost = delay(noise, core, t, work)
    noise.total[host] += lost
    end = t + work + lost
    if kept.wanted:
        kept.start[op] = t
        kept.end[op] = end
        if t > pending.at[op]:
            kept.post_cause[op], kept.post_cause_kind[op] = clocks.on_core[core], CPU
        clocks.on_core[core] = op
    clocks.nexto[core] = end
    freed.op[0], freed.at[0], freed.by_start[0], freed.elsewhere[0] = op, t, True, False
    freed.op[1], freed.at[1], freed.by_start[1], freed.elsewhere[1] = op, end, False, False


@inlined
def run_send(program, costs, noise, pending, kept, clocks, host, core, port, op, t, freed):
    """Occupy core and interface for a send; mark its start, and its end where it is eager.

    Returns:
        How many freed.
    """
    size = program.size[op]
    work = costs.overhead + byte_cost(size, costs.o_byte, costs.o_real)
    lost = delay(noise, core, t, work)
    noise.total[host] += lost
    end = t + work + lost
    if kept.wanted:
        kept.start[op] = t
        kept.end[op] = end
        if t > pending.at[op]:
            if clocks.nexto[core] == t:
                kept.post_cause[op], kept.post_cause_kind[op] = clocks.on_core[core], CPU
            else:
                kept.post_cause[op], kept.post_cause_kind[op] = clocks.sent[port], NIC
        clocks.on_core[core] = op
        clocks.sent[port] = op
    clocks.nexto[core] = end
    clocks.nextgs[port] = t + costs.gap + byte_cost(size, costs.g_byte, costs.g_real)
    freed.op[0], freed.at[0], freed.by_start[0], freed.elsewhere[0] = op, t, True, False
    if size > costs.eager:
        return 1
    freed.op[1], freed.at[1], freed.by_start[1], freed.elsewhere[1] = op, end, False, False
    return 2


@inlined
def take_message(program, costs, noise, pending, kept, clocks, host, core, port, op, t):
    """Occupy core and interface for a message that has come; ``at`` is then the end of that."""
    size = program.size[op]
    by_byte = byte_cost(size, costs.g_byte, costs.g_real)
    work = costs.overhead + max(byte_cost(size, costs.o_byte, costs.o_real), by_byte)
    lost = delay(noise, core, t, work)
    noise.total[host] += lost
    if kept.wanted:
        # Kept with the send until its receive is known.
        kept.begin[op] = t
        if t == pending.at[op]:
            kept.cause[op], kept.cause_kind[op] = op, MESSAGE
        elif clocks.nexto[core] == t:
            kept.cause[op], kept.cause_kind[op] = clocks.on_core[core], CPU
        else:
            kept.cause[op], kept.cause_kind[op] = clocks.taken[port], NIC
        clocks.on_core[core] = -2 - op
        clocks.taken[port] = -2 - op
    clocks.nexto[core] = t + work + lost
    clocks.nextgr[port] = t + costs.gap + by_byte
    pending.at[op] = clocks.nexto[core]


@inlined
def join(kept, at, message, receive):
    """Keep which receive took a message, and when."""
    kept.match[message], kept.match[receive] = receive, message
    kept.begin[receive] = kept.begin[message]
    kept.cause[receive] = kept.cause[message]
    kept.cause_kind[receive] = kept.cause_kind[message]
    kept.end[receive] = max(kept.start[receive], at[message])


@inlined
def hold_until(kept, clocks, core, port, message, t):
    """Keep a synchronous send's core and interface busy until its receiver lets it go.

    Nothing waits for that alone: what could have run before has run.
    """
    clocks.nexto[core] = max(clocks.nexto[core], t)
    clocks.nextgs[port] = max(clocks.nextgs[port], t)
    if kept.wanted:
        kept.end[message] = max(kept.end[message], t)
