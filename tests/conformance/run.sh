#!/usr/bin/env bash
# The protocol's conformance suite against our server: run.sh SERVER [FOLDER FOR WHAT IS INSTALLED]
# SERVER is the built example `conformance` of dsh-mcp, which mounts the tools that the suite calls.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "usage: run.sh SERVER [DIR]: SERVER is the built example conformance" >&2
    exit 2
fi
server=$(realpath "$1")
dir=${2:-$here/../../target/conformance}
mkdir -p "$dir"
dir=$(realpath "$dir")

# Installs once for each state of the pinned versions.
sha256sum "$here/package.json" "$here/package-lock.json" >"$dir/stamp.new"
if ! cmp -s "$dir/stamp" "$dir/stamp.new"; then
    cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$dir/"
    (cd "$dir" && npm ci --silent --no-audit --no-fund --ignore-scripts)
    # The suite wants Node 22; npm's package `node` fetches it in this step.
    (cd "$dir/node_modules/node" && node installArchSpecificPackage.js >/dev/null)
    mv "$dir/stamp.new" "$dir/stamp"
fi

"$server" 2>"$dir/server.log" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true' EXIT
url=
for _ in $(seq 100); do
    url=$(sed -n 's/^listening on //p' "$dir/server.log")
    if [ -n "$url" ]; then break; fi
    if ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.1
done
if [ -z "$url" ]; then
    echo 'The server does not listen:' >&2
    cat "$dir/server.log" >&2
    exit 1
fi

cd "$dir"
# Exit code 0 if exactly the expected scenarios fail.
node_modules/node/bin/node node_modules/@modelcontextprotocol/conformance/dist/index.js \
    server --url "$url" --suite all --expected-failures "$here/expected-failures.yml"
