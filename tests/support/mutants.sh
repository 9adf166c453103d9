#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make check-mutants`: breaks the BPF source in one place at a time, in a copy of the tree, and expects
# the differential test to turn red each time, or the test programs of tests/bpf that the group names, where
# it cannot see the place: traced runs, rare fields, sessions, senders. A mutant
# that goes unnoticed, that does not build or that the kernel refuses to load counts as failed.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
pairs=${MUTANT_PAIRS:-30000}
seed=${MUTANT_SEED:-1}
# MUTANT_ONLY="NAME ...": those alone
passed=0 failed=0 number=0

if [ "$(id -u)" -ne 0 ]; then
	echo "mutants are run in a network namespace: run as root" >&2
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ── side by side: each part has a tree of its own and takes every MUTANT_PARTS-th ────────────────────
parts=${MUTANT_PARTS:-$(nproc)}
if [ -z "${MUTANT_PART:-}" ]; then
	part=0 status=0 processes=
	while [ "$part" -lt "$parts" ]; do
		MUTANT_PART=$part MUTANT_PARTS=$parts sh "$0" >"$work/part$part" 2>&1 &
		processes="$processes $!"
		part=$((part + 1))
	done
	trap 'kill $processes 2>/dev/null; exit 143' INT TERM
	for process in $processes; do
		wait "$process" || status=1
	done
	cat "$work"/part*
	echo "mutants: $(cat "$work"/part* | grep -c '^killed') killed, $(cat "$work"/part* |
		grep -cE '^(SURVIVED|FAILED)') not"
	exit "$status"
fi

# ── the copy: sources, and what is built of them, so that only what depends on a mutant is built again ──
tree=$work/tree
mkdir "$tree"
tar -C "$root" --exclude=./.git --exclude=./build -cf - . | tar -C "$tree" -xf -
cp -a "$build" "$tree/build"
find "$tree/build" -name '*.d' -exec sed -i "s|$build/|build/|g" {} +

# Each judge builds what it runs. 0: agrees, 1: differs, 2: could not run, 3: does not build
build() {
	make -s -C "$tree" BUILD=build "$@" >"$work/log" 2>&1 || return 3
}
run_tests() {
	build $(printf 'build/tests/bpf/%s ' "$@") || return $?
	for program in "$@"; do
		SEED=$seed COUNT=150 "$tree/build/tests/bpf/$program" >"$work/log" 2>&1 || return $?
	done
}
differ() {
	build secgd || return $?
	BUILD=$tree/build /usr/bin/python3 "$tree/tests/e2e/test_differential.py" \
		--seed "$seed" --pairs "$pairs" --stop >"$work/log" 2>&1
}
traced() {
	run_tests test_trace
}
matched() {
	run_tests test_match_rare
}
followed() {
	run_tests test_recheck test_sessions_random
}
spoofed() {
	run_tests test_antispoof test_antispoof_nd
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
	number=$((number + 1))
	[ $((number % parts)) -eq "$MUTANT_PART" ] || return 0
	cp "$file" "$work/original"
	sed -i "$3" "$file"
	if cmp -s "$file" "$work/original"; then
		bad "FAILED   $name: its pattern is not in $2 any more"
		return
	fi
	status=0
	$judge || status=$?
	case $status in
	0) bad "SURVIVED $name" ;;
	1) good "killed   $name" ;;
	3)
		bad "FAILED   $name: does not build"
		show_log
		;;
	*)
		bad "FAILED   $name: does not load or run"
		show_log
		;;
	esac
	cp "$work/original" "$file"
}

if ! differ || ! traced || ! matched || ! followed || ! spoofed; then
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
mutant pass-from-the-start rare.h 's/ & bits_from(.*, k);/;/'
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
mutant trace-session-open open.h 's/if (is_traced())/if (0)/'
mutant trace-promote promote.h '/if (is_traced())$/,+1 d'
mutant trace-limit-take limit.h 's/if (is_traced() || __sync_val/if (__sync_val/'
mutant trace-limit-give limit.h '/void count_give(/,/^}/ s/if (!is_traced())/if (1)/'
mutant trace-limit-source limit.h 's/if (!count && !is_traced())/if (!count)/'
mutant trace-events outcome.h 's/if (!unlikely(what) || is_traced())/if (!unlikely(what))/'
mutant trace-l3-device secg_tc.bpf.c 's/is_traced() ? traced_l3_type/0 ? traced_l3_type/'

# ── rarer fields ───────────────────────────────────────────────────────────────────────────────────
judge=matched
mutant vlan-inner parse.h 's/if (!tags++)/tags++;/'
mutant vlan-priority parse.h 's/bpf_ntohs(tag\[0\]) & VLAN_ID_MASK/bpf_ntohs(tag[0])/'
mutant vlan-left-out rare.h 's/rare->line\[0\] = dims & SECG_DIM_VLAN/rare->line[0] = 0/'
mutant ethertype-left-out rare.h 's/dims & SECG_DIM_ETHERTYPE ?/0 ?/'
mutant byte-line rare.h 's|table->table + value / WORDS_PER_LINE|table->table|'
mutant byte-absent-unseen rare.h 's/if (p->absent >> byte & 1)/if (0)/'
mutant absent-macs parse.h 's/p->absent |= ABSENT_MACS;/p->absent |= 0;/'
mutant byte-absent rare.h 's/return table->absent;/return 0;/'
mutant byte-count rare.h 's/if (i >= s->byte_count)/if (i + 1 >= s->byte_count)/'
mutant byte-tables-line rare.h 's|s->bytes + i / TABLES_PER_LINE|s->bytes|'
mutant rare-line rare.h 's/v = table_line(rare->line\[i\] + at);/v = table_line(rare->line[i]);/'
mutant mac-source parse.h 's/(p->byte + SECG_BYTE_SRC_MAC + 4) = .*;/(p->byte + SECG_BYTE_SRC_MAC + 4) = 0;/'
mutant mac-destination parse.h 's/(p->byte + SECG_BYTE_DST_MAC) = .*;/(p->byte + SECG_BYTE_DST_MAC) = 0;/'
mutant tcp-flags-reserved parse.h 's/p->byte\[SECG_BYTE_TCP_FLAGS\] = header\[13\];/p->byte[SECG_BYTE_TCP_FLAGS] = 0;/'
mutant dscp-with-ecn parse.h 's/= traffic_class >> 2;/= traffic_class \& 0x3f;/'
mutant dscp-ipv6 parse.h 's/bpf_ntohs(\*(const __be16 \*)ip) >> 4/bpf_ntohs(*(const __be16 *)ip) >> 5/'
mutant fragment-unseen parse.h 's/|= SECG_TRAFFIC_FRAGMENT;/|= 0;/'

# ── sessions, and whether a change of the policy leaves them ───────────────────────────────────────
judge=followed
mutant own-left-out rare.h 's/dims & SECG_DIM_OWN ?/0 ?/'
mutant own-of-nobody query.h 's/q->own = own ? .*;/q->own = 0;/'
mutant own-without-revision query.h 's/tree_find(0, own, word)/tree_find(0, own, word \& SECG_RULE_NUMBER_MASK)/'
mutant own-of-the-other-direction recheck.h 's/rules->own\[opened\]/rules->own[!opened]/'
mutant session-shows-all query.h 's/q->dims = QUERY_SESSION;/q->dims = QUERY_PACKET;/'
mutant recheck-of-a-reply recheck.h 's/rules->policy\[opened\], r->is_reply)/rules->policy[opened], 0)/'
mutant recheck-of-an-answer query.h 's/q->high = bpf_ntohs(p->sport) >> 8;/q->high = p->icmp_type;/'
mutant recheck-direction recheck.h 's/opened = r->opened & 1;/opened = g->direction \& 1;/'
mutant recheck-rule recheck.h '/found->flow->s.rule = r->rule;/d'
mutant recheck-timeout recheck.h '/found->flow->a.timeout = r->kept.timeout;/d'
mutant recheck-each-time recheck.h '/found->flow->s.generation = owner->policy_generation;/d'
mutant change-cuts recheck.h 's/(owner->flags & SECG_PORT_CUT) || //'
mutant change-keeps verdict.h 's/!(owner->flags & SECG_PORT_KEEP) && !session_recheck/!session_recheck/'
mutant change-reason verdict.h 's/ || o->reason == SECG_REASON_TCP_NOT_SYN))/))/'
mutant owner-of-a-domain session.h 's/if (!unlikely(port->flags & SECG_PORT_SHARED))/if (1)/'
mutant key-parity session.h 's/direction ^ above ? SECG_KEY_PARITY/above ? SECG_KEY_PARITY/'
mutant key-of-who-asks session.h 's/key->flags |= SECG_KEY_ASKED_TO;/key->flags |= 0;/'
mutant timeout session.h 's/(__u32)idle > limit;/(__u32)idle > limit + 250;/'
mutant timeout-of-a-rule session.h 's/limit = flow->a.timeout;/limit += flow->a.timeout;/'
mutant reset-window tcp.h 's/p->seq - found->flow->a.edge\[!side\] < RST/p->seq - found->flow->a.edge[side] < RST/'
mutant reset-of-a-syn tcp.h 's/!tcp_rst_is_believed(found, p, side) && !answers_again(found, p, side)/!tcp_rst_is_believed(found, p, side)/'
mutant reset-after-a-challenge tcp.h 's/if (ends_an_older_one(found, p, side))/if (0)/'
mutant reset-of-an-older-syn tcp.h 's/found->flow->a.edge\[SECG_REPLY\] = p->ack;/found->flow->a.edge[SECG_REPLY] += 0;/'
mutant fin-of-both tcp.h 's/word |= side == SECG_ORIG ? SECG_FLOW_FIN_ORIG : SECG_FLOW_FIN_REPLY;/word |= SECG_FLOW_FIN_ORIG | SECG_FLOW_FIN_REPLY;/'
mutant syn-on-a-live-session tcp.h 's/return STEP_ASK;/return STEP_STAY;/'
mutant overflow-uncounted promote.h 's/overflow_add(hash, 1);/overflow_add(hash, 0);/'
mutant expired-way-kept promote.h '/int slot_has_room(/,/^}/ s/word, g->now);/word, slot->s.seen);/'
mutant limit-one-more limit.h 's/(__s32)old >= (__s32)limit/(__s32)old > (__s32)limit/'
mutant limit-answered limit.h '/void limit_answered(/,/^}/ s/count_give(&usage->half_open);/usage->half_open += 0;/'
mutant pickup-edge open.h 's/flow->a.edge\[!side\] = p->seq;/flow->a.edge[!side] = 0;/'
mutant pickup-reversed rules.h 's/.opened = !g->direction, .is_reply = 1/.opened = g->direction, .is_reply = 1/'
mutant related-direction icmp_error.h 's/port->domain, !g->direction);/port->domain, g->direction);/'
mutant related-family icmp_error.h 's/family == SECG_FAMILY_IPV4 ? IPPROTO_ICMP : IPPROTO_ICMPV6/family == SECG_FAMILY_IPV4 ? IPPROTO_ICMPV6 : IPPROTO_ICMP/'

# ── senders ────────────────────────────────────────────────────────────────────────────────────────
judge=spoofed
mutant spoof-to verdict.h 's/if (direction == SECG_FROM)/if (direction != SECG_FROM)/'
mutant spoof-pair-mac sender.h 's/pair->address\[3\] == p->src\[3\] && is_pair_mac(pair, p)/pair->address[3] == p->src[3]/'
mutant spoof-pair-address sender.h 's/pair->address\[0\] == p->src\[0\] &&//'
mutant spoof-pair-words sender.h 's/pair->address\[3\] == p->src\[3\] &&//'
mutant spoof-policy sender.h 's/return policy_find(q, p) == SECG_ACTION_ALLOW_STATELESS;/return 0;/'
mutant spoof-any-claim sender.h 's/return policy_find(q, p) == SECG_ACTION_ALLOW_STATELESS;/return 1;/'
mutant spoof-eui64-bit sender.h 's/(mac\[0\] ^ 2)/mac[0]/'
mutant spoof-eui64-prefix sender.h 's/ && !p->src\[1\] &&/ \&\&/'
mutant spoof-eui64-mac sender.h 's/is_eui64(&scratch->sender.packet) &&/is_eui64(\&scratch->sender.packet);/; /^\t *sender_listed(SECG_FAMILY_OTHER);$/ d'
mutant spoof-group-claim sender.h 's/^\tif (is_group_mac(p->byte + SECG_BYTE_SRC_MAC))$/\tif (0)/'
mutant spoof-mac-first antispoof.h '/source_check(/,/^}/ s/if (!sender_listed(SECG_FAMILY_OTHER))/if (0)/'
mutant spoof-dhcp-to-host antispoof.h 's/ && p->dst\[0\] == 0xffffffff//'
mutant spoof-dhcp-port antispoof.h 's/p->sport == bpf_htons(DHCP_CLIENT) &&/1 \&\&/'
mutant spoof-dhcp-fragment antispoof.h 's/if (p->src\[0\] || p->fragment)/if (p->src[0])/'
mutant spoof-igmp antispoof.h 's/if (p->proto == IPPROTO_IGMP)/if (0)/'
mutant spoof-igmp-to-host antispoof.h 's/return (p->dst\[0\] & bpf_htonl(0xf0000000)) == bpf_htonl(0xe0000000);/return 1;/'
mutant spoof-mld antispoof.h 's/p->icmp_type == ICMP6_MLD2_REPORT;/0;/'
mutant spoof-mld-to-host antispoof.h 's/\*(const __u8 \*)p->dst != 0xff/0/'
mutant spoof-nowhere antispoof.h 's/if (!is_unspecified(p->src) || p->fragment/if (p->src[3] || p->fragment/'
mutant arp-mac antispoof.h '/arp_check(/,/^}/ s/if (!sender_listed(SECG_FAMILY_OTHER))/if (0)/'
mutant arp-types antispoof.h 's/\*(const __be32 \*)head != bpf_htonl(ARP_TYPES) ||/0 ||/'
mutant arp-sizes antispoof.h 's/\*(const __be16 \*)(head + 4) != bpf_htons(ARP_SIZES)/0/'
mutant arp-sender-mac antispoof.h 's/sender_name(sender, head + 8);//'
mutant arp-probe antispoof.h 's/sender->packet.src\[0\] ? sender_may/1 ? sender_may/'
mutant arp-probe-mac antispoof.h 's/: sender_listed(SECG_FAMILY_OTHER))$/: 1)/'
mutant arp-reverse antispoof.h 's/ || p->ethertype == ETH_P_RARP//'
mutant nd-slla antispoof_nd.h 's/return sender_may(SECG_FAMILY_IPV6) ? SECG_REASON_NONE : SECG_REASON_SPOOF_ND;/return SECG_REASON_NONE;/'
mutant nd-option-end antispoof_nd.h 's/ || at + size > sender->end)/)/'
mutant nd-option-size antispoof_nd.h 's/if (size != 8)/if (0)/'
mutant nd-first-option-only antispoof_nd.h 's/i < ND_MAX_OPTIONS; i++/i < 1; i++/; s/return sender->at >= sender->end ? SECG_REASON_NONE : SECG_REASON_SPOOF_ND;/return SECG_REASON_NONE;/'
mutant nd-endless antispoof_nd.h 's/return sender->at >= sender->end ? SECG_REASON_NONE : SECG_REASON_SPOOF_ND;/return SECG_REASON_NONE;/'
mutant nd-fragment antispoof_nd.h 's/if (p->fragment || p->l4_offset/if (p->l4_offset/'
mutant nd-short antispoof_nd.h 's/if (p->fragment || p->l4_offset + size > p->end)/if (p->fragment)/'
mutant nd-dad-target antispoof_nd.h 's/nd_target(ctx, p, sender) ||$/nd_target(ctx, p, sender))/; /^\t\t    !sender_may(SECG_FAMILY_IPV6))$/ d'
mutant nd-dad-to-all antispoof_nd.h 's/if (!is_solicited_node(p->dst) ||/if (/'
mutant nd-target antispoof_nd.h 's/if (p->icmp_type == ICMP6_NA && nd_target(ctx, p, sender))/if (0)/'
mutant nd-target-without-option antispoof_nd.h 's/ICMP6_NA && !sender->has_claimed &&/ICMP6_NA \&\& 0 \&\&/'
mutant nd-redirect antispoof_nd.h '/is_claim(/,/^}/ s/return 0;/return sender->head[0] == ND_OPTION_TARGET;/'
mutant guard-ra antispoof.h 's/p->icmp_type == ICMP6_RA ||/0 ||/'
mutant guard-redirect antispoof.h 's/ || p->icmp_type == ICMP6_REDIRECT))/))/'
mutant guard-dhcp-family antispoof.h 's/p->family == SECG_FAMILY_IPV4 ? DHCP_CLIENT : DHCP6_CLIENT/DHCP_CLIENT/'
mutant guard-dhcp-tcp antispoof.h 's/ && p->proto == IPPROTO_UDP &&$/ \&\&/'
mutant trace-antispoof antispoof.h 's/SECG_TRACE_ANTISPOOF_FAIL : SECG_TRACE_ANTISPOOF_PASS/SECG_TRACE_ANTISPOOF_PASS : SECG_TRACE_ANTISPOOF_PASS/'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
