#!/usr/bin/env bash
# Runs clang-tidy 19 over the product's sources, as .clang-tidy says. Tests may do on purpose what it forbids.
#
# usage: tools/tidy.sh [--names] [FILE…]       --names checks nothing but names, which is quick
set -euo pipefail
cd "$(dirname "$0")/.."

checks=()
if [ "${1:-}" = "--names" ]; then
    checks=(--checks='-*,readability-identifier-naming')
    shift
fi

# The clang preset: clang-tidy does not know every option of GCC.
cmake --preset clang >/dev/null
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find src apps -name '*.cc' | grep -vE '_(test|bench|fuzz)\.cc$|/testing/' | sort)
fi

printf '%s\0' "${files[@]}" |
    xargs -0 -r -n 1 -P "$(nproc)" clang-tidy-19 -p build/clang --quiet "${checks[@]}" \
        2> >(grep -vE 'warnings? (and .* errors? )?generated|^Suppressed|^Use -header' >&2)
echo "tidy: ${#files[@]} files"
