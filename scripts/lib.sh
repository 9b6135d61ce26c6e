# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts share. Sourced, never run.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${LASTRO_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/lastro}
jobs=$(nproc 2>/dev/null || echo 2)

have() { command -v "$1" >/dev/null 2>&1; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# The newest suitable Node: on PATH when it is 22 or newer, else the one that setup brought, else what there is.
find_node() {
    local on_path own
    on_path=$(command -v node || true)
    own=$(echo "$cache"/node22/node_modules/node-linux-*/bin/node)
    if [ -n "$on_path" ] && [ "$("$on_path" -p 'process.versions.node.split(".")[0]')" -ge 22 ]; then echo "$on_path"
    elif [ -x "$own" ]; then echo "$own"
    else echo "$on_path"; fi
}

# build PRESET [TARGET...]: configures when needed and builds; quiet unless it fails. The log is BUILD/build.log.
build() {
    local preset=$1 dir; shift
    case $preset in release) dir=$root/build ;; *) dir=$root/build-$preset ;; esac
    local -a configure=(cmake --preset "$preset") make=(cmake --build --preset "$preset" -j "$jobs")
    have ccache && configure+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    [ $# -eq 0 ] || make+=(--target "$@")
    mkdir -p "$dir" || return 1
    local log=$dir/build.log
    : >"$log"
    if [ ! -f "$dir/build.ninja" ]; then
        (cd "$root" && "${configure[@]}") >>"$log" 2>&1 || { tail -n 40 "$log" >&2; return 1; }
    fi
    (cd "$root" && "${make[@]}") >>"$log" 2>&1 && return 0
    grep -E -A12 'error:|FAILED:|CMake Error|undefined reference' "$log" | head -n 80 >&2 || tail -n 40 "$log" >&2
    return 1
}
