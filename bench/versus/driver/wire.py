# SPDX-License-Identifier: BSD-3-Clause
"""The wire limit: how long the busiest link needs for the bytes that a collective cannot avoid.

H hosts with K ranks each, P = H K; n bytes are a block, as everywhere in the benchmark. Links carry both directions at
once, so the busier direction counts. Counted are full frames of TCP over IPv4, and no acknowledgements: a library could
do without these, and without frames that are not full.
"""

import dataclasses
import math

HEADERS = {"Ethernet": 14, "IPv4": 20, "TCP": 20, "its time stamps": 12}  # bytes of every frame
FRAME = sum(HEADERS.values())


@dataclasses.dataclass(frozen=True)
class Traffic:
    """What one direction of the busiest link has to carry at least, beyond headers."""

    formula: str
    why: str
    bytes: object  # of a block, the hosts and the ranks of each


TRAFFIC = {
    "barrier": Traffic("1", "each host hears of the others, and is heard", lambda n, h, k: 1),
    "bcast": Traffic("n", "each host receives it once; the root needs to send it only once", lambda n, h, k: n),
    "reduce": Traffic("n", "each host sends its share, of its ranks' sum, once", lambda n, h, k: n),
    "allreduce": Traffic(
        "2 n (H - 1) / H", "reduce_scatter and allgather of a host's parts", lambda n, h, k: 2 * n * (h - 1) / h
    ),
    "gather": Traffic("n (P - K)", "the root's host receives all other blocks", lambda n, h, k: n * k * (h - 1)),
    "scatter": Traffic("n (P - K)", "the root's host sends all other blocks", lambda n, h, k: n * k * (h - 1)),
    "allgather": Traffic("n (P - K)", "each host receives all other hosts' blocks", lambda n, h, k: n * k * (h - 1)),
    "alltoall": Traffic(
        "n K (P - K)", "each rank sends a block to each rank elsewhere", lambda n, h, k: n * k * k * (h - 1)
    ),
    "reduce_scatter_block": Traffic(
        "n (P - K)", "each host sends its share of each block of others once", lambda n, h, k: n * k * (h - 1)
    ),
    "scan": Traffic("n", "what the ranks of all hosts before it have crosses its link", lambda n, h, k: n),
    "exscan": Traffic("n", "what the ranks of all hosts before it have crosses its link", lambda n, h, k: n),
}
# The v-forms are measured with equal counts.
SAME = {
    "gatherv": "gather",
    "scatterv": "scatter",
    "allgatherv": "allgather",
    "alltoallv": "alltoall",
    "reduce_scatter": "reduce_scatter_block",
}


def traffic(collective):
    return TRAFFIC[SAME.get(collective, collective)]


def limit(collective, size, hosts, per_host, network):
    """Seconds; 0 where nothing crosses a wire, or the wire has no rate."""
    if hosts == 1 or not network.bits:
        return 0.0
    payload = math.ceil(traffic(collective).bytes(size, hosts, per_host))
    room = network.mtu - (FRAME - HEADERS["Ethernet"])
    return (payload + math.ceil(payload / room) * FRAME) * 8 / network.bits


def table():
    """What a call cannot avoid, as a Markdown table."""
    names = {name: [name, *(form for form, of in SAME.items() if of == name)] for name in TRAFFIC}
    rows = [f"| {', '.join(names[name])} | {one.formula} | {one.why} |" for name, one in TRAFFIC.items()]
    return "\n".join(["| collective | bytes | |", "|---|---|---|", *rows])
