#!/usr/bin/env bash
# Runs the main example to its end on the embedded store, and shows what one can ask of it afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

say sluice run examples/join.yaml --data DATA
build/release/bin/sluice run examples/join.yaml --data "$data" --run demo

say sluice show demo --data DATA
build/release/bin/sluice show demo --data "$data"

say sluice replay demo --data DATA
build/release/bin/sluice replay demo --data "$data"
