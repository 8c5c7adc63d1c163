#!/usr/bin/env bash
# Runs clang-tidy 19 over the product's sources, as .clang-tidy says. Tests may do on purpose what it forbids.
#
# usage: tools/tidy.sh [--names] [FILE…]       --names checks nothing but the names in headers, which is quick
set -euo pipefail
cd "$(dirname "$0")/.."

quiet() { grep -vE 'warnings? (and .* errors? )?generated|^Suppressed|^Use -header' >&2 || true; }

# All headers are read once, together: what a reader meets first has its name from the rules.
check_names() {
    mkdir -p build
    find src apps -name '*.h' | grep -v /testing/ | sort | sed -E 's|^(src\|apps)/(.*)|#include "\2"|' >build/names.cc
    clang-tidy-19 --quiet --checks="-*,readability-identifier-naming" --header-filter="(^|/)(src|apps)/" build/names.cc \
        -- -std=c++23 -Isrc -Iapps -DFMT_SHARED 2> >(quiet)
    echo "names: $(wc -l <build/names.cc) headers"
}

if [ "${1:-}" = "--names" ]; then
    check_names
    exit
fi

# The clang preset: clang-tidy does not know every option of GCC.
cmake --preset clang >/dev/null
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find src apps -name '*.cc' | grep -vE '_(test|bench|fuzz)\.cc$|/testing/' | sort)
fi

printf '%s\0' "${files[@]}" |
    xargs -0 -r -n 1 -P "$(nproc)" clang-tidy-19 -p build/clang --quiet 2> >(quiet)
echo "tidy: ${#files[@]} files"
