#!/usr/bin/env bash
# Shows what there is: the main example run to its end here, and then a server with a workflow that goes on. On a terminal
# the server stays until Ctrl-C; otherwise everything ends by itself.
set -euo pipefail
cd "$(dirname "$0")/.."

program=build/release/bin/sluice
data=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$data"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
sluice() {
    say sluice "$@"
    "$program" "$@"
}

say sluice run examples/join.yaml --data DATA
"$program" run examples/join.yaml --data "$data/here" --run demo

say sluice show demo --data DATA
"$program" show demo --data "$data/here"

say sluice replay demo --data DATA
"$program" replay demo --data "$data/here"

say sluice serve
"$program" serve --data "$data/server" --listen 127.0.0.1:0 2>"$data/log" &
server=$!
until grep -q '^serving ' "$data/log"; do
    kill -0 "$server" 2>/dev/null || { cat "$data/log" >&2; exit 1; }
    sleep 0.05
done
SLUICE_SERVER=$(grep -o 'https\?://[^ ]*' "$data/log" | head -1)
export SLUICE_SERVER
echo "serving $SLUICE_SERVER"

sluice deploy examples/join.yaml
sluice start join --id demo --wait
cat >"$data/doorbell.yaml" <<'YAML'
name: doorbell
triggers:
  - {id: three, on: ring, condition: {count: 3}, action: {finish: {result: somebody is at the door}}}
YAML
sluice deploy "$data/doorbell.yaml"
sluice start doorbell --id door
sluice send door --type ring
sluice ps
sluice why door

if [ -t 1 ]; then
    printf '\nThe server is at %s, and run door waits for two more rings:\n' "$SLUICE_SERVER"
    printf '    %s send door --type ring --server %s\n' "$program" "$SLUICE_SERVER"
    printf 'Ctrl-C ends it.\n'
    say sluice watch door
    "$program" watch door || true
    wait "$server"
else
    sluice send door --type ring
    sluice send door --type ring
    sluice watch door
fi
