#!/usr/bin/env bash
# Object stores, real servers on loopback, against a built binary: run.sh BIN [FOLDER FOR WHAT IS INSTALLED]
#
# The whole contract on Azurite and moto; the scenarios, and rivals with and without a bad connection, on ministack and
# Azurite. What is started here ends here.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "usage: run.sh BIN [DIR]: BIN is a built dsh-fs" >&2
    exit 2
fi
bin=$(realpath "$1")
target=${CARGO_TARGET_DIR:-$here/../../target}
dir=${2:-$target/stores}
mkdir -p "$dir"
dir=$(realpath "$dir")
cd "$here/../.."

# shellcheck source=tests/stores/servers.sh
. "$here/servers.sh"
trap stop_servers EXIT

# Installs once for each state of the pinned versions: unchanged NAME FILE...
unchanged() {
    local stamp="$dir/$1.stamp"
    shift
    sha256sum "$@" >"$stamp.new"
    cmp -s "$stamp" "$stamp.new"
}

for name in moto ministack; do
    requirements=$here/requirements-$name.txt
    if ! unchanged "$name" "$requirements"; then
        rm -rf "${dir:?}/$name"
        python3 -m venv "$dir/$name"
        "$dir/$name/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
        mv "$dir/$name.stamp.new" "$dir/$name.stamp"
    fi
done
if ! unchanged azurite "$here/package.json" "$here/package-lock.json"; then
    rm -rf "$dir/azurite"
    mkdir -p "$dir/azurite"
    cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$dir/azurite/"
    (cd "$dir/azurite" && npm ci --silent --no-audit --no-fund)
    mv "$dir/azurite.stamp.new" "$dir/azurite.stamp"
fi

# All as `./test` builds it, so that what it has built is there.
cargo build --locked --quiet --workspace --bins
xtask=$target/debug/xtask

contract() {
    cargo test --locked --quiet --workspace --test servers
}

rivals() {
    "$xtask" prove objects --program "$bin" --store "$store" --endpoint "$endpoint"
}

failed=0
for server in azurite moto ministack; do
    echo "== $server"
    (
        trap stop_servers EXIT
        "start_$server"
        case $server in
        azurite) contract && rivals ;;
        moto) contract ;;
        ministack) rivals && "$dir/moto/bin/python" "$here/scenarios.py" --bin "$bin" --endpoint "$endpoint" --store "$store" ;;
        esac
    ) || failed=1
done
exit $failed
