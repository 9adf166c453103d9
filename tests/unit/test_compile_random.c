/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random rule lists, compiled and searched, against the reference matcher. Packets lean towards the
 * borders of the rules, where searches go wrong. SECG_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../support/reference.h"
#include "compile/policy.h"

#define ACLS_MAX        5
#define L4_MAX          3
#define SPANS_MAX       4
#define ALL_ONES        (~(addr_t)0)
#define PROTOCOL_ICMP   1
#define PROTOCOL_TCP    6
#define PROTOCOL_UDP    17
#define PROTOCOL_ICMPV6 58

static uint64_t state;

/* xorshift64*: the same numbers on every machine. */
static uint32_t rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32);
}

static uint32_t below(uint32_t limit)
{
	return rnd() % limit;
}

static bool chance(uint32_t percent)
{
	return below(100) < percent;
}

/* ── rules ──────────────────────────────────────────────────────────────────────────────────────── */

/* Addresses from few neighbourhoods, so that prefixes overlap and share words. */
static addr_t random_address(bool is_v6)
{
	static const uint32_t words[] = {0,          1,          0x0a000000, 0x20010db8,
					 0x80000000, 0xfffffffe, 0xffffffff};
	addr_t address = 0;

	for (int i = 0; i < (is_v6 ? 4 : 1); i++)
		address = address << 32 | (chance(70) ? words[below(7)] + below(3) : rnd());
	return address;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct addr_range *x = a;
	const struct addr_range *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sorted, disjoint, not adjacent: what the model promises. */
static size_t canonical(struct addr_range *ranges, size_t count, addr_t max)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < count; i++) {
		struct addr_range *last = kept ? &ranges[kept - 1] : NULL;

		if (last && (last->last == max || ranges[i].first <= last->last + 1)) {
			if (ranges[i].last > last->last)
				last->last = ranges[i].last;
		} else {
			ranges[kept++] = ranges[i];
		}
	}
	return kept;
}

static void random_list(struct addr_list *list, bool is_v6)
{
	unsigned int bits = is_v6 ? 128 : 32;
	addr_t max = is_v6 ? ALL_ONES : UINT32_MAX;

	list->count = chance(10) ? 0 : 1 + (chance(30) ? below(SPANS_MAX) : 0);
	list->ranges = calloc(SPANS_MAX, sizeof(*list->ranges));
	for (size_t i = 0; i < list->count; i++) {
		unsigned int length = chance(30) ? bits : below(bits + 1);
		addr_t host = length == 0 ? max : length == bits ? 0 : (max >> length);
		addr_t address = random_address(is_v6);

		if (chance(20)) {
			addr_t other = random_address(is_v6);

			list->ranges[i].first = address < other ? address : other;
			list->ranges[i].last = address < other ? other : address;
		} else {
			list->ranges[i].first = address & ~host;
			list->ranges[i].last = address | host;
		}
	}
	list->count = canonical(list->ranges, list->count, max);
}

static void random_set(struct addrset *set)
{
	random_list(&set->v4, false);
	random_list(&set->v6, true);
}

static void random_ranges(struct range_list *list, uint32_t max)
{
	struct addr_range wide[SPANS_MAX];
	size_t count = 1 + below(SPANS_MAX);

	for (size_t i = 0; i < count; i++) {
		addr_t a = chance(20) ? max : below(max + 1);
		addr_t b = chance(60) ? a : chance(20) ? max : below(max + 1);

		wide[i] = (struct addr_range){.first = a < b ? a : b, .last = a < b ? b : a};
	}
	list->count = canonical(wide, count, UINT16_MAX);
	list->ranges = calloc(list->count, sizeof(*list->ranges));
	for (size_t i = 0; i < list->count; i++)
		list->ranges[i] = (struct range){(uint16_t)wide[i].first, (uint16_t)wide[i].last};
}

static void set_protocol(struct l4_match *l4, uint8_t protocol)
{
	l4->has_protocols = true;
	l4->protocols[protocol / 64] |= 1ull << protocol % 64;
}

static void random_l4(struct l4_match *l4)
{
	uint32_t max = UINT16_MAX;

	switch (below(5)) {
	case 0:
		for (uint32_t n = 1 + below(4); n; n--)
			set_protocol(l4, chance(20) ? 255 : (uint8_t)rnd());
		return;
	case 1:
		l4->family = chance(50) ? 4 : 6;
		set_protocol(l4, l4->family == 4 ? PROTOCOL_ICMP : PROTOCOL_ICMPV6);
		max = UINT8_MAX;
		break;
	case 2:
		set_protocol(l4, PROTOCOL_UDP);
		/* fall through */
	default:
		set_protocol(l4, PROTOCOL_TCP);
	}
	if (chance(30))
		random_ranges(&l4->high, max);
	if (chance(70))
		random_ranges(&l4->low, max);
}

/* From few vendors, and few of each. */
static void random_mac(uint8_t ret_mac[6])
{
	static const uint8_t bytes[] = {0x00, 0x02, 0x52, 0xfe, 0xff};

	for (int i = 0; i < 6; i++)
		ret_mac[i] = i == 1 || i == 5 ? bytes[below(5)] : 2;
	if (chance(10))
		ret_mac[below(6)] = (uint8_t)rnd();
}

static void random_macs(struct mac_list *list)
{
	static const uint8_t masks[][6] = {
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0xff, 0xff, 0xff},
		{0},
		{0x01},
		{0, 0, 0, 0, 0, 0x0f},
	};

	list->count = 1 + (chance(40) ? below(SPANS_MAX) : 0);
	list->macs = calloc(list->count, sizeof(*list->macs));
	for (size_t i = 0; i < list->count; i++) {
		struct mac_match *mac = &list->macs[i];

		random_mac(mac->value);
		memcpy(mac->mask, masks[chance(50) ? 0 : below(5)], sizeof(mac->mask));
		if (chance(10))
			mac->mask[below(6)] = (uint8_t)rnd();
		for (int b = 0; b < 6; b++)
			mac->value[b] &= mac->mask[b];
	}
}

static uint16_t random_ethertype(void)
{
	static const uint16_t usual[] = {0x0800, 0x86dd, 0x0806, 0x88cc, 0x0042, 0x05ff, 0x0600};

	return chance(90) ? usual[below(7)] : (uint16_t)rnd();
}

static void random_ethertypes(struct range_list *list)
{
	struct addr_range wide[SPANS_MAX];
	size_t count = 1 + below(SPANS_MAX);

	for (size_t i = 0; i < count; i++) {
		addr_t first = random_ethertype();

		wide[i] = (struct addr_range){.first = first, .last = first};
		if (chance(20))
			wide[i] = (struct addr_range){.first = 0, .last = 0x5ff};
		else if (chance(10))
			wide[i].last = UINT16_MAX;
	}
	list->count = canonical(wide, count, UINT16_MAX);
	list->ranges = calloc(list->count, sizeof(*list->ranges));
	for (size_t i = 0; i < list->count; i++)
		list->ranges[i] = (struct range){(uint16_t)wide[i].first, (uint16_t)wide[i].last};
}

/* Fields that few rules have; each is given in `rare` percent of them. */
static void random_rare(struct rule *rule, uint32_t rare)
{
	if (chance(rare))
		random_ranges(&rule->l2.vlans, chance(50) ? 7 : 4095);
	if (chance(rare))
		random_macs(&rule->l2.src);
	if (chance(rare))
		random_macs(&rule->l2.dst);
	if (chance(rare))
		random_ethertypes(&rule->l2.ethertypes);
	rule->is_disabled = chance(rare / 2);
	if (chance(rare))
		rule->timeout_s = 1 + below(100);
	if (chance(rare))
		rule->log.rate = 1;
	if (chance(rare))
		rule->sample[below(2)] = 2;
	if (!rule->is_ip)
		return;
	if (chance(rare))
		rule->dscp = chance(30) ? 1 : (uint64_t)rnd() << 32 | rnd();
	if (chance(rare))
		rule->fragment = (int8_t)below(2);
	if (chance(rare)) {
		rule->tcp_flags_mask = (uint8_t)(1 + below(63));
		rule->tcp_flags = (uint8_t)rnd() & rule->tcp_flags_mask;
	}
}

static void random_rule(struct rule *rule, size_t number, uint32_t percent_pass, uint32_t rare)
{
	static const uint8_t families[] = {0, 0, 0, 4, 6};

	if (asprintf(&rule->id, "r%zu", number) < 0)
		abort();
	rule->fragment = -1;
	rule->action = chance(percent_pass) ? SECG_ACTION_PASS : SECG_ACTION_ALLOW + below(3);
	if (rare && chance(10))
		rule->action = SECG_ACTION_REJECT;
	/* Rules without any condition end a list: rare, or nothing behind them is ever tried. */
	if (chance(1))
		return;
	rule->is_ip = !chance(rare);
	random_rare(rule, rule->is_ip ? rare : 60);
	if (!rule->is_ip)
		return;
	rule->family = families[below(5)];
	rule->has_src = chance(70);
	rule->has_dst = chance(70) || !rule->has_src;
	if (rule->has_src)
		random_set(&rule->src);
	if (rule->has_dst)
		random_set(&rule->dst);
	rule->l4_count = chance(30) ? 0 : 1 + (chance(25) ? below(L4_MAX) : 0);
	rule->l4 = calloc(L4_MAX, sizeof(*rule->l4));
	for (size_t i = 0; i < rule->l4_count; i++)
		random_l4(&rule->l4[i]);
}

static struct acl *random_acl(size_t number, size_t rules, uint32_t percent_pass, uint32_t rare)
{
	struct acl *acl = calloc(1, sizeof(*acl));

	if (!acl || asprintf(&acl->name, "acl%zu", number) < 0)
		abort();
	acl->rules = calloc(rules + 1, sizeof(*acl->rules));
	acl->rule_count = rules;
	acl->is_audited = chance(rare);
	for (size_t i = 0; i < rules; i++)
		random_rule(&acl->rules[i], i, percent_pass, rare);
	return acl;
}

static void free_acl(struct acl *acl)
{
	for (size_t i = 0; i < acl->rule_count; i++) {
		struct rule *rule = &acl->rules[i];

		for (size_t j = 0; j < rule->l4_count; j++) {
			free(rule->l4[j].high.ranges);
			free(rule->l4[j].low.ranges);
		}
		free(rule->l4);
		free(rule->l2.vlans.ranges);
		free(rule->l2.ethertypes.ranges);
		free(rule->l2.src.macs);
		free(rule->l2.dst.macs);
		free(rule->src.v4.ranges);
		free(rule->src.v6.ranges);
		free(rule->dst.v4.ranges);
		free(rule->dst.v6.ranges);
		free(rule->id);
	}
	free(acl->rules);
	free(acl->name);
	free(acl);
}

/* ── packets ────────────────────────────────────────────────────────────────────────────────────── */

/* On a border of a range, just outside, or at an end of the key space. */
static addr_t border(addr_t first, addr_t last, addr_t max)
{
	switch (below(12)) {
	case 0:
		return (first - 1) & max;
	case 1:
		return (last + 1) & max;
	case 2:
		return 0;
	case 3:
		return max;
	case 4:
	case 5:
	case 6:
		return last;
	case 7:
		return (first + (last - first) / 2) & max;
	default:
		return first;
	}
}

static addr_t pick_address(bool is_given, const struct addrset *set, bool is_v6)
{
	const struct addr_list *list = is_v6 ? &set->v6 : &set->v4;
	addr_t max = is_v6 ? ALL_ONES : UINT32_MAX;
	const struct addr_range *range;

	if (!is_given || !list->count || chance(5))
		return random_address(is_v6) & max;
	range = &list->ranges[below((uint32_t)list->count)];
	return border(range->first, range->last, max);
}

static uint16_t pick_number(const struct range_list *list)
{
	const struct range *range;

	if (!list->count || chance(5))
		return (uint16_t)(chance(50) ? rnd() : below(256));
	range = &list->ranges[below((uint32_t)list->count)];
	return (uint16_t)border(range->first, range->last, UINT16_MAX);
}

static uint8_t pick_protocol(const struct l4_match *l4)
{
	uint8_t protocol = (uint8_t)rnd();

	for (int i = 0; i < 256 && !chance(5); i++, protocol++)
		if (l4->protocols[protocol / 64] >> protocol % 64 & 1)
			break;
	return protocol;
}

static void pick_l4(struct compile_packet *packet, const struct rule *rule)
{
	static const uint8_t usual[] = {1, 6, 17, 47, 58, 255};
	const struct l4_match *l4 = NULL;

	packet->protocol = chance(80) ? usual[below(6)] : (uint8_t)rnd();
	packet->has_l4 = chance(90);
	packet->high = (uint16_t)rnd();
	packet->low = (uint16_t)rnd();
	if (!rule || !rule->l4_count)
		return;
	l4 = &rule->l4[below((uint32_t)rule->l4_count)];
	if (l4->has_protocols)
		packet->protocol = pick_protocol(l4);
	packet->high = pick_number(&l4->high);
	packet->low = pick_number(&l4->low);
}

static void pick_mac(uint8_t ret_mac[6], const struct mac_list *list)
{
	const struct mac_match *mac;

	random_mac(ret_mac);
	if (!list->count || chance(10))
		return;
	mac = &list->macs[below((uint32_t)list->count)];
	for (int b = 0; b < 6; b++)
		ret_mac[b] = (uint8_t)((ret_mac[b] & ~mac->mask[b]) | mac->value[b]);
	if (chance(15))
		ret_mac[below(6)] ^= (uint8_t)(1u << below(8));
}

static void pick_rare(struct compile_packet *packet, const struct rule *rule)
{
	packet->has_ethernet = !chance(5);
	packet->vlan = rule->l2.vlans.count ? pick_number(&rule->l2.vlans) & 0xfff
					    : (uint16_t)(chance(50) ? 0 : below(8));
	packet->ethertype =
		rule->l2.ethertypes.count ? pick_number(&rule->l2.ethertypes) : random_ethertype();
	/* Those would not be frames of another family. */
	if (packet->ethertype == 0x0800 || packet->ethertype == 0x86dd)
		packet->ethertype++;
	pick_mac(packet->src_mac, &rule->l2.src);
	pick_mac(packet->dst_mac, &rule->l2.dst);
	packet->traffic = (uint8_t)below(64);
	for (int i = 0; i < 64 && rule->dscp && !(rule->dscp >> packet->traffic & 1); i++)
		packet->traffic = (packet->traffic + 1) % 64;
	if (chance(10))
		packet->traffic = (uint8_t)below(64);
	if (rule->fragment >= 0 ? (rule->fragment == 1) != chance(10) : chance(10))
		packet->traffic |= SECG_TRAFFIC_FRAGMENT;
	packet->tcp_flags = (uint8_t)((rnd() & ~rule->tcp_flags_mask) | rule->tcp_flags);
	if (chance(15))
		packet->tcp_flags ^= (uint8_t)(1u << below(8));
	if (rule->tcp_flags_mask && chance(80)) {
		packet->protocol = PROTOCOL_TCP;
		packet->has_l4 = true;
	}
}

static struct compile_packet random_packet(const struct acl *const *acls, size_t acl_count)
{
	static const struct rule none = {.fragment = -1};
	const struct acl *acl = acl_count ? acls[below((uint32_t)acl_count)] : NULL;
	const struct rule *rule = acl && acl->rule_count && chance(95)
					  ? &acl->rules[below((uint32_t)acl->rule_count)]
					  : &none;
	struct compile_packet packet = {0};
	bool is_v6 = rule->family ? rule->family == 6 : chance(50);

	if (rule->is_ip || !chance(60))
		packet.family = is_v6 ? SECG_FAMILY_IPV6 : SECG_FAMILY_IPV4;
	else
		packet.family = SECG_FAMILY_OTHER;
	if (chance(2))
		packet.family = SECG_FAMILY_OTHER;
	if (packet.family == SECG_FAMILY_OTHER) {
		pick_rare(&packet, rule);
		return packet;
	}
	packet.src = pick_address(rule->has_src, &rule->src, is_v6);
	packet.dst = pick_address(rule->has_dst, &rule->dst, is_v6);
	pick_l4(&packet, rule);
	pick_rare(&packet, rule);
	return packet;
}

/* ── the comparison ─────────────────────────────────────────────────────────────────────────────── */

struct tally {
	uint64_t pairs;
	uint64_t action[SECG_ACTION_REJECT + 1];
	uint64_t family[SECG_FAMILY_COUNT];
	uint64_t not_first;       /* decided by a rule that is not the first */
	uint64_t flagged[8];      /* by SECG_ENTRY_* of the rule that decided */
	uint64_t rechecks, owned; /* of them decided by the session's own rule */
	uint64_t wrong;
};

static void report(const struct compile_packet *p, const struct compile_verdict *want,
		   const struct compile_verdict *got, size_t rules)
{
	print_error(
		"family %d src %08x.%08x.%08x.%08x dst %08x.%08x.%08x.%08x proto %u l4 %d %u %u, "
		"%zu rules: want action %d slot %u, got action %d slot %u\n",
		p->family, (uint32_t)(p->src >> 96), (uint32_t)(p->src >> 64),
		(uint32_t)(p->src >> 32), (uint32_t)p->src, (uint32_t)(p->dst >> 96),
		(uint32_t)(p->dst >> 64), (uint32_t)(p->dst >> 32), (uint32_t)p->dst, p->protocol,
		p->has_l4, p->high, p->low, rules, want->action, want->slot, got->action,
		got->slot);
}

static bool is_same(const struct compile_verdict *a, const struct compile_verdict *b)
{
	return a->action == b->action &&
	       (!a->action ||
		(a->slot == b->slot && a->flags == b->flags && a->timeout_s == b->timeout_s));
}

static void compare_recheck(const struct compiled *compiled, const struct acl *const *acls,
			    size_t acl_count, struct compile_packet packet, uint32_t own,
			    struct tally *tally)
{
	struct compile_verdict want, got;

	/* What a session does not show must not matter. */
	packet.vlan = (uint16_t)rnd();
	packet.traffic = (uint8_t)rnd();
	packet.tcp_flags = (uint8_t)rnd();
	random_mac(packet.src_mac);
	want = reference_recheck(acls, acl_count, &packet, own);
	got = compiled_recheck(compiled, &packet, own);
	tally->rechecks++;
	tally->owned += want.action && want.flags & SECG_ENTRY_HIDDEN;
	if (!is_same(&want, &got) && tally->wrong++ < 5)
		report(&packet, &want, &got, compiled->rule_count);
}

static void compare(const struct compiled *compiled, const struct acl *const *acls,
		    size_t acl_count, uint32_t packets, struct tally *tally)
{
	for (uint32_t i = 0; i < packets; i++) {
		struct compile_packet packet = random_packet(acls, acl_count);
		struct compile_verdict want = reference_match(acls, acl_count, &packet);
		struct compile_verdict got = compiled_lookup(compiled, &packet);
		uint32_t own = want.action ? want.slot + 1 : 0;

		tally->pairs++;
		tally->action[want.action]++;
		tally->family[packet.family]++;
		tally->not_first += want.action && want.slot;
		if (want.action)
			tally->flagged[want.flags & 7]++;
		if (!is_same(&want, &got) && tally->wrong++ < 5)
			report(&packet, &want, &got, compiled->rule_count);
		if (chance(20))
			own = below((uint32_t)compiled->rule_count + 2);
		if (packet.family != SECG_FAMILY_OTHER)
			compare_recheck(compiled, acls, acl_count, packet, own, tally);
	}
}

static void one_policy(size_t acl_count, uint32_t max_rules, uint32_t packets, struct tally *tally)
{
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	struct errors errs = {0};
	struct acl *acls[ACLS_MAX];
	const struct acl *const *list = (const struct acl *const *)acls;
	uint32_t rare = chance(60) ? 15 : 0;
	size_t rules = 0;

	for (size_t i = 0; i < acl_count; i++) {
		size_t count = chance(5) ? 0 : 1 + below(max_rules);

		acls[i] = random_acl(i, count, acl_count > 1 ? 15 : 3, rare);
		rules += count;
	}
	assert_int_equal(compile_policy(&compiled, list, acl_count, false, "ports.p.from", &errs),
			 0);
	assert_int_equal(errs.count, 0);
	assert_int_equal(compiled->rule_count, rules);
	compare(compiled, list, acl_count, packets, tally);
	for (size_t i = 0; i < acl_count; i++)
		free_acl(acls[i]);
}

static double percent(uint64_t part, uint64_t whole)
{
	return 100.0 * (double)part / (double)whole;
}

static void print_tally(const struct tally *t)
{
	print_message(
		"%llu pairs: allow %.1f %%, allow-stateless %.1f %%, drop %.1f %%, no rule %.1f %%; "
		"reject %.1f %%; IPv4 %.1f %%, IPv6 %.1f %%, other %.1f %%; not by the first rule %.1f %%\n"
		"%llu rechecks, %.1f %% by the own rule\n",
		(unsigned long long)t->pairs, percent(t->action[SECG_ACTION_ALLOW], t->pairs),
		percent(t->action[SECG_ACTION_ALLOW_STATELESS], t->pairs),
		percent(t->action[SECG_ACTION_DROP], t->pairs),
		percent(t->action[SECG_ACTION_NONE], t->pairs),
		percent(t->action[SECG_ACTION_REJECT], t->pairs),
		percent(t->family[SECG_FAMILY_IPV4], t->pairs),
		percent(t->family[SECG_FAMILY_IPV6], t->pairs),
		percent(t->family[SECG_FAMILY_OTHER], t->pairs), percent(t->not_first, t->pairs),
		(unsigned long long)t->rechecks, percent(t->owned, t->rechecks));
}

static void agrees_with_the_reference(void **unused)
{
	const char *seed = getenv("SECG_SEED");
	struct tally tally = {0};

	(void)unused;
	state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) << 20 | (uint64_t)getpid();
	print_message("SECG_SEED=%llu\n", (unsigned long long)state);
	state |= 1;

	one_policy(0, 1, 100, &tally);
	for (int i = 0; i < 1000; i++)
		one_policy(1 + below(ACLS_MAX), 10, 500, &tally);
	for (int i = 0; i < 400; i++)
		one_policy(1 + below(ACLS_MAX), 60, 1500, &tally);
	for (int i = 0; i < 20; i++)
		one_policy(1 + below(2), 1200, 2500, &tally);
	one_policy(2, 3500, 20000, &tally);
	print_tally(&tally);

	assert_true(tally.pairs >= 1000000);
	/* A comparison of lists that always or never match would prove nothing. */
	assert_true(percent(tally.not_first, tally.pairs) >= 30);
	for (int i = SECG_ACTION_NONE; i < SECG_ACTION_PASS; i++)
		assert_true(percent(tally.action[i], tally.pairs) >= 5);
	assert_true(percent(tally.action[SECG_ACTION_REJECT], tally.pairs) >= 1);
	assert_true(percent(tally.family[SECG_FAMILY_OTHER], tally.pairs) >= 2);
	assert_true(percent(tally.owned, tally.rechecks) >= 2);
	assert_true(tally.flagged[SECG_ENTRY_AUDIT | SECG_ENTRY_WATCH] > 0);
	assert_true(tally.flagged[SECG_ENTRY_WATCH | SECG_ENTRY_HIDDEN] > 0);
	assert_int_equal(tally.wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_reference),
	};

	return cmocka_run_group_tests_name("compile, random", tests, NULL, NULL);
}
