#!/usr/bin/env bash
# Real MCP clients against a built binary: run.sh BIN [FOLDER FOR WHAT IS INSTALLED]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "usage: run.sh BIN [DIR]: BIN is a built dsh-fs" >&2
    exit 2
fi
bin=$(realpath "$1")
dir=${2:-$here/../../target/clients}
mkdir -p "$dir"
dir=$(realpath "$dir")

# Installs once for each state of the pinned versions: unchanged CHECKSUM-NAME FILE...
unchanged() {
    local stamp="$dir/$1.stamp"
    shift
    sha256sum "$@" >"$stamp.new"
    cmp -s "$stamp" "$stamp.new"
}

if ! unchanged python "$here/python/requirements.txt"; then
    rm -rf "$dir/python"
    python3 -m venv "$dir/python"
    "$dir/python/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/python/requirements.txt"
    mv "$dir/python.stamp.new" "$dir/python.stamp"
fi

typescript=(package.json package-lock.json tsconfig.json client.ts elicitation.ts newer.ts server.ts)
if ! unchanged typescript "${typescript[@]/#/$here/typescript/}"; then
    mkdir -p "$dir/typescript"
    cp "${typescript[@]/#/$here/typescript/}" "$here/typescript/.npmrc" "$dir/typescript/"
    (cd "$dir/typescript" && npm ci --silent --no-audit --no-fund && npx --no-install tsc --project .)
    mv "$dir/typescript.stamp.new" "$dir/typescript.stamp"
fi

failed=0
"$dir/python/bin/python" "$here/python/client.py" "$bin" legacy || failed=1
"$dir/python/bin/python" "$here/python/client.py" "$bin" 2026-07-28 || failed=1
node "$dir/typescript/out/client.js" "$bin" || failed=1
node "$dir/typescript/out/newer.js" "$bin" || failed=1
"$here/inspector.sh" "$bin" "$dir/typescript/node_modules/.bin/mcp-inspector" || failed=1
exit $failed
