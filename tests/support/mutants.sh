#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make check-mutants`: breaks the BPF source in one place at a time, in a copy of the tree, and expects
# the differential test to turn red each time, or the test of traced runs where they are broken. A mutant
# that goes unnoticed, that does not build or that the kernel refuses to load counts as failed.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
pairs=${MUTANT_PAIRS:-30000}
seed=${MUTANT_SEED:-1}
# MUTANT_ONLY="NAME ...": those alone
passed=0 failed=0

if [ "$(id -u)" -ne 0 ]; then
	echo "mutants are run in a network namespace: run as root" >&2
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ── the copy: sources, and what is built of them, so that only what depends on a mutant is built again ──
tree=$work/tree
mkdir "$tree"
tar -C "$root" --exclude=./.git --exclude=./build -cf - . | tar -C "$tree" -xf -
cp -a "$build" "$tree/build"
find "$tree/build" -name '*.d' -exec sed -i "s|$build/|build/|g" {} +

compile() {
	make -s -j 2 -C "$tree" BUILD=build secgd build/tests/bpf/test_trace >"$work/log" 2>&1
}
# 0: agrees with the reference, 1: differs, 2: could not run
differ() {
	BUILD=$tree/build /usr/bin/python3 "$tree/tests/e2e/test_differential.py" \
		--seed "$seed" --pairs "$pairs" --stop >"$work/log" 2>&1
}
traced() {
	"$tree/build/tests/bpf/test_trace" >"$work/log" 2>&1 || return $?
}
judge=differ
good() {
	passed=$((passed + 1))
	echo "$*"
}
bad() {
	failed=$((failed + 1))
	echo "$*"
}
show_log() {
	tail -n 12 "$work/log" | sed 's/^/        | /'
}
# mutant NAME FILE SED-SCRIPT
mutant() {
	name=$1 file=$tree/bpf/$2
	case " ${MUTANT_ONLY:-$name} " in *" $name "*) ;; *) return ;; esac
	cp "$file" "$work/original"
	sed -i "$3" "$file"
	if cmp -s "$file" "$work/original"; then
		bad "FAILED   $name: its pattern is not in $2 any more"
		return
	fi
	if ! compile; then
		bad "FAILED   $name: does not build"
		show_log
	else
		status=0
		$judge || status=$?
		case $status in
		0) bad "SURVIVED $name" ;;
		1) good "killed   $name" ;;
		*)
			bad "FAILED   $name: does not load or run"
			show_log
			;;
		esac
	fi
	cp "$work/original" "$file"
}

if ! compile || ! differ || ! traced; then
	echo "the unbroken programs do not pass the tests:" >&2
	show_log >&2
	exit 1
fi
good "passed   unbroken"

# ── what a rule matches ────────────────────────────────────────────────────────────────────────────
mutant source classify.h 's/s->src, q->is_reply ? p->dst : p->src/s->src, p->dst/'
mutant destination classify.h 's/s->dst, q->is_reply ? p->src : p->dst/s->dst, p->src/'
mutant source-port classify.h 's/s->l4\[0\], q->high)/s->l4[0], q->low)/'
mutant destination-port classify.h 's/s->l4\[1\], q->low)/s->l4[1], q->high)/'
mutant protocol classify.h 's/line->w\[p->proto % 16\]/line->w[(p->proto ^ 1) % 16]/'
mutant protocol-line classify.h 's|s->proto + p->proto / 16|s->proto + p->proto / 32|'
mutant icmp-type-for-code query.h 's/q->high = p->icmp_type;/q->high = p->icmp_code;/; s/q->low = p->icmp_code;/q->low = p->icmp_type;/'
mutant icmp-code-ignored parse.h 's/p->icmp_code = header\[1\];/p->icmp_code = 0;/'
mutant icmp-error-by-allow rules.h 's/p->l4 == L4_ICMP_ERROR && o->rule/0 \&\& o->rule/'
mutant family classify.h 's/q->policy + (p->family & 3)/q->policy + (p->family \& 1)/'
mutant ipv6-word tree.h 's/bpf_ntohl(address\[2\])/bpf_ntohl(address[1])/'
mutant ipv4-options parse.h 's/p->l4_offset = offset + header_size;/p->l4_offset = offset + 20;/'

# ── rare fields ────────────────────────────────────────────────────────────────────────────────────
mutant rare-ignored classify.h 's/has_rare = q->dims & ~QUERY_COMMON;/has_rare = 0;/'
mutant rare-first-only rare.h 's/rare->match.w\[k\] &= v->w\[k\];/rare->match.w[k] = v->w[k];/'
mutant vlan rare.h 's/s->vlan, p->vlan)/s->vlan, 0)/'
mutant vlan-innermost parse.h 's/if (!tags++)/tags++;/'
mutant vlan-priority parse.h 's/p->vlan = bpf_ntohs(tag\[0\]) & VLAN_ID_MASK;/p->vlan = 0;/'
mutant ethertype rare.h 's/s->ethertype, p->ethertype)/s->ethertype, p->vlan)/'
mutant byte-number rare.h 's/value = p->byte\[byte\];/value = p->byte[byte ^ 1];/'
mutant byte-line rare.h 's|table->table + value / WORDS_PER_LINE|table->table + value / 32|'
mutant byte-tables-of-one-line rare.h 's/i < SECG_BYTE_COUNT; i++/i < TABLES_PER_LINE; i++/'
mutant source-mac parse.h '/void read_macs(/,/^}/ s/at + ETH_ALEN);/at);/'
mutant mac-end parse.h 's/p->byte + SECG_BYTE_SRC_MAC + 4)/p->byte + SECG_BYTE_SRC_MAC)/'
mutant tcp-flags parse.h 's/p->byte\[SECG_BYTE_TCP_FLAGS\] = header\[13\];/p->byte[SECG_BYTE_TCP_FLAGS] = header[12];/'
mutant dscp parse.h 's/traffic_class >> 2;/traffic_class >> 3;/'
mutant first-fragment parse.h '/p->byte\[SECG_BYTE_TRAFFIC\] |= SECG_TRAFFIC_FRAGMENT;/d'

# ── where a search ends ────────────────────────────────────────────────────────────────────────────
mutant inner-separator tree.h 's/BELOW(key, inner->separator\[k\])/BELOW(key, (__u64)inner->separator[k] + 1)/'
mutant inner-separator-before tree.h 's/BELOW(key, inner->separator\[k\])/BELOW((__u64)key + 1, inner->separator[k])/'
mutant leaf-start tree.h 's/BELOW(key, leaf->start\[k\])/BELOW(key, (__u64)leaf->start[k] + 1)/'
mutant leaf-start-before tree.h 's/BELOW(key, leaf->start\[k\])/BELOW((__u64)key + 1, leaf->start[k])/'

# ── which of the matching rules decides ────────────────────────────────────────────────────────────
mutant order-bit classify.h 's/lowest_bit(word);/lowest_bit(word \& (word - 1) ? word \& (word - 1) : word);/'
mutant order-word classify.h '/first_match/,/^}/ s/for (__u32 i = 0; i < 8; i++)/for (__s32 i = 7; i >= 0; i--)/'
mutant order-line classify.h 's/q->from = (at + 1) \*/q->from = (at + 2) */'
mutant pass-in-same-acl classify.h 's/q->from = entry->next;/q->from = number + 1;/'
mutant pass-ends classify.h 's/q->from = entry->next;/q->from = section->entries;/'
mutant pass-one-too-far classify.h 's/q->from = entry->next;/q->from = entry->next + 1;/'

# ── what follows from it ───────────────────────────────────────────────────────────────────────────
mutant drop rules.h 's/if (o->action != SECG_ACTION_ALLOW && o->action != SECG_ACTION_ALLOW_STATELESS) {/if (o->action == SECG_ACTION_PASS) {/'
mutant reject rules.h 's/o->reason = action == SECG_ACTION_REJECT ?/o->reason = 0 ?/'
mutant audited-default rules.h 's/(port->flags & SECG_PORT_AUDIT)/0/'
mutant default-open rules.h 's/action = rules->otherwise\[g->direction & 1\];/action = SECG_ACTION_ALLOW_STATELESS;/'
mutant default-closed rules.h 's/action = rules->otherwise\[g->direction & 1\];/action = SECG_ACTION_DROP;/'
mutant direction rules.h 's/query_make(q, p, rules->policy\[direction\], 0)/query_make(q, p, rules->policy[!direction], 0)/'
mutant counter classify.h 's/line->w\[slot % SECG_COUNTERS_PER_LINE\]/line->w[(slot + 1) % SECG_COUNTERS_PER_LINE]/'

# ── what a traced run must not change ──────────────────────────────────────────────────────────────
judge=traced
mutant trace-port-counters account.h '/void account(/,/^}/ s/ || is_traced()//'
mutant trace-infra-counters account.h '/void account_infra(/,/^}/ s/ || is_traced()//'
mutant trace-rule-counters classify.h 's/if (!index || is_traced())/if (!index)/'
mutant trace-fragment fragment.h 's/if (is_traced() || /if (/'
mutant trace-session-copy session.h 's/if (!is_traced())/if (1)/'
mutant trace-session-free session.h '/void session_free(/,/^}/ s/ && !is_traced())/)/'
mutant trace-session-open open.h 's/if (!flow || is_traced())/if (!flow)/'
mutant trace-promote promote.h '/if (is_traced())$/,+1 d'
mutant trace-l3-device secg_tc.bpf.c 's/is_traced() ? traced_l3_type/0 ? traced_l3_type/'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
