#!/usr/bin/env bash
# The command line of the MCP inspector against a built dsh-fs, over both transports: inspector.sh BIN INSPECTOR
set -euo pipefail

bin=$1
inspector=$2
failed=0
folder=$(mktemp -d)
pid=
cleanup() {
    if [ -n "$pid" ]; then kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; fi
    rm -rf "$folder"
}
trap cleanup EXIT

check() { # WHAT WANTED COMMAND...
    local said
    # It answers 5 for an error result.
    said=$("${@:3}" 2>&1) || true
    if grep -qF -- "$2" <<<"$said"; then
        echo "ok   inspector: $1"
    else
        failed=1
        echo "FAIL inspector: $1: $said"
    fi
}

stdio() {
    node "$inspector" --cli "$@" -- "$bin" mcp --cwd "$folder"
}

http() {
    node "$inspector" --cli "$url" --transport http "$@"
}

printf 'alpha\nbeta\n' >"$folder/notes.txt"
mkdir "$folder/work"
change=(--method tools/call --tool-name edit --tool-arg file_path=notes.txt old_string=beta new_string=gamma)
read=(--method tools/call --tool-name read --tool-arg file_path=notes.txt)

check 'stdio: lists the tools' '"name": "glob"' stdio --method tools/list
check 'stdio: reads' '2: beta' stdio "${read[@]}"
check 'stdio: an edit before a read is refused' 'FS_NOT_OBSERVED' stdio "${change[@]}"

"$bin" mcp --http 127.0.0.1:0 --cwd "$folder" 2>"$folder/work/log" &
pid=$!
for _ in $(seq 100); do
    url=$(sed -n 's/^listening on //p' "$folder/work/log")
    if [ -n "$url" ]; then break; fi
    sleep 0.1
done
check 'http: lists the tools' '"name": "glob"' http --method tools/list
url=$url/inspector
check 'http: an edit before a read is refused' 'FS_NOT_OBSERVED' http "${change[@]}"
check 'http: reads' '2: beta' http "${read[@]}"
# Every call is a client of its own here; what they have in common is the session in the URL.
check 'http: edits after the read of the same session' 'updated successfully' http "${change[@]}"
exit $failed
