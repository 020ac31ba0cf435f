# SPDX-License-Identifier: BSD-3-Clause
"""The count of instructions notices more work, and says so when it has nothing to compare with."""

import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
sys.path.insert(0, str(ROOT / "scripts"))

import instructions  # noqa: E402 - a script, not a package

MADE = {"compiler": "GNU 12.2.0", "flags": "-O3 -DNDEBUG", "processor": "x86_64"}
BEFORE = {form: 1000 + 500 * at for at, form in enumerate(instructions.FORMS)}
BASELINE = [{**MADE, "instructions": BEFORE}]


@pytest.mark.parametrize("form", BEFORE)
@pytest.mark.parametrize(("factor", "passes"), [(1, True), (1.05, True), (1.051, False), (2, False), (0.5, True)])
def test_more_than_five_percent_fails_with_both_numbers(form, factor, passes):
    lines, passed = instructions.judge(MADE, {**BEFORE, form: round(BEFORE[form] * factor)}, BASELINE)
    assert passed == passes
    text = "\n".join(lines)
    assert ("FAILED" in text) == (not passes)
    assert str(round(BEFORE[form] * factor)) in text
    assert str(BEFORE[form]) in text
    assert ("less" in text) == (factor == 0.5)


@pytest.mark.parametrize(("key", "value"), [("compiler", "Clang 16.0.6"), ("flags", "-O2"), ("processor", "aarch64")])
def test_another_build_has_no_baseline_and_hears_of_it(key, value):
    lines, passed = instructions.judge({**MADE, key: value}, dict.fromkeys(BEFORE, 10**6), BASELINE)
    assert passed
    assert "NOT COMPARED: there is no baseline for" in lines[0]
    assert value in lines[0]
    assert "make instructions" in lines[0]


def test_records_beside_others():
    other = {**MADE, "compiler": "Clang 16.0.6"}
    both = instructions.recorded(other, BEFORE, BASELINE)
    assert [entry["compiler"] for entry in both] == ["Clang 16.0.6", "GNU 12.2.0"]
    again = instructions.recorded(MADE, {**BEFORE, "blocking": 7}, both)
    assert [entry["instructions"]["blocking"] for entry in again] == [1000, 7]


def test_there_is_a_baseline_for_debian_12():
    baseline = json.loads(instructions.BASELINE.read_text())
    entry = next(entry for entry in baseline if instructions.is_of(entry, MADE))
    assert list(entry["instructions"]) == list(instructions.FORMS)


def test_notices_more_work(tmp_path, capsys):
    """Sixteen elements instead of one are what a slower path would be."""
    path = tmp_path / "baseline.json"
    assert instructions.main(["record", BUILD], path) == 0
    assert instructions.main(["check", BUILD], path) == 0
    assert "FAILED" not in capsys.readouterr().out
    assert instructions.main(["check", BUILD], path, elements=16) == 1
    said = capsys.readouterr().out
    assert said.count("FAILED") == len(instructions.FORMS), said


def test_says_what_is_missing(tmp_path, capsys):
    assert instructions.main(["check", tmp_path]) == 1
    assert "build first" in capsys.readouterr().out
