# SPDX-License-Identifier: BSD-3-Clause
"""The commands under bad treatment: a clear message, the right status, nothing left behind."""

import bz2
import os
import pathlib
import random
import signal
import stat
import subprocess
import time

import pytest

FULL = "cannot write standard output: No space left on device"
CLOSED = "cannot write standard output: Bad file descriptor"


def sh(line, folder, expected=0):
    """Runs a shell line, expects a status, and returns its standard error."""
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, errors="replace", timeout=60, check=False
    )
    assert done.returncode == expected, f"{line} ended with {done.returncode}\n{done.stdout[:1000]}{done.stderr}"
    return done.stderr


@pytest.mark.parametrize(
    ("line", "status", "text"),
    [
        ("tutti", 2, "see tutti --help"),
        ("tutti frobnicate", 2, 'no command "frobnicate"'),
        ("tutti run", 2, "see tutti run --help"),
        ("tutti run -n 0 true", 2, "1 to 4096"),
        ("tutti run -n -1 true", 2, "1 to 4096"),
        ("tutti run -n 1e30 true", 2, "1 to 4096"),
        ("tutti run -n 2 -- sh -c 'exit 7'", 7, "exited with status 7"),
        ("tutti run -n 2 --timeout 9 -- echo -- >/dev/full", 1, FULL),
        ("tutti run -n 2 --", 2, "which program?"),
        ("tutti mpi --policy never -- ./nothing", 2, "cannot start ./nothing"),
        ("tutti run -n 2 --timeout nan true", 2, '"nan" is not a number of seconds'),
        ("tutti run -n 2 --timeout -1 true", 2, "not a number of seconds"),
        ("tutti run -n 2 --bind socket true", 2, "core"),
        ("TUTTI_PROGRESS_THREAD=x tutti info -n 1", 2, "TUTTI_PROGRESS_THREAD=x means nothing; write off, auto or on"),
        ("TUTTI_TIMEOUT=1e-10 tutti info -n 1", 2, "TUTTI_TIMEOUT=1e-10 is not a number of seconds from 0.001 to 1e9"),
        ("TUTTI_CACHES=x tutti info -n 1", 2, "TUTTI_CACHES=x means nothing; write shared or apart"),
        ("TUTTI_SINGLE_COPY=x tutti info -n 1", 2, "TUTTI_SINGLE_COPY=x means nothing; write off or on"),
        ("tutti run -n 2 /", 127, '"/" is a folder'),
        ("tutti run -n 2 ./orphan", 127, "the interpreter that its first line names"),
        ("tutti plan show", 2, "which plan?"),
        ("tutti plan show gossip ring", 2, 'no collective "gossip"'),
        ("tutti plan list gossip", 2, 'no collective "gossip"'),
        ("tutti plan show bcast gossip", 2, 'no algorithm "gossip"'),
        ("tutti plan show bcast binomial -n 4 --root 4", 2, "the root is not one of the ranks"),
        ("tutti plan show bcast hosts -n 4", 2, "not for ranks on these hosts"),
        ("tutti plan show bcast hosts -n 4 --hosts 0,0,1", 2, "--hosts names 3 hosts for 4 ranks"),
        ("tutti plan show bcast hosts -n 4 --hosts 0,2,1,1", 2, "1 comes before 2"),
        ("tutti plan list >/dev/full", 1, FULL),
        ("tutti plan show bcast binomial >/dev/full", 1, FULL),
        ("tutti --help >/dev/full", 1, FULL),
        ("tutti info >/dev/full", 1, FULL),
        ("tutti run -n 2 echo lost >/dev/full", 1, FULL),
        ("tutti run -n 2 yes >/dev/full", 1, FULL),
        ("tutti run -n 2 echo lost >&-", 1, CLOSED),
        ("tutti info >&-", 1, CLOSED),
        ("ulimit -n 16; tutti run -n 8 true", 1, "raise the limit of open files (ulimit -n)"),
        ("ulimit -n 30; tutti run -n 4 tutti info", 1, "a job of 4 ranks needs 36 open files here"),
        ("ulimit -v 20000; tutti run -n 2 true", 1, "ulimit -v"),
        ("TUTTI_RANK=1 tutti info", 2, "TUTTI_SIZE is not set"),
        ("tutti-compress --level 10 x", 2, "not in range"),
        ("tutti-compress nothing", 1, "cannot read nothing: No such file or directory"),
        ("tutti-compress .", 1, "cannot read .: Is a directory"),
        ("tutti-compress one -o .", 1, "cannot write .: Is a directory"),
        ("tutti-compress one -o nowhere/one", 1, "cannot write nowhere/one"),
        ("tutti-compress one -o one", 1, "is the input too; choose another output"),
        ("tutti-compress one -o link", 1, "is the input too; choose another output"),
        ("tutti-compress -q one -o - >/dev/full", 1, FULL),
        ("tutti-compress one -o - >>one", 1, "standard output is the input too; choose another output"),
        ("timeout 9 tutti-compress <one >>one", 1, "standard output is the input too; choose another output"),
        ("tutti-compress link", 1, "link.bz2 exists; remove it, or replace it by -o link.bz2"),
    ],
)
def test_refused(line, status, text, tmp_path):
    (tmp_path / "orphan").write_text("#!/no/such/interpreter\n")
    (tmp_path / "orphan").chmod(0o755)
    (tmp_path / "one").write_text("1")
    (tmp_path / "link").symlink_to("one")
    (tmp_path / "link.bz2").write_text("the archive of something else")
    before = sorted(tmp_path.iterdir())
    errors = sh(line, tmp_path, status)
    assert text in errors, errors
    assert errors.count("\n") <= 4, errors
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "one").read_text() == "1"
    assert (tmp_path / "link.bz2").read_text() == "the archive of something else"


@pytest.mark.parametrize("line", ["tutti run -n 3 yes | head -1", "tutti plan list | head -1"])
def test_a_reader_may_go(line, tmp_path):
    assert sh(line, tmp_path) == ""


@pytest.mark.parametrize("content", [b"", b"x", bytes(1_000_000), random.Random(1).randbytes(3_000_000)])
def test_compress(content, tmp_path):
    (tmp_path / "in").write_bytes(content)
    (tmp_path / "out").write_text("what was here before")
    sh("tutti run -n 3 tutti-compress -q in -o out", tmp_path)
    assert bz2.decompress((tmp_path / "out").read_bytes()) == content
    sh("tutti run -n 2 tutti-compress -q <in >piped", tmp_path)
    assert bz2.decompress((tmp_path / "piped").read_bytes()) == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "piped"]


# A file system, as NFS, that makes no files without a name.
NAMES_EVERYTHING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
int open(const char* path, int flags, ...) {
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  if ((flags & O_TMPFILE) != O_TMPFILE) return real(path, flags, 0666);
  errno = EOPNOTSUPP;
  return -1;
}
"""


@pytest.mark.parametrize("preload", ["", "LD_PRELOAD=./named.so "])
def test_compress_takes_no_name_that_may_be_of_another_file(preload, tmp_path):
    (tmp_path / "named.c").write_text(NAMES_EVERYTHING)
    sh("cc -shared -fPIC -o named.so named.c", tmp_path)
    for name in ("data.part", "data.bz2.part"):
        (tmp_path / name).write_text(name)
    (tmp_path / "data").write_text("data")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    sh(f"{preload}tutti-compress -q data", tmp_path)
    assert bz2.decompress((tmp_path / "data.bz2").read_bytes()) == b"data"
    before["data.bz2"] = (tmp_path / "data.bz2").read_bytes()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    sh(f"{preload}tutti-compress -q data.part -o data", tmp_path)
    assert bz2.decompress((tmp_path / "data").read_bytes()) == b"data.part"
    before["data"] = (tmp_path / "data").read_bytes()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    sh(f"{preload}tutti-compress -q -o data 0>>data.part", tmp_path, 1)  # it cannot read what is open for writing
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("mode", ["overlap-equal", "blocking"])
def test_compress_for_comparison(mode, tmp_path):
    (tmp_path / "in").write_bytes(bytes(1_050_000))  # eleven blocks for three ranks
    sh(f"tutti run -n 3 tutti-compress -q --level 1 --mode {mode} in", tmp_path)
    assert bz2.decompress((tmp_path / "in.bz2").read_bytes()) == bytes(1_050_000)


def test_compress_reads_a_file_that_tells_no_size(tmp_path):
    sh("tutti run -n 2 tutti-compress -q /proc/version -o out", tmp_path)
    assert bz2.decompress((tmp_path / "out").read_bytes()) == pathlib.Path("/proc/version").read_bytes()


def test_compress_reads_a_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    sh("(echo text >fifo) & tutti run -n 4 --timeout 20 tutti-compress -q fifo -o out && wait", tmp_path)
    assert bz2.decompress((tmp_path / "out").read_bytes()) == b"text\n"


@pytest.mark.parametrize("other", ["the same", "the end differs", "the time differs", "none", "a pipe"])
def test_compress_reads_one_file(other, tmp_path):
    """Each rank has a folder, as hosts have that share no file system."""
    content = random.Random(3).randbytes(299_999)
    for rank in range(2):
        (tmp_path / f"{rank}").mkdir()
        (tmp_path / f"{rank}/in").write_bytes(content + b"0")
        os.utime(tmp_path / f"{rank}/in", (1, 1))
    theirs = tmp_path / "1/in"
    if other == "the end differs":
        theirs.write_bytes(content + b"1")
        os.utime(theirs, (1, 1))
    elif other == "the time differs":
        theirs.write_bytes(bytes(300_000))
    elif other != "the same":
        theirs.unlink()
    if other == "a pipe":
        os.mkfifo(theirs)
    told = sh("tutti run -n 2 --timeout 9 sh -c 'cd $TUTTI_RANK && exec tutti-compress --level 1 in'", tmp_path)
    assert ("read by rank 0 as not all see the same file" in told) == (other != "the same")
    assert bz2.decompress((tmp_path / "0/in.bz2").read_bytes()) == content + b"0"


def test_compress_reads_one_standard_input(tmp_path):
    (tmp_path / "in").write_bytes(bytes(300_000))  # blocks for both ranks
    sh("tutti run -n 2 tutti-compress -q --level 1 /dev/stdin -o out <in", tmp_path)
    assert bz2.decompress((tmp_path / "out").read_bytes()) == bytes(300_000)


def test_compress_keeps_who_may_read(tmp_path):
    def mode(name):
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    (tmp_path / "secret").write_text("secret")
    (tmp_path / "secret").chmod(0o600)
    sh("umask 022; tutti-compress -q secret", tmp_path)
    assert mode("secret.bz2") == 0o600
    (tmp_path / "group").write_text("what was here before")
    (tmp_path / "group").chmod(0o640)
    sh("umask 022; tutti-compress -q secret -o group", tmp_path)
    assert mode("group") == 0o640
    sh("umask 027; echo text | tutti-compress -q -o text", tmp_path)
    assert mode("text") == 0o640


def test_compress_replaces_what_a_link_leads_to(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/second").symlink_to("target")
    (tmp_path / "first").symlink_to("folder/second")
    (tmp_path / "in").write_text("text")
    for _ in ("a target that is missing", "one that is there"):
        sh("tutti-compress -q in -o first", tmp_path)
        assert (tmp_path / "first").is_symlink()
        assert (tmp_path / "folder/second").is_symlink()
        assert bz2.decompress((tmp_path / "folder/target").read_bytes()) == b"text"
    (tmp_path / "circle").symlink_to("circle")
    assert "Too many levels of symbolic links" in sh("tutti-compress -q in -o circle", tmp_path, 1)
    before = sorted(tmp_path.iterdir())
    sh("exec 3>gone; rm gone; tutti-compress -q in -o /dev/fd/3", tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_limit_of_file_sizes_does_not_matter(tmp_path):
    sh("ulimit -f 100000; tutti run -n 2 tutti info", tmp_path)


def test_compress_leaves_what_is_no_file(tmp_path):
    (tmp_path / "in").write_text("text")
    os.mkfifo(tmp_path / "fifo")
    sh("cat fifo >out & tutti run -n 2 tutti-compress -q in -o fifo && wait", tmp_path)
    assert stat.S_ISFIFO(os.stat(tmp_path / "fifo").st_mode)
    assert bz2.decompress((tmp_path / "out").read_bytes()) == b"text"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_compress_leaves_no_half_file(number, tmp_path):
    (tmp_path / "in").write_bytes(random.Random(2).randbytes(60_000_000))
    job = subprocess.Popen(
        ["env", "--default-signal=INT", "tutti", "run", "-n", "2", "tutti-compress", "-q", "in"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(0.5)
    job.send_signal(number)
    assert job.wait(timeout=20) in (128 + number, -number)
    for _ in range(100):  # the ranks of a launcher that was killed end a moment later
        if not living(tmp_path):
            break
        time.sleep(0.05)
    assert living(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def living(folder):
    """The processes whose working folder that is."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
