"""GOAL programs that several tests read."""

from __future__ import annotations

# Both ranks send before they receive: a deadlock where such messages wait for their receiver.
CROSSED = """num_ranks 2
rank 0 {
a: send 100000b to 1
b: recv 100000b from 1
b requires a
}
rank 1 {
a: send 100000b to 0
b: recv 100000b from 0
b requires a
}
"""

# Shen et al., LLAMP, Fig. 4: c0 = 0.1 us, 4 bytes, c1 = 1 us, then 1 us (b) or 1.5 us in all (c).
FIG4C = """num_ranks 2
rank 0 {
a: calc 100
b: send 4b to 1
c: calc 1000
b requires a
c requires b
}
rank 1 {
a: calc 500
b: recv 4b from 0
c: calc 1000
b requires a
c requires b
}
"""
