# SPDX-License-Identifier: BSD-3-Clause
"""Writes the corpora from which the fuzzers start: corpus.py [DIRECTORY].

Valid inputs, and those that are broken in one place only.
"""

import pathlib
import re
import struct
import sys

CONTEXT = 0x1122334455667788
JOB = 77
PAGE = 4096
ROOT = pathlib.Path(__file__).resolve().parents[2]
# What has another wire version is refused before anything else is looked at.
WIRE = int(re.search(r"wire_version = (\d+);", (ROOT / "src/host/segment.hpp").read_text())[1])


def messages():
    def one(kind, body=b"", length=None):
        return struct.pack("<4sHHI", b"TTT1", kind, 0, len(body) if length is None else length) + body

    def hello(purpose, rank, size, pid):
        return one(0, struct.pack("<5I", WIRE, purpose, rank, size, pid) + bytes(range(16)))

    def key(number, text):
        return struct.pack("<IH", number, len(text)) + text

    yield "hello", hello(0, 1, 4, 4711)
    yield "hello_lifeline", hello(1, 0, 1, 1)
    yield "hello_of_another_version", one(0, struct.pack("<I", WIRE + 1) + b"whatever")
    yield "hello_of_no_rank", hello(0, 4, 4, 4711)
    yield "welcome", one(1, struct.pack("<IIQ", 4, 2, 0x0123456789ABCDEF))
    yield "ready_go_bye", one(2) + one(3) + one(10)
    yield "refused", one(4, b"rank 2 has already taken part and left")
    yield "put", one(5, key(1, b"board") + b"value")
    yield "get", one(6, key(2, b"board"))
    yield "stored", one(7, struct.pack("<I", 1))
    yield "value", one(8, struct.pack("<I", 2) + b"value")
    yield "failed", one(9, struct.pack("<I", 3) + b"the store is full")
    yield "cut", one(6, struct.pack("<I", 2), length=11)
    yield "bad_key", one(6, key(2, b"a b"))

    def card(host, mask):
        return struct.pack("<H", len(host)) + host + struct.pack("<QIH", 5, 2, len(mask)) + mask

    yield "join", one(11, struct.pack("<3I", 1, 4, 4711) + card(b"here", b"\x03"))
    yield "join_without_host", one(11, struct.pack("<3I", 1, 4, 4711) + card(b"", b"\x03"))
    yield "roster", one(12, struct.pack("<QI", 7, 2) + card(b"here", b"\x03") + card(b"there", b""))
    yield "roster_that_is_cut", one(12, struct.pack("<QI", 7, 3) + card(b"here", b"\x03"))
    yield "waiting", one(13, b"ranks 2-5")
    yield "no_such_kind", one(14)
    yield "too_long", one(7, bytes(5))


def segments():
    """How the file is made (0 = well), its size, the header; then places: offset and length."""

    def up(value):
        return -(-value // PAGE) * PAGE

    def one(size, capacity, *places, how=0, version=WIRE, job=JOB, magic=0x5455545449534547, shift=0, claimed=None):
        processes = up(33792)
        links = up(processes + size * 1664)
        pairs = up(links + capacity // PAGE * 8)
        heap = pairs + up(size * 128) + size * size * (PAGE + 65536) + shift
        header = struct.pack("<QIiQQ", magic, version, size, job, claimed or capacity)
        header += struct.pack("<4Q", processes, links, pairs, heap)
        return struct.pack("<BQ", how, capacity) + header + b"".join(struct.pack("<QQ", *place) for place in places)

    giga, window = 1 << 30, 64 << 20
    yield "one", one(1, giga, (0, 64), (giga - 1, 1), (giga, 1), (5, giga))
    yield "three", one(3, giga, (window - 8, 8), (window - 8, 16), (window - 4, 8), (window - 8, 2 * window))
    yield "thousand", one(1000, 256 * giga)
    yield "odd_size", one(3, 12345)
    yield "too_small", one(3, 2 << 20)
    yield "too_many", one(40000, giga)
    yield "another_job", one(3, giga, job=JOB + 1)
    yield "another_version", one(3, giga, version=WIRE + 1)
    yield "another_magic", one(3, giga, magic=1)
    yield "another_size", one(3, giga, claimed=2 * giga)
    yield "wrong_place", one(3, giga, shift=PAGE)
    for number, how in enumerate(("unsealed", "too_short", "pipe", "no_file"), 1):
        yield how, one(3, giga, how=number)


def environments():
    secret = "00112233445566778899aabbccddeeff"
    yield "alone", b""
    yield "job", f"2\n4\nunix:@somewhere\n{secret}\n\n".encode()
    yield "upper_case", f"0\n1\nunix:@s\n{secret.upper()}\n\n".encode()
    yield "secret_file", f"2\n4\nunix:@somewhere\n\nfile\n{secret}\r\n".encode()
    yield "no_file", b"2\n4\nunix:@somewhere\n\nelsewhere\n"
    yield "no_secret", b"2\n4\nunix:@somewhere\n\n\n"
    yield "short_secret", f"2\n4\nunix:@somewhere\n{secret[1:]}\n\n".encode()
    yield "bad_secret", f"2\n4\nunix:@somewhere\n{secret[1:]}g\n\n".encode()
    yield "no_rank", f"\n4\nunix:@somewhere\n{secret}\n\n".encode()
    yield "rank_too_large", f"4\n4\nunix:@somewhere\n{secret}\n\n".encode()
    yield "size_no_number", f"2\n4x\nunix:@somewhere\n{secret}\n\n".encode()
    yield "no_address", f"2\n4\ntcp://somewhere\n{secret}\n\n".encode()
    yield "by_name", f"2\n4\ntcp:node-1.cluster:29500\n{secret}\n\n".encode()
    yield "by_number", f"2\n4\ntcp:[fd77::1]:29500\n{secret}\n\n".encode()


def record(kind, payload=b"", size=None, handle=0, address=0, slot=0, number=0, signature=7):
    size = len(payload) if size is None else size
    head = struct.pack("<IIQQIIIIQQQ", kind, len(payload), 1, 0, number, 1, signature, slot, size, handle, address)
    return head + payload + bytes(-len(payload) % 64)


def links():
    """How it begins, how it is cut; then headers, each as what differs from the one before, and what follows them."""

    def one(word, follows=b"", size=None, place=0, handle=5, lane=0, message=2):
        size = len(follows) if size is None else size
        return (
            lane << 4 | word,
            [1, size, handle, place, CONTEXT, message, 3],
            64 if word == 4 else 0,
            follows,
        )

    def number(value):
        head, value = [], (value << 1 ^ value >> 63) & (1 << 64) - 1
        while value >= 0x80:
            head.append(value & 0x7F | 0x80)
            value >>= 7
        return bytes([*head, value])

    def stream(*headers):
        result, last = b"", [0] * 7
        for kind, fields, length, follows in headers:
            differences = [now - was for now, was in zip(fields, last, strict=True)]
            differ = sum(1 << at for at, difference in enumerate(differences) if difference)
            numbers = b"".join(number(difference) for difference in differences if difference)
            head = (bytes([kind, differ]) + numbers).ljust(length - 1, b"\0")
            result += bytes([len(head) + 1]) + head + follows
            last = fields
        return result

    words = [one(2, size=100_000), one(3, place=4), one(5), one(6), one(7, size=70_000), one(8)]
    messages = stream(one(1, b"small"), one(1), one(1, bytes(16_384)), *words)
    data = [one(4, bytes(20_000), place=1), one(4, bytes(300), place=2), one(4, place=1), one(4, bytes(9), place=1)]
    for name, start in (("whole", b"\0\0"), ("cut", b"\0\x1f"), ("sending", b"\1\0")):
        yield f"messages_{name}", start + messages
        yield f"data_{name}", start + stream(*data)
    yield "data_in_large_pieces", b"\0\xff" + stream(*data)
    yield "no_length", b"\0\0" + bytes(70)
    yield "too_long", b"\0\0\x41" + stream(one(1, b"small"))[1:].ljust(0x41, b"\0")
    yield "no_message", b"\0\0" + stream(one(1, b"small", message=1 << 32))
    yield "no_end_of_number", b"\0\0" + bytes([15, 1, 1]) + b"\xff" * 12
    yield "no_zeros", b"\0\0" + bytes([5, 1, 0, 0, 1])
    yield "no_field", b"\0\0" + bytes([4, 1, 0x80, 1])
    yield "no_lane", b"\0\0" + stream(one(1, b"small", lane=9))
    yield "no_word", b"\0\0" + stream(one(0))
    yield "too_large", b"\0\0" + stream(one(1, size=16_385))
    yield "no_place", b"\0\0" + stream(one(4, size=100, place=3))
    yield "refused", b"\0\0" + stream(one(5, handle=13))
    for name, start in (("", b"\0\0"), ("_while_sending", b"\1\0")):
        yield f"cut_off{name}", start + stream(data[0], one(11, place=1), data[1], one(11))


def rings():
    """read and written for the parser alone, what this side does (four messages, index, end), then the records."""
    name = 1 << 32

    def one(control, *records, read=0, written=None):
        ring = b"".join(records)
        return struct.pack("<QQ8B", read, len(ring) if written is None else written, *control) + ring

    receives, sends = [0, 1, 2, 3, 1, 2, 0, 0], [4, 5, 6, 7, 1, 2, 0, 0]
    yield "eager", one(receives, record(1, bytes(100)), record(1, bytes(100), number=9))
    yield "wrong_size", one(receives, record(1, bytes(99)))
    yield "wrong_signature", one(receives, record(1, bytes(100), signature=8))
    announced = record(2, size=6000, handle=name, slot=0, number=1)
    unoffered = record(2, size=6000, handle=name, slot=256, number=1)
    fragments = [record(4, bytes(3000), handle=name, address=at) for at in (0, 3000)]
    yield "fragments", one(receives, announced, *fragments)
    yield "fragments_without_an_offer", one(receives, unoffered, *fragments)
    yield "withdrawn_without_an_offer", one(receives, unoffered, record(6, handle=name, number=1))
    yield "withdrawn", one(receives, announced, record(6, handle=name, number=1))
    yield "aborted", one(receives, announced, record(7, handle=name))
    yield "go_and_finish", one(sends, record(3, handle=name, address=name), record(5, handle=name))
    go = record(3, handle=name, address=name)
    yield "starved", one([7, 4, 4, 4, 1, 2, 0, 0], go)
    yield "starved_by_nonsense", one([7, 4, 4, 4, 0, 2, 0, 0], go, read=63)
    yield "starves", one([0, 1, 2, 3, 1, 2, 1, 0], record(1, bytes(100)))
    yield "finish", one(sends, record(5, handle=name))
    yield "peer_lost", one([4, 1, 6, 3, 0, 1, 0, 0], record(1, bytes(100)), read=64)
    yield "forgotten", one([0, 1, 2, 3, 1, 0, 0, 0], announced, record(1, bytes(100), number=3))
    yield "around_the_end", one(receives, record(1, bytes(100)), read=65536, written=65536 + 192)


def boards():
    header = struct.pack("<QiiI", CONTEXT, 3, 3, 0x424F4152)
    yield "formatted", bytes([2, 0, 1, 0])
    yield "given", bytes([2, 1, 1, 1]) + header
    yield "crooked", bytes([2, 1, 0, 1]) + header
    yield "another_group", bytes([2, 1, 1, 1]) + struct.pack("<QiiI", 5, 3, 3, 0x424F4152)
    yield "another_size", bytes([1, 1, 1, 1]) + header
    yield "no_such_rank", bytes([2, 5, 1, 1]) + header


PLAN = """rank 2 of 5 scratch 10 ring large cells 1
// every verb
s0: recv 10 from 0 #0 -> output[0..10)
s1: send output[0..10) to 3 #0 after s0
s2: publish 0 shared[2]#0[0..8)
s3: await all 0 expects 8
s4: reduce shared[1]#0[0..8) -> scratch[0..8) right after s0 s3
s5: copy scratch[0..8) -> output[0..8) after any s4 s1
s6: recv_reduce 2 from 4 #7 -> output[8..10) after s1
s7: await 3 0 expects 0 after s6
s8: release 0 after s4
"""

EXPOSED = """rank 0 of 2 scratch 0 ring small cells 2
mine: publish 0 input[0..100)
theirs: await 1 0 expects 100
get: copy exposed[1]#0[0..100) -> output[0..100) after theirs
say: publish 1 shared[0]#1[0..0) after get
"""


def plans():
    yield "every_verb", PLAN.encode()
    yield "exposed", EXPOSED.encode()
    yield "empty", b"rank 0 of 1 scratch 0 ring small cells 0\n"
    broken = (
        PLAN.replace("10 from", "ten from"),
        PLAN.replace("[1]#0", "[9]#0"),
        PLAN.replace("after s1", "after s9"),
        PLAN.replace("s1:", "s0:"),
        PLAN.replace("ring large", "ring round"),
        PLAN.replace("copy scratch[0..8)", "copy scratch[0..7)"),
        PLAN.replace("[0..10) to 3", "[10..0) to 3"),
        PLAN.replace("send output", "send none"),
        PLAN.replace("s8: release", "s8: relax"),
        PLAN.replace("s8:", "after:"),
        PLAN.replace("to 3", "to 2"),
        PLAN.replace("rank 2 of", "rank 7 of"),
        PLAN.replace("recv_reduce 2", "recv_reduce 3"),
        "rank 0",
    )
    for number, text in enumerate(broken):
        yield f"broken_{number}", text.encode()


def tables():
    table = "# a table\nbcast 32K - binomial\nbcast - 2 chain:segment=4096\nallreduce 16M 1G ring\nbarrier - - tree\n"
    yield "both", b"allreduce=ring bcast=chain:segment=1024,radix=3\n===\n" + table.encode()
    yield "table", b"\n===\n" + table.encode()
    for number, text in enumerate(
        (
            "allreduce=square",
            "walk=ring",
            "bcast",
            "bcast=chain:depth=3",
            "bcast=chain:radix=1",
            "\n===\nbcast 3T - chain",
            "\n===\nbcast - - chain more",
            "\n===\nbcast 99999999999G - chain",
        )
    ):
        yield f"broken_{number}", text.encode()


def snapshots():
    """How each rank is, then what is written: part, place in it, bytes."""
    header, process, third, board, identity, records, heap = range(7)
    absent, running, sleeping, in_mpi, waiting, stopped, dead, left, ended, unreachable = range(10)
    collective, send, recv, agree, shrink = range(5)
    ranks = 20
    waits = 512  # the offset of a process's waits; the first of them stands 32 bytes further on

    def one(states, *writes):
        written = (struct.pack("<BHB", part, place, len(data)) + data for part, place, data in writes)
        return bytes(states) + b"".join(written)

    def word(value):
        return struct.pack("<I", value)

    circle = [waiting] * 4
    yield "circle", one(circle)
    yield "missing", one([waiting, waiting, running, waiting])
    yield "asleep", one([waiting, sleeping, waiting, absent])
    yield "ended", one([dead, left, stopped, waiting])
    yield "gone", one([ended, unreachable, in_mpi, waiting])
    yield "another_version", one(circle, (header, 8, word(9)))
    yield "half_written", one(circle, (third, waits, b"\x03"))
    for name, what in (("send", send), ("recv", recv)):
        yield name, one([waiting, running] * 2, (process, waits + 32 + 48, word(what)))
    yield "no_such_blocker", one(circle, (process, waits + 32 + 64, word(ranks)))
    for name, what in (("many", collective), ("agree_with_many", agree), ("shrink_with_many", shrink)):
        blocked = word(what) + word(0) + word(1) + word(ranks - 1)
        blocked += b"".join(word(rank) for rank in range(1, 17))
        yield f"blocked_on_{name}", one(circle, (process, waits + 32 + 48, blocked))
    yield "in_flight", one(circle, (third, waits + 24, word(4)))
    yield "mismatch", one(circle, (records, 8, word(5)))
    yield "no_such_call", one(circle, (records, 16, b"\xff"))
    yield "broken", one(circle, (board, 128, word(2) + word(2) + word(1) + word(2)))
    yield "broken_by_nobody", one(circle, (board, 128, word(2) + word(2) + word(9) + word(9)))
    yield "no_board", one(circle, (board, 16, word(0)))
    yield "too_large", one(circle, (board, 8, word(ranks + 1)))
    yield "twice_the_same", one(circle, (identity, 128, word(1)))
    yield "second_board", one(circle, (heap, 16, word(0x424F4152)))
    yield "name", one(circle, (identity, 0, b"\x1b[31m" + b"x" * 200))


def elves():
    def one(place, kind=2, entry=24, names=1, name=1, identity=b"\x7fELF\x02\x01"):
        text = b"\0_Z4stepv\0"
        symbol = struct.pack("<IBBHQQ", name, 2, 0, 1, 0x1000, 0x40)
        header = identity.ljust(16, b"\0")
        header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0x1000, 64, 120, 0, 64, 56, 1, 64, 2, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x1000, 0x1000, 0x200, 0x200, 0x1000)
        symbols = struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, 248, len(symbol), names, 0, 8, entry)
        strings = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 248 + len(symbol), len(text), 0, 0, 1, 0)
        return struct.pack("<Q", place) + header + segment + symbols + strings + symbol + text

    yield "named", one(0x10)
    yield "beyond", one(0x300)
    yield "dynamic", one(0x10, kind=11)
    yield "no_names", one(0x10, names=7)
    yield "no_such_name", one(0x10, name=100)
    yield "other_machine", one(0x10, identity=b"\x7fELF\x01\x01")
    yield "maps", b"1000-2000 r-xp 00000300 08:01 7    /bin/a b\n2000-3000 rw-p 00000000 08:01 7 /bin/data\n"


CORPORA = {
    "message": messages,
    "segment": segments,
    "board": boards,
    "link": links,
    "ring": rings,
    "environment": environments,
    "plan_text": plans,
    "table": tables,
    "snapshot": snapshots,
    "elf": elves,
}


def corpora():
    """Path below the corpus' folder -> content."""
    return {f"{name}/{entry}": content for name, entries in CORPORA.items() for entry, content in entries()}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")
    for path, content in corpora().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


if __name__ == "__main__":
    main()
