#!/usr/bin/env python3
"""Each rule of check_docs.py, on small trees made to keep or to break it."""
import pathlib
import tempfile
import unittest

import check_docs


class CheckDocs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/base/CMakeLists.txt", "sluice_module(base)")
        self.write("src/base/README.md", "Start with `result.h`.")
        self.write("src/base/result.h", "")
        self.write("docs/glossary.md", "# Words\n\n## Kept events: why\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def errors_of(self, readme):
        self.write("README.md", readme)
        return check_docs.Check(self.root).run()[1]

    def test_what_exists_passes(self):
        self.assertEqual(self.errors_of("[words](docs/glossary.md), `src/base/result.h`, `base/result.h`, `src/base/`"), [])

    def test_a_link_that_leads_nowhere_fails(self):
        self.assertEqual(self.errors_of("[more](docs/more.md)"), ["README.md: the link to docs/more.md leads nowhere"])

    def test_a_link_is_relative_to_its_page(self):
        self.write("docs/README.md", "[words](glossary.md) [top](../README.md)")
        self.assertEqual(self.errors_of(""), [])

    def test_an_image_is_a_link(self):
        self.assertEqual(len(self.errors_of("![way](docs/way.svg)")), 1)

    def test_an_anchor_needs_its_heading(self):
        self.assertEqual(self.errors_of("[kept](docs/glossary.md#kept-events-why)"), [])
        self.assertEqual(len(self.errors_of("[kept](docs/glossary.md#lost-events)")), 1)

    def test_addresses_of_the_web_are_left_alone(self):
        self.assertEqual(self.errors_of("[spec](https://cloudevents.io/x.md) [us](mailto:us@example.org)"), [])

    def test_a_path_in_backticks_that_is_missing_fails(self):
        self.assertEqual(self.errors_of("see `src/base/clock.h`"), ["README.md: `src/base/clock.h` does not exist"])
        self.assertEqual(len(self.errors_of("see `base/clock.h`")), 1)
        self.assertEqual(len(self.errors_of("see `clock.h`")), 1)
        self.assertEqual(len(self.errors_of("see `src/base/clock.h:12`")), 1)

    def test_what_is_no_path_of_the_tree_is_left_alone(self):
        self.assertEqual(self.errors_of("`run/fire/index` `*_test.cc` `_fuzz.cc` `/v1/events` `make test` `build/release/bin/x`"), [])

    def test_code_blocks_do_not_count(self):
        self.assertEqual(self.errors_of("```\n`src/none.h` [x](none.md)\n```\n"), [])

    def test_a_module_without_a_page_fails(self):
        self.write("src/value/CMakeLists.txt", "sluice_module(value)")
        errors = self.errors_of("")
        self.assertEqual(len(errors), 1)
        self.assertIn("src/value", errors[0])

    def test_a_decision_that_is_not_listed_fails(self):
        self.write("docs/decisions/README.md", "[1](0001-one.md)")
        self.write("docs/decisions/0001-one.md", "")
        self.assertEqual(self.errors_of(""), [])
        self.write("docs/decisions/0002-two.md", "")
        self.assertEqual(self.errors_of(""), ["docs/decisions/0002-two.md: is not listed in docs/decisions/README.md"])

    def test_a_problem_code_and_its_page_need_each_other(self):
        self.write("src/server/a.cc", 'Problem{.code = "too_late"}; return {404, "not_found"};')
        self.write("docs/errors/not_found.md", "")
        self.write("docs/errors/gone.md", "")
        self.assertEqual(self.errors_of(""), [
            "docs/errors/too_late.md: the server answers with this code, but it has no page",
            "docs/errors/gone.md: no part of src/server answers with this code"])


if __name__ == "__main__":
    unittest.main()
