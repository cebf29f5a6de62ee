# Starts and stops object store servers on loopback; sourced by run.sh. Needs $dir, where they are installed.

# Each holds a process id and ends with the script.
servers=()

stop_servers() {
    local id
    for id in "${servers[@]}"; do kill "$id" 2>/dev/null && wait "$id" 2>/dev/null || true; done
    servers=()
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# answers PORT ID: waits until something listens there; fails if the server ends instead.
answers() {
    local tries
    for tries in $(seq 300); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return 0; fi
        kill -0 "$2" 2>/dev/null || { echo "a server has ended: see $dir/$3.log" >&2; return 1; }
        sleep 0.1
    done
    echo "no answer on port $1 in 30 s: see $dir/$3.log" >&2
    return 1
}

# start NAME PORT COMMAND...
start() {
    local name=$1 port=$2
    "${@:3}" >"$dir/$name.log" 2>&1 &
    servers+=($!)
    answers "$port" $! "$name"
}

# For S3 servers: credentials that mean nothing, and a bucket named `workspace`.
s3_at() { # PORT
    export AWS_ACCESS_KEY_ID=nobody AWS_SECRET_ACCESS_KEY=nothing AWS_REGION=us-east-1 AWS_ALLOW_HTTP=true
    export AWS_ENDPOINT="http://127.0.0.1:$1"
    "$dir/moto/bin/python" "$here/bucket.py" "$AWS_ENDPOINT" workspace
    store=s3://workspace
    endpoint=$AWS_ENDPOINT
}

start_moto() {
    local port
    port=$(free_port)
    start moto "$port" "$dir/moto/bin/moto_server" -H 127.0.0.1 -p "$port"
    s3_at "$port"
}

start_ministack() {
    local port
    port=$(free_port)
    BIND_HOST=127.0.0.1 GATEWAY_PORT=$port start ministack "$port" "$dir/ministack/bin/ministack"
    s3_at "$port"
}

# Its account and key are the well-known ones of every emulator.
start_azurite() {
    local port
    port=$(free_port)
    rm -rf "$dir/azurite/data"
    start azurite "$port" node "$dir/azurite/node_modules/azurite/dist/src/blob/main.js" --blobHost 127.0.0.1 \
        --blobPort "$port" --location "$dir/azurite/data" --loose --skipApiVersionCheck --silent --disableTelemetry
    export AZURE_STORAGE_USE_EMULATOR=true AZURITE_BLOB_STORAGE_URL="http://127.0.0.1:$port"
    store=az://workspace
    endpoint=$AZURITE_BLOB_STORAGE_URL
    "$dir/moto/bin/python" "$here/container.py" "$endpoint" workspace
}
