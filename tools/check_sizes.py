#!/usr/bin/env python3
"""Holds sizes to their bounds: most functions are short, and no file hides a second noun.

usage: check_sizes.py [ROOT]

Product code only; tests and benches may be long. Needs universal-ctags.
"""
import json
import pathlib
import re
import subprocess
import sys

function_lines_p95_max = 35
function_lines_long = 70
function_share_long_max = 0.01
file_lines_max = 800
folder_files_max = 40
NOT_PRODUCT = re.compile(r"_(test|bench|fuzz)\.cc$|/testing/")


def product_files(root):
    files = [path for top in ("src", "apps") for path in (root / top).rglob("*") if path.suffix in (".h", ".cc")]
    return sorted(path for path in files if not NOT_PRODUCT.search(path.relative_to(root).as_posix()))


def functions(files):
    """Lines and place of each function, longest first."""
    listing = subprocess.run(
        ["ctags", "--languages=C++", "--langmap=C++:.cc.h", "--kinds-C++=f", "--fields=+ne", "-f", "-",
         "--output-format=json", "-L", "-"],
        input="\n".join(map(str, files)), capture_output=True, text=True, check=True).stdout
    tags = [json.loads(row) for row in listing.splitlines()]
    sizes = [(tag["end"] - tag["line"] + 1, f'{tag["path"]}:{tag["line"]}') for tag in tags if "end" in tag]
    return sorted(sizes, reverse=True)


def errors_in(files):
    for path in files:
        lines = path.read_text().count("\n")
        if lines > file_lines_max:
            yield f"{path}: {lines} lines, more than {file_lines_max}"
    for folder in sorted({path.parent for path in files}):
        count = sum(path.parent == folder for path in files)
        if count > folder_files_max:
            yield f"{folder}: {count} files, more than {folder_files_max}"
    sizes = functions(files)
    p95 = sizes[len(sizes) // 20][0] if sizes else 0
    if p95 > function_lines_p95_max:
        yield f"functions: one in twenty has {p95} lines or more, {function_lines_p95_max} is the bound"
    long = [f"{place}: a function of {lines} lines" for lines, place in sizes if lines > function_lines_long]
    if len(long) > function_share_long_max * len(sizes):
        yield from long


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = product_files(root)
    errors = list(errors_in(files))
    for error in errors:
        print(error.replace(f"{root}/", ""), file=sys.stderr)
    if errors:
        sys.exit(f"sizes: {len(errors)} errors")
    print(f"sizes: {len(files)} files within bounds")


if __name__ == "__main__":
    main()
