#!/usr/bin/env python3
"""Holds the documents to the tree: what they link to or name exists, every module and every
problem code has its page, every decision is listed.

usage: check_docs.py [ROOT]

Checks README.md, CONTRIBUTING.md, docs/**/*.md and every README.md below src/, apps/, tests/, tools/ and examples/:
relative links with their anchors, and paths in backticks. Code blocks do not count.
"""
import pathlib
import re
import sys

PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "src/**/README.md", "apps/**/README.md",
         "tests/**/README.md", "tools/**/README.md", "examples/**/README.md", "bench/**/README.md")
TOPS = ("src", "apps", "tests", "docs", "tools", "cmake", "examples", "bench", ".ci")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
SOURCE = re.compile(r"[A-Za-z0-9][\w-]*\.(h|cc)")
PROBLEM_CODE = re.compile(r'\.code = "([a-z_]+)"|return \{\d{3}, "([a-z_]+)"\}')
HEADING = re.compile(r"^#+\s+(.+?)\s*#*$", re.MULTILINE)


class Check:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.errors = []
        self.names = {path.name for top in TOPS for path in (self.root / top).rglob("*")}

    def run(self):
        pages = sorted({page for pattern in PAGES for page in self.root.glob(pattern)})
        for page in pages:
            self.check_page(page)
        self.check_every_module_has_a_page()
        self.check_every_decision_is_listed()
        self.check_every_problem_code_has_a_page()
        return len(pages), self.errors

    def fail(self, page, message):
        self.errors.append(f"{page.relative_to(self.root)}: {message}")

    def check_page(self, page):
        text = prose(page)
        for target in LINK.findall(text):
            self.check_link(page, target)
        for code in CODE.findall(text):
            if not self.is_named_rightly(page, code):
                self.fail(page, f"`{code}` does not exist")

    def check_link(self, page, target):
        if re.match(r"[a-z]+:", target):
            return
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists():
            self.fail(page, f"the link to {target} leads nowhere")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            self.fail(page, f"{path or 'this page'} has no heading for #{anchor}")

    def is_named_rightly(self, page, code):
        """True also for what does not look like a path of this tree."""
        code = re.sub(r":\d+$", "", code)
        if not PATH.fullmatch(code):
            return True
        if code.split("/")[0] in TOPS and "/" in code:
            return (self.root / code).exists()
        if "/" in code and SOURCE.fullmatch(code.split("/")[-1]):
            return any((base / code).exists() for base in (self.root / "src", self.root / "apps", page.parent))
        if SOURCE.fullmatch(code):
            return code in self.names
        return True

    def check_every_module_has_a_page(self):
        for path in sorted(self.root.glob("src/**/CMakeLists.txt")):
            if "sluice_module(" in path.read_text() and not (path.parent / "README.md").exists():
                self.fail(path.parent, "a module has a README.md: its purpose, what it owns, where to start reading")


    def check_every_decision_is_listed(self):
        index = self.root / "docs/decisions/README.md"
        listed = set(LINK.findall(prose(index))) if index.exists() else set()
        for page in sorted(self.root.glob("docs/decisions/[0-9]*.md")):
            if page.name not in listed:
                self.fail(page, "is not listed in docs/decisions/README.md")

    def check_every_problem_code_has_a_page(self):
        sources = [path for top in ("src/server", "apps/sluice/serve") for path in (self.root / top).rglob("*.cc")
                   if not path.name.endswith("_test.cc")]
        text = "\n".join(path.read_text() for path in sources)
        pages = {page.stem for page in (self.root / "docs/errors").glob("*.md")} - {"README"}
        for code in sorted({first or second for first, second in PROBLEM_CODE.findall(text)} - pages):
            self.errors.append(f"docs/errors/{code}.md: the server answers with this code, but it has no page")
        for code in sorted(page for page in pages if f'"{page}"' not in text):
            self.errors.append(f"docs/errors/{code}.md: no part of src/server answers with this code")



def prose(page):
    return FENCE.sub("", page.read_text())


def anchors(page):
    """The anchors that a Markdown page gets on the usual hosts."""
    found = set()
    for heading in HEADING.findall(prose(page)):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(words.strip().replace(" ", "-"))
    return found


def main():
    count, errors = Check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).run()
    for error in errors:
        print(error, file=sys.stderr)
    if errors:
        sys.exit(f"docs: {len(errors)} errors")
    print(f"docs: {count} pages, all they name exists")


if __name__ == "__main__":
    main()
