"""The MPI functions that a library of ours stands before, as the MPI's own header declares them.

MPIs differ in which functions they have and in the types of their parameters (``MPI_Pready_list``
takes a ``const`` array since MPI 4.1; Open MPI 5 declares persistent collectives and calls itself
MPI 3.1), so nothing about them is written here.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_DECLARED = re.compile(r"\bint\s+MPI_(\w+)\s*\(([^()]*)\)")
_ARGUMENT = re.compile(r"(?!void\b)\b(\w+)(?:\s*\[\w*\])*\s*(?:,|$)")

_LOCAL = re.compile(
    r"""MPI_(?:
        .*_(?:c2f|f2c|f082c|c2f08|f2f08|f082f) | T_.*
      | (?:Attr|Errhandler|Error|Grequest|Group|Info|Keyval|Op|Session|Status|Type)_.*
      | .*(?:[Kk]eyval|errhandler|attr) | (?:Add|Delete|Remove)_error_.*
      | Get_(?!accumulate|c$).* | (?:Pack|Unpack).* | Aint_(?:add|diff)
      | Comm_(?:rank|size|group|compare|test_inter|remote_.*|[gs]et_.*)
      | Win_[gs]et_(?:name|info|group) | File_get_(?:info|group) | Win_shared_query
      | (?:Cart|Graph)_(?:coords|get|rank|shift|map) | (?:Cart|Graph)dims?_get | Topo_test
      | (?:Dist_g|G)raph_neighbors(?:_count)? | Dims_create | Reduce_local | Register_datarep
      | (?:Buffer|Comm)_(?:at|de)tach(?:_buffer)? | Alloc_mem | Free_mem | Address | Sizeof
      | Init(?:ialized|_thread)? | Finalized? | Abort | Query_thread | Is_thread_main
      | Pcontrol | Wtick | Wtime | Test_cancelled | Request_get_status.*
    )(?:_c)?""",
    re.VERBOSE,
)
# The delay library refuses the first kind and passes the second, in undelayed.c.
_RECEIVE = re.compile(r"(?:I?sendrecv(?:_replace)?|I?recv|recv_init)(?:_c)?", re.IGNORECASE)
_MESSAGE = re.compile(r"(?:I?[bsr]?send|[bsr]?send_init|I?mrecv)(?:_c)?|Comm_idup", re.IGNORECASE)


def is_local(name: str) -> bool:
    """Return whether a call, such as ``MPI_Type_commit``, reaches neither other ranks nor files."""
    return _LOCAL.fullmatch(name) is not None


def calls(header: str, local_calls: Collection[str]) -> str:
    """Return a line of C for each function of a preprocessed mpi.h that a library stands before.

    Those are the functions that are not local, and ``local_calls``. A line is ``CALL(kind, name,
    (parameters), (arguments))``, of the kind ``LOCAL``, ``OTHER_RECEIVE`` where a call receives
    messages, ``OTHER_MESSAGE`` where it sends one or receives one that was probed for, else
    ``OTHER``. By these lines a library defines what it does in calls that it has no own code for.
    """
    lines = []
    for name, parameters in _DECLARED.findall(header):
        local = is_local(f"MPI_{name}")
        if not local or name in local_calls:
            receives, sends = _RECEIVE.fullmatch(name), _MESSAGE.fullmatch(name)
            kind = "OTHER_RECEIVE" if receives else "OTHER_MESSAGE" if sends else "OTHER"
            kind = "LOCAL" if local else kind
            arguments = ", ".join(_ARGUMENT.findall(parameters))
            lines.append(f"CALL({kind}, {name}, ({' '.join(parameters.split())}), ({arguments}))\n")
    return "".join(lines)
