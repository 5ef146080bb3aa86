"""The numbers that a packed program is made of.

A program is a stream of instructions on *registers*, which hold when something starts or ends, and
*slots*, which hold when a message is there. An instruction is one number:

    kind << (2 * width) | source register << width | target register

with a width of 14 bits in uint32, or 30 in uint64. What some kinds need besides lies in streams of
their own, in the order of the instructions: ``slot`` (all but CALC and JOIN), ``row``, a row of the
table of costs (SEND, TAKE, MEET, PUT), and ``calc``, nanoseconds (CALC).

With x the source register, m the slot and c the row's cost:

    RECV  x = max(m, x) + o          a message is taken
    SEND  m = x + c; x = x + o       an eager message leaves
    CALC  x = x + ns
    JOIN  x                          one more that is waited for
    MEET  x = max(m, x) + c; m = x   a rendezvous: its header is there, and its receive ends
    TAKE  x = m + c                  its send ends
    PUT   m = x + c                  its header leaves; no target

Each but the last sets its target to x, or with ``TO_LATEST`` added raises it to x at least.
Register 0 is the start of the program and is never a target. Each register belongs to one rank, and
is set again only when all that waited for its value have it, so that at the end the latest of a
rank's registers is when the rank ends.
"""

# Even: the last bit is ``TO_LATEST``.
RECV, SEND, CALC, JOIN, TAKE, MEET, PUT = 0, 2, 4, 6, 8, 10, 12

TO_LATEST = 1  # the bit of a kind that raises its target

NARROW, WIDE = 14, 30
"""Bits of a register's number."""

EAGER, HEADER, MET, RELEASED = range(4)
"""What a row of the table of costs is for: SEND, PUT, MEET, TAKE."""

ROLES = 4  # the four above

MESSAGE_WON, TARGET_WON = 1, 2
"""What a pass writes down of each instruction: that m was later than x, or the target than both."""
