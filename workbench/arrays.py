"""Types of arrays that the whole project shares: numbers in SI units, counts, and conditions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
ByteArray = NDArray[np.uint8]

Halt = NDArray[np.int8]
"""int8[1]: another thread sets it to end a kernel early, such as the cell of a job's `StopFlag`."""
