# SPDX-License-Identifier: BSD-3-Clause
"""What the demo of tutti-compress prepares: its input."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "apps/compress"))
import demo  # noqa: E402 - its folder has to be known first


def test_the_input_is_as_large_as_told(tmp_path, monkeypatch):
    (tmp_path / "files").mkdir()
    for index in range(12):
        (tmp_path / f"files/{index}").write_bytes(bytes(300_000))
    monkeypatch.setattr(demo, "FOLDERS", [str(tmp_path / "files")])
    for megabytes in (2, 1, 3, 2):  # a smaller and a larger one than was made before
        size = demo.make_input(tmp_path / "demo", megabytes).stat().st_size
        assert (megabytes - 0.5) * 2**20 < size <= megabytes * 2**20
