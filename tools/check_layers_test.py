#!/usr/bin/env python3
"""Each rule of check_layers.py, on small trees made to keep or to break it."""
import pathlib
import tempfile
import unittest

import check_layers


class CheckLayers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/base/CMakeLists.txt", "sluice_module(base)")
        self.write("src/base/result.h", "#include <expected>")
        self.write("src/value/CMakeLists.txt", "sluice_module(value DEPENDS base)  # (comments do not count)")
        self.write("src/value/value.h", '#include "base/result.h"')

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")

    def errors(self):
        return check_layers.Check(self.root).run()

    def assert_only_error(self, *parts):
        errors = self.errors()
        self.assertEqual(len(errors), 1, errors)
        for part in parts:
            self.assertIn(part, errors[0])

    def test_a_tree_that_follows_the_layers_passes(self):
        self.assertEqual(self.errors(), [])

    def test_an_include_that_depends_does_not_name_fails_with_file_and_line(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event DEPENDS base)")
        self.write("src/event/event.h", '#include "base/result.h"\n\n#include "value/value.h"')
        self.assert_only_error("src/event/event.h:3", '"value/value.h"', "DEPENDS")

    def test_a_dependency_that_nothing_includes_fails(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event DEPENDS base value)")
        self.write("src/event/event.h", '#include "base/result.h"')
        self.assert_only_error("src/event/CMakeLists.txt", "depends on value but includes nothing")

    def test_a_dependency_that_only_tests_use_belongs_to_test_depends(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event DEPENDS base value)")
        self.write("src/event/event.h", '#include "base/result.h"')
        self.write("src/event/event_test.cc", '#include "value/value.h"')
        self.assert_only_error("only tests use it: TEST_DEPENDS")

    def test_a_test_may_include_what_test_depends_names(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event\n    DEPENDS base\n    TEST_DEPENDS value)")
        self.write("src/event/event.h", '#include "base/result.h"')
        self.write("src/event/event_test.cc", '#include "event/event.h"\n#include "value/value.h"')
        self.assertEqual(self.errors(), [])

    def test_product_code_may_not_include_what_test_depends_names(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event DEPENDS base TEST_DEPENDS value)")
        self.write("src/event/event.h", '#include "base/result.h"\n#include "value/value.h"')
        self.write("src/event/event_test.cc", '#include "value/value.h"')
        self.assert_only_error("src/event/event.h:2")

    def test_a_test_dependency_that_no_test_includes_fails(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event DEPENDS base TEST_DEPENDS value)")
        self.write("src/event/event.h", '#include "base/result.h"')
        self.assert_only_error("the tests of event depend on value")

    def test_a_higher_row_fails(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event)")
        self.write("src/event/event.h", "")
        self.write("src/value/CMakeLists.txt", "sluice_module(value DEPENDS base event)")
        self.write("src/value/text.h", '#include "event/event.h"')
        self.assert_only_error("value (row 1) depends on event of the higher row 2")

    def test_a_cycle_fails_and_is_spelled_out(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event DEPENDS expr)")
        self.write("src/event/event.h", '#include "expr/program.h"')
        self.write("src/expr/CMakeLists.txt", "sluice_module(expr DEPENDS event)")
        self.write("src/expr/program.h", '#include "event/event.h"')
        self.assert_only_error("event → expr → event")

    def test_the_own_row_passes_where_depends_names_it(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(event DEPENDS expr)")
        self.write("src/event/event.h", '#include "expr/program.h"')
        self.write("src/expr/CMakeLists.txt", "sluice_module(expr)")
        self.write("src/expr/program.h", "")
        self.assertEqual(self.errors(), [])

    def test_meaning_may_not_include_what_runs(self):
        self.write("src/observe/CMakeLists.txt", "sluice_module(observe)")
        self.write("src/observe/metric.h", "")
        self.write("src/trigger/CMakeLists.txt", "sluice_module(trigger DEPENDS observe)")
        self.write("src/trigger/trigger.h", '#include "observe/metric.h"')
        self.assert_only_error("what gives meaning includes nothing that runs")

    def test_the_engine_does_not_know_workflows(self):
        self.write("src/workflow/raw/CMakeLists.txt", "sluice_module(workflow/raw)")
        self.write("src/workflow/raw/compile.h", "")
        self.write("src/engine/CMakeLists.txt", "sluice_module(engine DEPENDS workflow/raw)")
        self.write("src/engine/shard.h", '#include "workflow/raw/compile.h"')
        self.assert_only_error("engine does not know workflow")

    def test_internal_headers_stay_inside(self):
        self.write("src/base/internal/crc.h", "")
        self.write("src/base/crc.h", '#include "base/internal/crc.h"')
        self.write("src/value/value.h", '#include "base/internal/crc.h"')
        self.assert_only_error("src/value/value.h:1", "is internal to base")

    def test_product_code_may_not_include_testing(self):
        self.write("src/base/testing/clock.h", "")
        self.write("src/value/value.h", '#include "base/testing/clock.h"')
        self.assert_only_error("src/value/value.h:1", "for tests only")

    def test_tests_and_fakes_may_include_testing(self):
        self.write("src/base/testing/clock.h", "")
        self.write("src/value/testing/values.h", '#include "base/testing/clock.h"')
        self.write("src/value/value_test.cc", '#include "base/testing/clock.h"\n#include "value/testing/values.h"')
        self.assertEqual(self.errors(), [])

    def test_a_nested_module_is_a_module_of_its_own(self):
        self.write("src/expr/CMakeLists.txt", "sluice_module(expr)")
        self.write("src/expr/program.h", "")
        self.write("src/expr/cel/CMakeLists.txt", "sluice_module(expr/cel DEPENDS expr)")
        self.write("src/expr/cel/parse.h", '#include "expr/cel/lex.h"\n#include "expr/program.h"')
        self.write("src/expr/cel/lex.h", '#include "value/value.h"')
        self.assert_only_error("src/expr/cel/lex.h:1", "src/expr/cel/CMakeLists.txt does not name")

    def test_a_module_is_called_as_its_folder(self):
        self.write("src/event/CMakeLists.txt", "sluice_module(events)")
        self.write("src/event/event.h", "")
        self.assert_only_error("stands in the folder of event")

    def test_a_file_outside_any_module_fails(self):
        self.write("src/event/event.h", "")
        self.assert_only_error("src/event/event.h", "no sluice_module() holds it")

    def test_an_include_that_does_not_start_at_the_root_fails(self):
        self.write("src/value/json.h", '#include "value.h"')
        self.assert_only_error("src/value/json.h:1", "includes start at src/")

    def test_a_module_without_a_row_fails(self):
        self.write("src/surprise/CMakeLists.txt", "sluice_module(surprise)")
        self.assert_only_error("surprise has no row")

    def test_a_program_is_held_to_its_dependencies_and_may_include_its_own_files(self):
        self.write("apps/sluice/CMakeLists.txt", "sluice_program(sluice DEPENDS base)")
        self.write("apps/sluice/main.cc",
                   '#include "base/result.h"\n#include "sluice/parts.h"\n#include "value/value.h"')
        self.write("apps/sluice/parts.h", "")
        self.assert_only_error("apps/sluice/main.cc:3", "value")

    def test_a_folder_needs_a_name_of_its_own(self):
        self.write("src/value/utils/README.md", "")
        self.assert_only_error("src/value/utils")

    def test_file_names_are_snake_case(self):
        self.write("src/value/JsonText.h", "")
        self.assert_only_error("src/value/JsonText.h", "snake_case")


if __name__ == "__main__":
    unittest.main()
