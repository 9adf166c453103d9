#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that build, demo and tests need, where they are missing. Needs root then.
set -eu

build="gcc make pkg-config clang llvm libbpf-dev bpftool libmnl-dev libmicrohttpd-dev libevent-dev
libjansson-dev libsqlite3-dev libcap-ng-dev libssl-dev libyaml-dev libcurl4-openssl-dev python3
python3-yaml"
tests="libcmocka-dev python3-pytest python3-scapy iproute2 iputils-ping ethtool iperf3 xdp-tools
curl procps util-linux clang-format cppcheck git man-db groff zsh nftables
wireguard-tools"

missing=""
for package in $build $tests; do
	dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "missing packages:$missing" >&2
	echo "run: sudo make deps" >&2
	exit 1
fi
echo "installing:$missing"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
