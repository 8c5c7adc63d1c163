#!/usr/bin/env python3
"""Holds the include graph to what the modules say of themselves.

usage: check_layers.py [ROOT]

Reads every sluice_module() and sluice_program() call below ROOT/src and ROOT/apps, and every include of their files.
Fails, naming file and line, when an include is not covered by DEPENDS, when DEPENDS names what nobody includes, when
the modules form a cycle or point upwards, and when a module's internal/ or testing/ is used by whom it is not meant for.
"""
import dataclasses
import pathlib
import re
import sys

# The layers, lowest first: a module includes lower rows, and its own row where DEPENDS names it.
ROWS = (
    {"base"},
    {"value", "observe", "secret"},
    {"event", "expr", "schedule", "graph", "reactor"},
    {"trigger", "http", "resp", "store"},
    {"workflow", "plan", "engine", "cluster", "connector", "client", "scale"},
    {"server", "cli", "trial"},
    {"apps"},
)
# The two towers on base: what things mean does no I/O, how things run has no word of the domain.
MEANING = {"value", "event", "expr", "schedule", "graph", "trigger", "workflow", "plan"}
RUNNING = {"observe", "secret", "reactor", "http", "resp", "store"}
# Absences that carry the design.
STRANGERS = {("engine", "workflow"), ("engine", "connector"), ("connector", "engine"), ("cli", "engine")}

NAMELESS_FOLDERS = {"util", "utils", "common", "helper", "helpers", "misc"}
KEYWORDS = {"THREADED", "DEPENDS", "LIBRARIES", "TEST_DEPENDS", "TEST_LIBRARIES"}
CALL = re.compile(r"^\s*sluice_(module|program)\s*\(([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
FILE_NAME = re.compile(r"[a-z0-9_]+\.(h|cc)")
TEST_NAME = re.compile(r"_(test|bench|fuzz)\.cc$")


@dataclasses.dataclass
class Module:
    name: str
    folder: pathlib.Path
    place: str
    depends: list[str]
    test_depends: list[str]
    used: set[str] = dataclasses.field(default_factory=set)
    used_by_tests: set[str] = dataclasses.field(default_factory=set)

    @property
    def top(self):
        return self.name.split("/")[0]


class Check:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.errors = []
        self.modules = {}

    def run(self):
        self.read_modules()
        for module in self.modules.values():
            self.check_declared(module)
        self.check_files()
        for module in self.modules.values():
            self.check_unused(module)
        self.check_cycles()
        return self.errors

    def fail(self, place, message):
        self.errors.append(f"{place}: {message}")

    def read_modules(self):
        for top in ("src", "apps"):
            for path in sorted(self.root.glob(f"{top}/**/CMakeLists.txt")):
                text = re.sub(r"#.*", "", path.read_text())
                for kind, arguments in CALL.findall(text):
                    self.add_module(path, kind, arguments.split())

    def add_module(self, path, kind, words):
        place = str(path.relative_to(self.root))
        if not words:
            self.fail(place, f"sluice_{kind}() needs a name")
            return
        lists = {keyword: [] for keyword in KEYWORDS}
        keyword = None
        for word in words[1:]:
            if word in KEYWORDS:
                keyword = word
            elif keyword is not None:
                lists[keyword].append(word)
        folder = path.parent.relative_to(self.root)
        expected = folder.relative_to("src").as_posix() if kind == "module" else folder.name
        if words[0] != expected:
            self.fail(place, f"sluice_{kind}({words[0]}) stands in the folder of {expected}")
        name = expected if kind == "module" else f"apps/{expected}"
        self.modules[name] = Module(name, folder, place, lists["DEPENDS"], lists["TEST_DEPENDS"])

    def check_declared(self, module):
        if row_of(module) is None:
            self.fail(module.place, f"{module.name} has no row: add it to ROWS in tools/check_layers.py")
        for name in module.depends + module.test_depends:
            target = self.modules.get(name)
            if target is None:
                self.fail(module.place, f"{module.name} depends on {name}, which is no module")
            elif row_of(module) is not None and row_of(target) is not None and row_of(target) > row_of(module):
                self.fail(module.place, f"{module.name} (row {row_of(module)}) depends on {name} of the higher row "
                                        f"{row_of(target)}")
        for name in module.depends:
            reason = reason_against(module.top, name.split("/")[0])
            if reason:
                self.fail(module.place, f"{module.name} depends on {name}: {reason}")

    def check_files(self):
        for top in ("src", "apps"):
            for path in sorted((self.root / top).glob("**/*")):
                if path.is_dir() and path.name in NAMELESS_FOLDERS:
                    self.fail(path.relative_to(self.root), "a folder is called after what it holds, not "
                                                           f"{path.name}")
                elif path.suffix in (".h", ".cc"):
                    self.check_file(path.relative_to(self.root))

    def check_file(self, path):
        if not FILE_NAME.fullmatch(path.name):
            self.fail(path, "file names are snake_case")
        module = self.module_of_file(path)
        text = (self.root / path).read_text()
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            self.check_include(module, path, f"{path}:{line}", match[1])
        if module is None:
            self.fail(path, f"no sluice_module() holds it: {path.parent}/CMakeLists.txt is missing")

    def check_include(self, module, path, place, include):
        if module is None:
            return
        target = self.module_of_include(include)
        if target is None:
            if not (self.root / "apps" / include).is_file():
                self.fail(place, f'"{include}" is in no module; includes start at src/')
            return
        is_test = bool(TEST_NAME.search(path.name)) or "testing" in path.parts
        parts = include[len(target.name):].split("/")
        if target is not module:
            self.check_reach(module, target, place, include, is_test)
            (module.used_by_tests if is_test else module.used).add(target.name)
            if "internal" in parts:
                self.fail(place, f'"{include}" is internal to {target.name}')
        if "testing" in parts and not is_test:
            self.fail(place, f'"{include}" is for tests only')

    def check_reach(self, module, target, place, include, is_test):
        allowed = module.depends + (module.test_depends if is_test else [])
        if target.name not in allowed:
            keyword = "TEST_DEPENDS" if is_test else "DEPENDS"
            self.fail(place, f'"{include}" belongs to {target.name}, which {module.place} does not name in {keyword}')

    def check_unused(self, module):
        for name in module.depends:
            if name in self.modules and name not in module.used:
                hint = "; only tests use it: TEST_DEPENDS" if name in module.used_by_tests else ""
                self.fail(module.place, f"{module.name} depends on {name} but includes nothing of it{hint}")
        for name in module.test_depends:
            if name in self.modules and name not in module.used_by_tests:
                self.fail(module.place, f"the tests of {module.name} depend on {name} but include nothing of it")

    def check_cycles(self):
        done, path = set(), []

        def visit(name):
            if name in path:
                cycle = path[path.index(name):] + [name]
                self.fail(self.modules[name].place, "modules in a cycle: " + " → ".join(cycle))
                return
            if name in done:
                return
            path.append(name)
            for target in self.modules[name].depends:
                if target in self.modules:
                    visit(target)
            path.pop()
            done.add(name)

        for name in self.modules:
            visit(name)

    def module_of_file(self, path):
        """The module of the nearest folder that has one."""
        folders = {module.folder: module for module in self.modules.values()}
        return next((folders[folder] for folder in path.parents if folder in folders), None)

    def module_of_include(self, include):
        parents = pathlib.PurePosixPath(include).parents
        return next((self.modules[str(folder)] for folder in parents if str(folder) in self.modules), None)


def row_of(module):
    return next((number for number, row in enumerate(ROWS) if module.top in row), None)


def reason_against(source, target):
    if source in MEANING and target not in MEANING | {"base"}:
        return "what gives meaning includes nothing that runs"
    if source in RUNNING and target not in RUNNING | {"base"}:
        return "what runs things has no word of the domain"
    if (source, target) in STRANGERS:
        return f"{source} does not know {target}"
    return None


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    check = Check(root)
    errors = check.run()
    for error in errors:
        print(error, file=sys.stderr)
    if errors:
        sys.exit(f"layers: {len(errors)} errors")
    print(f"layers: {len(check.modules)} modules follow them")


if __name__ == "__main__":
    main()
