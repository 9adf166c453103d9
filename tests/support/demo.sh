#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `sudo make demo`: a client, a host that secg guards and a server, each in a network namespace of its
# own; the policy docs/examples/demo.yaml; real traffic that it allows, tracks and refuses. Everything is
# removed at the end. Exits 0 only if all went as the policy says.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
policy=$root/docs/examples/demo.yaml
id=secg-demo$$
client=$id-client host=$id-host server=$id-server
bpffs=/sys/fs/bpf/$id
work='' daemon='' servers='' has_mounted='' failures=0

if [ "$(id -u)" -ne 0 ]; then
	echo "the demo makes network namespaces: run it as root, sudo make demo" >&2
	exit 1
fi

# ── clean up, whatever happens ─────────────────────────────────────────────────────────────────────
end() {
	for pid in "$@"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
}
cleanup() {
	status=$?
	trap '' INT TERM
	trap - EXIT
	end $servers $daemon
	[ ! -d "$bpffs" ] || in_ns "$host" "$build/secgd" --bpffs "$bpffs" --detach-all >>"$work/log" 2>&1 || status=1
	rm -rf "$bpffs"
	for ns in $client $host $server; do
		ip netns del "$ns" 2>/dev/null || true
	done
	# Unmounting a bpffs ends what is pinned in it: only if it is ours and nobody else uses it.
	if [ -n "$has_mounted" ] && [ -z "$(ls -A /sys/fs/bpf | grep -v '\.debug$')" ]; then
		umount /sys/fs/bpf
	fi
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ── how it speaks ──────────────────────────────────────────────────────────────────────────────────
title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || title() { printf '\n%s\n' "$*"; }
show() {
	echo "  \$ sgctl $*"
	if ! "$build/sgctl" --socket "$work/secgd.sock" "$@" >"$work/out" 2>&1; then
		failures=$((failures + 1))
	fi
	sed 's/^/    /' "$work/out"
}
# expect pass|stop 'what it is' command...
expect() {
	wanted=$1 what=$2
	shift 2
	if "$@" >"$work/out" 2>&1; then got=pass; else got=stop; fi
	if [ "$got" = "$wanted" ]; then
		printf '  ok    %s\n' "$what"
	else
		printf '  WRONG %s\n' "$what"
		sed 's/^/        | /' "$work/out"
		failures=$((failures + 1))
	fi
}
in_ns() {
	ns=$1
	shift
	nsenter --net="/run/netns/$ns" "$@"
}
# A function in the background is a shell around its program: a signal to $! would not reach the program.
# So secgd and the servers are started as simple commands, which nsenter becomes.
start_secgd() {
	nsenter --net="/run/netns/$host" "$build/secgd" --socket "$work/secgd.sock" --state-dir "$work/state" \
		--run-dir "$work/run" --bpffs "$bpffs" --max-sessions 16384 >>"$work/log" 2>&1 &
	daemon=$!
	if ! await curl -sf --unix-socket "$work/secgd.sock" http://localhost/healthz; then
		cat "$work/log" >&2
		exit 1
	fi
}
# Waits up to five seconds for a command to succeed.
await() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { echo "no answer from: $*" >&2; return 1; }
		sleep 0.05
	done
}

# ── the lab ────────────────────────────────────────────────────────────────────────────────────────
title 'A client, a host that forwards, a server'
work=$(mktemp -d)
if ! grep -q ' /sys/fs/bpf .* - bpf ' /proc/self/mountinfo; then
	mount -t bpf bpf /sys/fs/bpf
	has_mounted=yes
fi
for ns in $client $host $server; do
	ip netns add "$ns"
	ip -n "$ns" link set lo up
	# Link-local addresses at once: while theirs is tentative, routers ask for no neighbour.
	in_ns "$ns" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
done
link() { # namespace, its interface, the host's interface, subnet number
	ip -n "$1" link add "$2" type veth peer name "$3" netns "$host"
	ip -n "$1" link set "$2" up
	ip -n "$host" link set "$3" up
	ip -n "$host" addr add "10.77.$4.1/24" dev "$3"
	ip -n "$host" addr add "fd77:$4::1/64" dev "$3" nodad
	ip -n "$1" addr add "10.77.$4.2/24" dev "$2"
	ip -n "$1" addr add "fd77:$4::2/64" dev "$2" nodad
	ip -n "$1" route add default via "10.77.$4.1"
	ip -n "$1" -6 route add default via "fd77:$4::1"
}
link "$client" eth0 c-host 1
link "$server" eth0 s-host 2
in_ns "$host" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
cat <<'END'
  client 10.77.1.2 ── c-host [ host ] s-host ── 10.77.2.2 server
  fd77:1::2             ▲ guarded               fd77:2::2
END

cat >"$work/udp.py" <<'END'
"""udp.py serve PORT: answers each datagram, saying which. udp.py ask HOST PORT: 0 if an answer came."""
import socket, sys
if sys.argv[1] == "serve":
    sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sock.bind(("::", int(sys.argv[2])))
    while True:
        data, peer = sock.recvfrom(1500)
        sock.sendto(b"got " + data, peer)
info = socket.getaddrinfo(sys.argv[2], int(sys.argv[3]), type=socket.SOCK_DGRAM)[0]
sock = socket.socket(info[0], socket.SOCK_DGRAM)
sock.settimeout(0.5)
sock.connect(info[4])
sock.send(b"reading")
sys.exit(sock.recv(1500) != b"got reading")
END
mkdir "$work/www"
echo 'hello from the server' >"$work/www/index.html"
serve() {
	nsenter --net="/run/netns/$server" "$@" >/dev/null 2>&1 &
	servers="$servers $!"
}
serve /usr/bin/python3 -m http.server --bind :: --directory "$work/www" 8080
serve /usr/bin/python3 -m http.server --bind :: --directory "$work/www" 8081
serve /usr/bin/python3 "$work/udp.py" serve 9000

get() { in_ns "$client" curl -sS --max-time 1 "http://$1/"; }
ask() { in_ns "$client" /usr/bin/python3 "$work/udp.py" ask "$1" 9000; }
ping_once() { in_ns "$1" ping -n -c 1 -W 1 "$2"; }
await get 10.77.2.2:8080
await get 10.77.2.2:8081
await ask 10.77.2.2

title 'Before: nothing is guarded, everything passes'
expect pass 'http to port 8080' get 10.77.2.2:8080
expect pass 'http to port 8081' get 10.77.2.2:8081

title 'The daemon starts, the policy is applied'
start_secgd
grep -v '^#' "$policy" | sed 's/^/    /'
show apply -f "$policy"
show get ports

title 'What the policy allows'
expect pass 'http to port 8080, and the answer comes back' get 10.77.2.2:8080
expect pass 'the same over IPv6' get '[fd77:2::2]:8080'
expect pass 'ping' ping_once "$client" 10.77.2.2
expect pass 'ping over IPv6' ping_once "$client" fd77:2::2
expect pass 'udp to port 9000, stateless, its answer by a rule of its own' ask 10.77.2.2

title 'What it refuses'
expect stop 'http to port 8081: no rule names it' get 10.77.2.2:8081
expect stop 'the same over IPv6' get '[fd77:2::2]:8081'
expect stop 'ping from the server: the client may ask, not be asked' ping_once "$server" 10.77.1.2

title 'The daemon is killed: the kernel goes on by the same policy'
kill -9 $daemon
wait $daemon 2>/dev/null || true
daemon=''
expect stop 'sgctl finds no daemon' "$build/sgctl" --socket "$work/secgd.sock" get ports
expect pass 'http to port 8080' get 10.77.2.2:8080
expect stop 'http to port 8081' get 10.77.2.2:8081
start_secgd

title 'What was tracked, and what was counted'
show sessions
show stats
counted() {
	in_ns "$host" "$build/sgctl" --socket "$work/secgd.sock" -o json stats | /usr/bin/python3 -c '
import json, sys
stats = json.load(sys.stdin)
rules = stats["rules"]
wrong = [rule for rule in ("client-in/web", "client-in/ping", "client-in/telemetry", "client-out/telemetry-ack")
         if not rules.get(rule, {}).get("packets")]
if stats["reasons"].get("default", 0) < 4:
    wrong.append("reason default")
sys.exit("not counted: " + ", ".join(wrong) if wrong else 0)'
}
expect pass 'every rule and every refusal was counted' counted

title "$([ $failures -eq 0 ] && echo 'All as the policy says. Cleaning up.' || echo "$failures not as the policy says.")"
[ $failures -eq 0 ]
