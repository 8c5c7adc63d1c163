#!/usr/bin/env bash
# Lays out the sources as .clang-format says.
#
# usage: tools/format.sh [--check] [FILE…]     --check changes nothing, and fails when something would change
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [ "${1:-}" = "--check" ]; then
    mode=(--dry-run --Werror)
    shift
fi
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find src apps tests bench -name '*.h' -o -name '*.cc' 2>/dev/null | sort)
fi

printf '%s\0' "${files[@]}" | xargs -0 -r -n 16 -P "$(nproc)" clang-format-19 "${mode[@]}"
echo "format: ${#files[@]} files"
