#!/usr/bin/env python3
"""The check of the C interface finds what it is there to find. Usage: tests/abi_test.py"""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_abi  # noqa: E402

HEADER = check_abi.HEADER.read_text(encoding="utf-8")
SONAME = "libaxisloom.so.0"
ADDITION = ("void axl_plan_free(", "void axl_plan_print(axl_plan* plan);\nvoid axl_plan_free(")


def lines_of(*replacements, soname=SONAME):
    """The interface with some of the header's text replaced."""
    text = HEADER
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    return check_abi.interface(soname, text)


def found(now, promised=None, last_release=(), symbols=None):
    return check_abi.faults(now, symbols or check_abi.functions(now), promised or now, list(last_release))


class Check(unittest.TestCase):
    def test_nothing_changed(self):
        self.assertEqual(found(lines_of(), last_release=lines_of()), [])

    def test_sees_every_kind_of_declaration(self):
        name = "const char* name; /* of the axis */\n"
        for change in [(name + "  int64_t value;", "int64_t value;\n  " + name),
                       ("axl_queue_finish(const axl_queue* queue)", "axl_queue_finish(const axl_queue* queue, int flags)"),
                       ("AXL_SHAPE = 2", "AXL_SHAPE = 20"),
                       ("AXL_MAX_RANK = 16", "AXL_MAX_RANK = 32"),
                       ("typedef int32_t axl_status", "typedef int64_t axl_status"),
                       ("kDLBool = 6U", "kDLBool = 7U"),
                       ("void axl_plan_free(axl_plan* plan);", "")]:
            self.assertTrue(found(lines_of(change), lines_of()), change)
            gone = found(lines_of(change), last_release=lines_of())
            self.assertTrue(gone and all(line.startswith("gone since the last release") for line in gone), change)

    def test_additions_have_to_be_listed_and_no_more(self):
        self.assertEqual(len(found(lines_of(ADDITION), lines_of())), 1)
        self.assertEqual(found(lines_of(ADDITION), last_release=lines_of()), [])

    def test_another_soname_allows_what_breaks(self):
        now = lines_of(("AXL_SHAPE = 2", "AXL_SHAPE = 20"), soname="libaxisloom.so.1")
        self.assertEqual(found(now, last_release=lines_of()), [])
        self.assertTrue(found(now, lines_of()))

    def test_compares_with_what_the_library_exports(self):
        symbols = check_abi.functions(lines_of())
        self.assertEqual(found(lines_of(), symbols=symbols - {"axl_run"}), ["declared, not exported: axl_run"])
        self.assertEqual(found(lines_of(), symbols=symbols | {"axl_walk"}), ["exported, not declared: axl_walk"])


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(not result.wasSuccessful())
