#!/usr/bin/env bash
# Runs the first example to its end, as the README does.
set -euo pipefail
cd "$(dirname "$0")/.."

exec build/release/bin/sluice run examples/join.yaml
