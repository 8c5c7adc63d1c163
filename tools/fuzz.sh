#!/usr/bin/env bash
# Builds every fuzzer on the sanitized libraries of the tests and runs each for some seconds, two at a time. What they
# learn is kept in build/corpus; inputs that once broke something are in tests/fuzz/FUZZER and are tried first.
#
# usage: tools/fuzz.sh [SECONDS [FUZZER…]]     10 seconds, all fuzzers
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-10}
shift || true
cmake --preset dev >/dev/null
cmake --build --preset dev --target fuzzers

run() {
    local seconds=$1 name=$2 corpus=build/corpus/$2 findings=build/findings/$2
    local log=build/findings/$2.log
    mkdir -p "$corpus" "$findings"
    local known=()
    [ ! -d "tests/fuzz/$name" ] || known=("tests/fuzz/$name")
    if "build/dev/bin/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$findings/" \
        "$corpus" "${known[@]}" >"$log" 2>&1; then
        echo "fuzz: $name: $(grep -oE 'Done [0-9]+ runs' "$log" | tail -n 1)"
        return
    fi
    echo "fuzz: $name FAILED"
    grep -E 'ERROR|SUMMARY|runtime error|invariant' "$log" | head -n 5
    echo "  input:  $(grep -oE "$findings/[a-z]+-[0-9a-f]+" "$log" | tail -n 1)"
    echo "  output: $log"
    echo "  again:  build/dev/bin/$name INPUT"
    return 1
}
export -f run

if [ $# -eq 0 ]; then
    mapfile -t names < <(find build/dev/bin -name '*_fuzz' -printf '%f\n' | sort)
    set -- "${names[@]}"
fi
if printf '%s\0' "$@" | xargs -0 -r -n 1 -P 2 bash -c 'run "$@"' _ "$seconds"; then
    echo "fuzz: $# fuzzers found nothing in $seconds s each"
else
    echo "fuzz: something was found" >&2
    exit 1
fi
