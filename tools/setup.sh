#!/usr/bin/env bash
# Installs the packages of tools/packages.txt that are missing, and nothing else. Asks no questions.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(sed 's/#.*//' tools/packages.txt | awk 'NF {print $1}')

if ! command -v apt-get >/dev/null; then
    echo "setup: this is no Debian; install by hand what tools/packages.txt names" >&2
    exit 1
fi

present=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | awk '$1 == "installed" {print $2}' || true)
mapfile -t missing < <(printf '%s\n' "${wanted[@]}" | grep -vxF -f <(printf '%s\n' "$present") || true)
if [ ${#missing[@]} -eq 0 ]; then
    echo "setup: all ${#wanted[@]} packages are there"
    exit 0
fi

as_root=(env)
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo -n env)
    if ! sudo -n true 2>/dev/null; then
        echo "setup: ${#missing[@]} packages are missing, and installing them needs root. As root, run:" >&2
        echo "    apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
fi

install() {
    "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# The servers among them are for tests, which start their own: the packages are not to start any.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
fi

echo "setup: installing ${missing[*]}"
# The lists of a fresh machine are empty or old: only then are they fetched.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1 || ! install; then
    "${as_root[@]}" apt-get update -q
    install
fi
echo "setup: installed ${#missing[@]} packages"
