# SPDX-License-Identifier: BSD-3-Clause
"""Tutti makes a group of processes act as one.

    import numpy, tutti

    group = tutti.world()
    total = group.allreduce(numpy.ones(3))       # arrays travel as they are
    names = group.allgather_object("any object") # everything else is pickled

Start it with ``tutti run -n 4 python program.py``; started alone, it is a world of one.
"""

import atexit

from tutti import _core
from tutti.errors import Error, Mismatch, PeerLost, Timeout
from tutti.exchange import Exchange
from tutti.group import Group, from_mpi, world
from tutti.neighbors import Graph, Grid, adjacent_graph, cartesian, dims_create, graph
from tutti.operations import (
    BAND,
    BOR,
    BXOR,
    LAND,
    LOR,
    LXOR,
    MAX,
    MAXLOC,
    MIN,
    MINLOC,
    PROD,
    SUM,
    Operation,
    located,
    op,
)
from tutti.plans import Plan, PlanBuilder, check_plans, draw_plans
from tutti.requests import Persistent, Request, wait_all, wait_any

__version__ = _core.version
atexit.register(_core.begin_to_end)
__all__ = [
    "BAND",
    "BOR",
    "BXOR",
    "LAND",
    "LOR",
    "LXOR",
    "MAX",
    "MAXLOC",
    "MIN",
    "MINLOC",
    "PROD",
    "SUM",
    "Error",
    "Exchange",
    "Graph",
    "Grid",
    "Group",
    "Mismatch",
    "Operation",
    "PeerLost",
    "Persistent",
    "Plan",
    "PlanBuilder",
    "Request",
    "Timeout",
    "adjacent_graph",
    "cartesian",
    "check_plans",
    "dims_create",
    "draw_plans",
    "from_mpi",
    "graph",
    "located",
    "op",
    "wait_all",
    "wait_any",
    "world",
]
