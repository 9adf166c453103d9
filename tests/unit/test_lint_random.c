/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lint against brute force: random policies over a universe so small that every packet can be tried.
 * Prefixes, ports and types are chosen so that the universe has a packet of each kind that a rule can
 * tell apart; what holds in it holds for all packets. SECG_SEED repeats a run.
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

#include "../support/random.h"
#include "../support/reference.h"
#include "compile/lint.h"
#include "compile/reach.h"
#include "compile/return_path.h"

#define POLICIES    400
#define RARE        80 /* more, over the second universe */
#define ACLS        4
#define RULES_MAX   7
#define ALL_RULES   64
#define PACKETS_MAX 20000

/* ── the universe ───────────────────────────────────────────────────────────────────────────────── */

/* Four neighbours, one multicast, one of all the others. */
static const addr_t ipv4[] = {0x0a000000, 0x0a000001, 0x0a000002,
			      0x0a000003, 0xe0000005, 0xc0a80001};
#define FD ((addr_t)0xfd << 120)
#define FF ((addr_t)0xff << 120)
static const addr_t ipv6[] = {FD, FD + 1, FD + 2, FD + 3, FF + 5, (addr_t)0x20 << 120};
#define ADDRESSES ARRAY_SIZE(ipv4)
static const char *const prefixes[2][10] = {
	{"10.0.0.0/30", "10.0.0.0/31", "10.0.0.2/31", "10.0.0.0", "10.0.0.1", "10.0.0.2",
	 "10.0.0.3", "224.0.0.0/4", "0.0.0.0/0", "10.0.0.0/30"},
	{"fd00::/126", "fd00::/127", "fd00::2/127", "fd00::", "fd00::1", "fd00::2", "fd00::3",
	 "ff00::/8", "::/0", "fd00::/126"},
};
static const uint16_t ports[] = {0, 1, 2, 3, 60000};
static const char *const port_texts[] = {"0",   "1",   "2",       "3",      "0-1",
					 "2-3", "0-3", "4-65535", "0-65535"};
static const uint8_t types[2][4] = {{0, 8, 3, 200}, {128, 129, 1, 200}};
static const uint8_t others[] = {47, 50, 89};

static struct compile_packet universe[PACKETS_MAX];
static size_t universe_count;

static void add_packet(struct compile_packet packet)
{
	assert_true(universe_count < PACKETS_MAX);
	universe[universe_count++] = packet;
}

static void add_flows(struct compile_packet base)
{
	bool is_v6 = base.family == SECG_FAMILY_IPV6;

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(ports); j++) {
			base.has_l4 = true;
			base.high = ports[i];
			base.low = ports[j];
			base.protocol = 6;
			add_packet(base);
			base.protocol = 17;
			add_packet(base);
		}
	}
	base.protocol = is_v6 ? 58 : 1;
	for (size_t i = 0; i < ARRAY_SIZE(types[0]); i++) {
		for (base.low = 0; base.low < 2; base.low++) {
			base.high = types[is_v6][i];
			add_packet(base);
		}
	}
	base.has_l4 = false;
	base.high = base.low = 0;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		base.protocol = others[i];
		add_packet(base);
	}
}

/*
 * The second universe has few addresses and ports, and what the rare fields tell apart: two VLANs, MACs of
 * each kind or none, code points, first fragments, TCP flags.
 */
static bool is_rare;

static const uint8_t macs[][6] = {
	{2, 0x11, 0x22, 0, 0, 1}, {2, 0x11, 0x22, 0, 0, 2}, {2, 0x11, 0x22, 0, 0, 9},
	{6, 0x11, 0x22, 0, 0, 1}, {1, 0, 0x5e, 0, 0, 1},
};
#define SRC_MACS 4 /* all but that of a group */
static const uint8_t dst_macs[] = {0, 3, 4};
static const uint8_t traffic[] = {0, 46, 0x40, 46 | 0x40};
static const uint8_t flags[] = {0x02, 0x10, 0x01};
static const uint16_t ethertypes[] = {0x0042, 0x0806, 0x88cc, 0x9000};

static void add_rare_flows(struct compile_packet base)
{
	static const uint16_t few[] = {1, 60000};

	base.has_l4 = true;
	for (size_t i = 0; i < 4; i++) {
		base.high = few[i / 2];
		base.low = few[i % 2];
		base.protocol = 17;
		base.tcp_flags = 0;
		add_packet(base);
		base.protocol = 6;
		for (size_t f = 0; f < ARRAY_SIZE(flags); f++) {
			base.tcp_flags = flags[f];
			add_packet(base);
		}
	}
	base.tcp_flags = 0;
	base.has_l4 = false;
	base.high = base.low = 0;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		base.protocol = others[i];
		add_packet(base);
	}
}

/* Every address, traffic and flow behind one kind of Ethernet header. */
static void add_rare_frames(struct compile_packet base)
{
	for (size_t i = 0; i < ARRAY_SIZE(ethertypes); i++) {
		base.family = SECG_FAMILY_OTHER;
		base.ethertype = ethertypes[i];
		add_packet(base);
	}
	base.ethertype = 0;
	for (size_t i = 0; i < 8 * ARRAY_SIZE(traffic); i++) {
		base.family = i & 4 ? SECG_FAMILY_IPV6 : SECG_FAMILY_IPV4;
		base.src = (i & 4 ? ipv6 : ipv4)[i & 1 ? 5 : 0];
		base.dst = (i & 4 ? ipv6 : ipv4)[i & 2 ? 5 : 0];
		base.traffic = traffic[i / 8];
		add_rare_flows(base);
	}
}

static void make_rare_universe(void)
{
	universe_count = 0;
	for (size_t i = 0; i < 2 * SRC_MACS * ARRAY_SIZE(dst_macs); i++) {
		struct compile_packet base = {.has_ethernet = true, .vlan = i % 2 ? 5 : 0};

		memcpy(base.src_mac, macs[i / 2 % SRC_MACS], 6);
		memcpy(base.dst_mac, macs[dst_macs[i / 2 / SRC_MACS]], 6);
		add_rare_frames(base);
	}
	for (uint16_t vlan = 0; vlan <= 5; vlan += 5)
		add_rare_frames((struct compile_packet){.vlan = vlan});
}

static void make_universe(void)
{
	universe_count = 0;
	add_packet((struct compile_packet){.family = SECG_FAMILY_OTHER});
	for (size_t i = 0; i < ADDRESSES; i++) {
		for (size_t j = 0; j < ADDRESSES; j++) {
			add_flows((struct compile_packet){
				.family = SECG_FAMILY_IPV4, .src = ipv4[i], .dst = ipv4[j]});
			add_flows((struct compile_packet){
				.family = SECG_FAMILY_IPV6, .src = ipv6[i], .dst = ipv6[j]});
		}
	}
}

/* ── random policies ────────────────────────────────────────────────────────────────────────────── */

static struct rng rng;

static void put(json_t *object, const char *key, json_t *value)
{
	assert_int_equal(json_object_set_new(object, key, value), 0);
}

static json_t *random_prefixes(const char *group)
{
	json_t *list = json_array();

	if (is_rare) {
		bool is_all = rng_chance(&rng, 20);

		json_array_append_new(list, json_string(prefixes[0][is_all ? 8 : 3]));
		json_array_append_new(list, json_string(prefixes[1][is_all ? 8 : 3]));
		return list;
	}

	for (int v6 = 0; v6 < 2; v6++)
		for (uint32_t n = 1 + rng_below(&rng, 2); n; n--)
			json_array_append_new(list, json_string(prefixes[v6][rng_below(&rng, 10)]));
	if (group)
		json_array_append_new(list, json_string(group));
	return list;
}

static json_t *random_side(void)
{
	uint32_t kind = rng_below(&rng, 100);

	if (kind < 25)
		return json_pack("[s]", rng_chance(&rng, 50) ? "@a" : "@b");
	return random_prefixes(kind < 35 ? "@b" : NULL);
}

static json_t *random_ports(void)
{
	json_t *list = json_array();

	if (is_rare)
		return json_pack("[s]", rng_chance(&rng, 50) ? "0-9999" : "10000-65535");

	for (uint32_t n = 1 + rng_below(&rng, 2); n; n--)
		json_array_append_new(
			list, json_string(port_texts[rng_below(&rng, ARRAY_SIZE(port_texts))]));
	return list;
}

static void add_transport(json_t *object, bool is_service)
{
	uint32_t kind = rng_below(&rng, 100);

	/* The second universe has no ICMP. */
	if (is_rare && kind < 36)
		kind = !is_service && kind < 18 ? 12 : 40;
	if (!is_service && kind < 12) {
		put(object, "protocol", json_string("ping"));
	} else if (!is_service && kind < 24) {
		put(object, "service", json_string("s"));
	} else if (kind < 36) {
		bool is_v6 = rng_chance(&rng, 50);

		put(object, "protocol", json_string(is_v6 ? "icmpv6" : "icmp"));
		if (!is_service)
			put(object, "family", json_string(is_v6 ? "ipv6" : "ipv4"));
		if (rng_chance(&rng, 80))
			put(object, "icmp_type", json_integer(types[is_v6][rng_below(&rng, 3)]));
		if (rng_chance(&rng, 30))
			put(object, "icmp_code", json_integer(rng_below(&rng, 2)));
	} else if (kind < 50) {
		put(object, "protocol", json_pack("[s, i]", "gre", rng_chance(&rng, 50) ? 50 : 6));
	} else {
		put(object, "protocol",
		    rng_chance(&rng, 30) ? json_pack("[s, s]", "tcp", "udp")
					 : json_string(rng_chance(&rng, 50) ? "tcp" : "udp"));
		if (rng_chance(&rng, 50))
			put(object, "src_ports", random_ports());
		if (rng_chance(&rng, 70))
			put(object, "dst_ports", random_ports());
	}
}

static bool is_tcp(const json_t *rule)
{
	const char *protocol = json_string_value(json_object_get(rule, "protocol"));

	return protocol && !strcmp(protocol, "tcp");
}

/* Fields whose keys the second universe has packets for. */
static void add_rare_fields(json_t *rule)
{
	static const char *const mac_texts[] = {"02:11:22:00:00:01", "02:11:22:00:00:02",
						"02:11:22:00:00:00/ff:ff:ff:00:00:00",
						"00:00:00:00:00:00/00:00:00:00:00:00"};
	static const char *const group_texts[] = {"02:11:22:00:00:01",
						  "01:00:00:00:00:00/01:00:00:00:00:00",
						  "00:00:00:00:00:00/01:00:00:00:00:00"};
	static const char *const flag_texts[] = {"syn/syn,ack", "ack/ack"};
	bool is_ip = json_object_size(rule) > 2;

	if (rng_chance(&rng, 25))
		put(rule, "vlan", json_pack("[i]", 5));
	if (rng_chance(&rng, 25))
		put(rule, "src_mac",
		    rng_chance(&rng, 30) ? json_pack("[s, s]", mac_texts[0], mac_texts[1])
					 : json_pack("[s]", mac_texts[rng_below(&rng, 4)]));
	if (rng_chance(&rng, 25))
		put(rule, "dst_mac", json_pack("[s]", group_texts[rng_below(&rng, 3)]));
	if (!is_ip && rng_chance(&rng, 40))
		put(rule, "ethertypes",
		    rng_chance(&rng, 50) ? json_pack("[s, s]", "arp", "ipv4")
					 : json_pack("[s, s]", "llc", "lldp"));
	if (is_ip && rng_chance(&rng, 25))
		put(rule, "dscp",
		    rng_chance(&rng, 50) ? json_pack("[i]", 46)
					 : json_pack("[s, s]", "0-45", "47-63"));
	if (is_ip && rng_chance(&rng, 25))
		put(rule, "fragment", json_boolean(rng_chance(&rng, 50)));
	if (is_tcp(rule) && rng_chance(&rng, 50))
		put(rule, "tcp_flags", json_string(flag_texts[rng_below(&rng, 2)]));
	if (rng_chance(&rng, 5))
		put(rule, "enabled", json_false());
}

static json_t *random_rule(size_t number)
{
	static const char *const actions[] = {"allow", "allow-stateless", "drop",
					      "allow-stateless"};
	json_t *rule = json_pack("{s:o, s:s}", "id", json_sprintf("r%zu", number), "action",
				 rng_chance(&rng, 20) ? "pass" : actions[rng_below(&rng, 4)]);

	if (is_rare && rng_chance(&rng, 10))
		put(rule, "action", json_string("reject"));

	if (rng_chance(&rng, 2))
		return rule;
	if (rng_chance(&rng, 65))
		add_transport(rule, false);
	if (!json_object_get(rule, "family") && rng_chance(&rng, 15))
		put(rule, "family", json_string(rng_chance(&rng, 50) ? "ipv4" : "ipv6"));
	if (rng_chance(&rng, 55))
		put(rule, "src", random_side());
	if (rng_chance(&rng, 55))
		put(rule, "dst", random_side());
	if (is_rare)
		add_rare_fields(rule);
	return rule;
}

static json_t *random_acl(void)
{
	json_t *rules = json_array();

	for (size_t n = 1 + rng_below(&rng, RULES_MAX), i = 0; i < n; i++)
		json_array_append_new(rules, random_rule(i));
	return json_pack("{s:o}", "rules", rules);
}

static json_t *random_list(void)
{
	json_t *list = json_array();
	uint32_t first = rng_below(&rng, ACLS);

	for (uint32_t n = rng_below(&rng, ACLS), i = 0; i < n; i++)
		json_array_append_new(list, json_sprintf("l%u", (first + i) % ACLS));
	return list;
}

static json_t *random_document(void)
{
	json_t *acls = json_object(), *all_ports = json_object(), *service = json_array();
	json_t *groups = json_object();

	for (int i = 0; i < ACLS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "l%d", i);
		put(acls, name, random_acl());
	}
	for (int i = 0; i < 2; i++) {
		json_t *port = json_pack("{s:o}", "interface", json_sprintf("x%d", i));

		put(port, "from", random_list());
		put(port, "to", random_list());
		if (rng_chance(&rng, 20))
			put(port, "default", json_pack("{s:{s:s}}", "to", "action", "allow"));
		put(all_ports, i ? "q" : "p", port);
	}
	for (uint32_t n = 1 + rng_below(&rng, 2); n; n--) {
		json_t *item = json_object();

		add_transport(item, true);
		json_array_append_new(service, item);
	}
	json_array_append_new(service, json_pack("{s:s}", "protocol", "esp"));
	put(groups, "a",
	    json_pack("{s:o, s:[s]}", "prefixes", random_prefixes(NULL), "except",
		      prefixes[0][is_rare ? 3 : 3 + rng_below(&rng, 4)]));
	put(groups, "b",
	    rng_chance(&rng, 20) ? json_object()
				 : json_pack("{s:o}", "prefixes", random_prefixes(NULL)));
	return json_pack("{s:o, s:o, s:o, s:{s:o}}", "acls", acls, "ports", all_ports, "groups",
			 groups, "services", "s", service);
}

/* ── the truth ──────────────────────────────────────────────────────────────────────────────────── */

struct truth {
	uint64_t reached[ALL_RULES]; /* packets, by slot */
	enum secg_action actions[PACKETS_MAX];
};

static void find_truth(struct truth *truth, const struct acl *const *acls, size_t count)
{
	memset(truth->reached, 0, sizeof(truth->reached));
	for (size_t i = 0; i < universe_count; i++) {
		struct compile_verdict verdict =
			reference_match_without(acls, count, &universe[i], 0, truth->reached);

		truth->actions[i] = verdict.action;
		if (verdict.action != SECG_ACTION_NONE)
			truth->reached[verdict.slot]++;
	}
}

static bool matches_anything(const struct rule *rule)
{
	struct rule alone = *rule;
	struct acl acl = {.rules = &alone, .rule_count = 1};
	const struct acl *list = &acl;

	alone.action = SECG_ACTION_ALLOW;
	for (size_t i = 0; i < universe_count; i++)
		if (reference_match(&list, 1, &universe[i]).action != SECG_ACTION_NONE)
			return true;
	return false;
}

/* True if no packet's fate changes when the rule goes. */
static bool changes_nothing(const struct acl *const *acls, size_t count, const struct acl *acl,
			    size_t rule)
{
	static struct truth with, without;
	const struct acl *list[ACLS];
	struct rule rules[RULES_MAX + 1];
	struct acl less = *acl;
	size_t kept = 0;

	for (size_t i = 0; i < acl->rule_count; i++)
		if (i != rule)
			rules[kept++] = acl->rules[i];
	less.rules = rules;
	less.rule_count = kept;
	for (size_t i = 0; i < count; i++)
		list[i] = acls[i] == acl ? &less : acls[i];
	find_truth(&with, acls, count);
	find_truth(&without, list, count);
	return !memcmp(with.actions, without.actions, universe_count * sizeof(with.actions[0]));
}

static bool is_multicast(const struct compile_packet *packet)
{
	return packet->family == SECG_FAMILY_IPV4 ? packet->dst >> 28 == 0xe
						  : packet->dst >> 120 == 0xff;
}

/* The answer to a packet; false: nobody answers. */
static bool answer(struct compile_packet *ret_packet, const struct compile_packet *packet)
{
	struct compile_packet back = *packet;

	back.src = packet->dst;
	back.dst = packet->src;
	memcpy(back.src_mac, packet->dst_mac, sizeof(back.src_mac));
	memcpy(back.dst_mac, packet->src_mac, sizeof(back.dst_mac));
	*ret_packet = back;
	if (packet->family == SECG_FAMILY_OTHER)
		return true;
	if (is_multicast(packet))
		return false;
	ret_packet->high = packet->low;
	ret_packet->low = packet->high;
	if (packet->protocol != 1 && packet->protocol != 58)
		return true;
	ret_packet->low = packet->low;
	ret_packet->high = packet->protocol == 1 ? 8 - packet->high : 257 - packet->high;
	return packet->protocol == 1 ? packet->high == 0 || packet->high == 8
				     : packet->high == 128 || packet->high == 129;
}

static bool is_any_port(const struct range_list *list)
{
	return !list->count || (list->ranges[0].first == 0 && list->ranges[0].last == UINT16_MAX);
}

/* A packet that a service would get or send: where one side has named ports, the other is a client. */
static bool is_usual(const struct rule *rule, const struct compile_packet *packet)
{
	bool has_ports = packet->protocol == 6 || packet->protocol == 17;
	const struct l4_match *l4 = rule->l4;

	if (!has_ports || !rule->l4_count || packet->family == SECG_FAMILY_OTHER)
		return true;
	if (is_any_port(&l4->high) && !is_any_port(&l4->low))
		return packet->high == 60000;
	if (is_any_port(&l4->low) && !is_any_port(&l4->high))
		return packet->low == 60000;
	return true;
}

/* Whether the other side may answer so that it comes back: its flags and code points are its own. */
static bool comes_back(const struct port_list *back, struct compile_packet reply)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags) * ARRAY_SIZE(traffic); i++) {
		struct compile_verdict verdict;

		if (is_rare && reply.family != SECG_FAMILY_OTHER) {
			reply.traffic = traffic[i / ARRAY_SIZE(flags)];
			reply.tcp_flags = reply.protocol == 6 ? flags[i % ARRAY_SIZE(flags)] : 0;
		}
		verdict = reference_match((const struct acl *const *)back->acls, back->acl_count,
					  &reply);
		if (verdict.action == SECG_ACTION_ALLOW ||
		    verdict.action == SECG_ACTION_ALLOW_STATELESS ||
		    (verdict.action == SECG_ACTION_NONE && back->otherwise == SECG_ACTION_ALLOW))
			return true;
		if (!is_rare)
			return false;
	}
	return false;
}

/* From any station where the question went to a group. Rules tell fewer destinations apart than sources, so
 * the last station stands for all but the first. */
static bool some_comes_back(const struct port_list *back, struct compile_packet reply)
{
	bool is_group = reply.src_mac[0] & 1;
	bool is_other = !memcmp(reply.src_mac, macs[SRC_MACS - 1], 6);

	if (!is_group && !is_other)
		return comes_back(back, reply);
	for (size_t i = is_group ? 0 : 1; i < SRC_MACS; i++) {
		memcpy(reply.src_mac, macs[i], 6);
		if (comes_back(back, reply))
			return true;
	}
	return false;
}

/* Whether some alternative has answers, none of which comes back. */
static bool lacks_return(const struct rule *rule, const struct port_list *back)
{
	for (size_t l4 = 0; l4 < (rule->l4_count ? rule->l4_count : 1); l4++) {
		struct rule part = *rule;
		struct acl acl = {.rules = &part, .rule_count = 1};
		const struct acl *list = &acl;
		bool is_asked = false, has_answer = false;

		part.l4 = rule->l4 + l4;
		part.l4_count = rule->l4_count ? 1 : 0;
		for (size_t i = 0; i < universe_count && !has_answer; i++) {
			struct compile_packet reply;

			if (reference_match(&list, 1, &universe[i]).action == SECG_ACTION_NONE)
				continue;
			if (!is_usual(&part, &universe[i]) || !answer(&reply, &universe[i]))
				continue;
			is_asked = true;
			has_answer = some_comes_back(back, reply);
		}
		if (is_asked && !has_answer)
			return true;
	}
	return false;
}

/* ── comparisons ────────────────────────────────────────────────────────────────────────────────── */

struct tally {
	uint64_t rules, dead, found, by_one, by_many, behind;
	uint64_t stateless, closed, closed_found;
	uint64_t reported, silent;
};

static void dump(const json_t *document, const char *what, const struct acl *acl, size_t rule)
{
	char *text = json_dumps(document, JSON_COMPACT);

	/* print_error would cut it short. */
	fprintf(stderr, "%s: %s rule %zu in %s\n", what, acl->name, rule, text);
	free(text);
}

/* Every rule of a list: what is said of it is so, and nothing is left unsaid. */
static void compare_list(const json_t *document, const struct port_list *list,
			 const struct port_list *back, struct tally *tally)
{
	const struct acl *const *acls = (const struct acl *const *)list->acls;
	_cleanup_(ruleset_fini) struct ruleset set = {0}, back_set = {0};
	_cleanup_(arena_fini) struct arena scratch = {0};
	struct work work = {.limit = UINT64_MAX};
	static struct truth truth;

	find_truth(&truth, acls, list->acl_count);
	assert_int_equal(ruleset_init(&set, acls, list->acl_count, &work), 0);
	assert_int_equal(ruleset_init(&back_set, (const struct acl *const *)back->acls,
				      back->acl_count, &work),
			 0);
	for (uint32_t slot = 0; slot < set.rule_count; slot++) {
		const struct ruleset_rule *rule = &set.rules[slot];
		const struct acl *acl = acls[rule->acl];
		struct reach_verdict verdict;
		struct return_verdict path;
		bool is_dead = !truth.reached[slot] && matches_anything(rule->rule);
		bool is_said;

		assert_int_equal(reach_judge(&set, slot, &scratch, &work, &verdict), 0);
		assert_int_not_equal(verdict.reach, REACH_UNDECIDED);
		is_said = verdict.reach == REACH_SHADOWED || verdict.reach == REACH_REPEATED ||
			  verdict.reach == REACH_UNREACHABLE;
		if (is_said && truth.reached[slot]) {
			dump(document, "said to be unreachable", acl, rule->index);
			fail();
		}
		if (verdict.reach == REACH_FORESTALLED) {
			tally->behind++;
			if (!changes_nothing(acls, list->acl_count, acl, rule->index)) {
				dump(document, "said to change nothing", acl, rule->index);
				fail();
			}
		}
		tally->rules++;
		tally->dead += is_dead;
		tally->found += is_dead && is_said;
		tally->by_one += verdict.reach == REACH_SHADOWED || verdict.reach == REACH_REPEATED;
		tally->by_many += verdict.reach == REACH_UNREACHABLE;
		if (rule->rule->action != SECG_ACTION_ALLOW_STATELESS)
			continue;
		assert_int_equal(return_judge(&set, slot, &back_set, back->otherwise, &scratch,
					      &work, &path),
				 0);
		assert_int_not_equal(path.path, RETURN_UNDECIDED);
		tally->stateless++;
		if (lacks_return(rule->rule, back)) {
			tally->closed++;
			tally->closed_found += path.path == RETURN_CLOSED;
		} else if (path.path == RETURN_CLOSED) {
			dump(document, "said to have no return", acl, rule->index);
			fail();
		}
	}
}

static const struct port_list *list_at(const struct config *config, size_t i)
{
	return &config->ports[i / SECG_DIRECTIONS].list[i % SECG_DIRECTIONS];
}

/* Whether the rule is reached in no list that has its ACL; and whether it can go from all of them. */
static void judge_everywhere(const struct config *config, const struct acl *acl, size_t rule,
			     bool *ret_is_dead, bool *ret_is_idle)
{
	static struct truth truth;
	bool is_used = false;

	*ret_is_dead = *ret_is_idle = true;
	for (size_t i = 0; i <= config->port_count * SECG_DIRECTIONS; i++) {
		const struct acl *const *acls = &acl;
		size_t count = 1, before = 0;
		bool has_acl = !is_used;

		if (i < config->port_count * SECG_DIRECTIONS) {
			acls = (const struct acl *const *)list_at(config, i)->acls;
			count = list_at(config, i)->acl_count;
			has_acl = false;
			for (size_t j = 0; j < count && !has_acl; j++) {
				has_acl = acls[j] == acl;
				before += has_acl ? 0 : acls[j]->rule_count;
			}
			is_used |= has_acl;
		}
		if (!has_acl)
			continue;
		find_truth(&truth, acls, count);
		*ret_is_dead &= !truth.reached[before + rule];
		*ret_is_idle &= changes_nothing(acls, count, acl, rule);
	}
}

static const struct finding *find_finding(const struct findings *findings, const struct acl *acl,
					  size_t rule)
{
	char field[64];

	snprintf(field, sizeof(field), "acls.%s.rules[%zu]", acl->name, rule);
	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->items[i].field, field) &&
		    findings->items[i].code <= FINDING_REDUNDANT)
			return &findings->items[i];
	return NULL;
}

/* The whole run: several lists that share ACLs. */
static void compare_run(const json_t *document, const struct config *config, struct tally *tally)
{
	_cleanup_(findings_fini) struct findings findings = {0};

	assert_int_equal(lint_run(config, NULL, UINT64_MAX, &findings), 0);
	for (size_t i = 0; i < config->acl_count; i++) {
		const struct acl *acl = &config->acls[i];

		for (size_t j = 0; j < acl->rule_count; j++) {
			const struct finding *finding = find_finding(&findings, acl, j);
			bool is_dead, is_idle;

			if (!finding && !matches_anything(&acl->rules[j]))
				continue;
			judge_everywhere(config, acl, j, &is_dead, &is_idle);
			tally->reported += finding != NULL;
			tally->silent += !finding && is_dead;
			if (finding && (finding->code == FINDING_REDUNDANT ? !is_idle : !is_dead)) {
				dump(document, finding->message, acl, j);
				fail();
			}
			if (!finding && is_dead)
				dump(document, "not reported", acl, j);
		}
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void run(int policies, struct tally *tally)
{
	for (int i = 0; i < policies; i++) {
		json_auto_t *document = random_document();
		_cleanup_(config_freep) struct config *config = NULL;
		struct errors errs = {0};

		if (config_parse(&config, document, NULL, &errs) < 0)
			print_error("%s: %s\n", errs.items[0].field, errs.items[0].message);
		assert_non_null(config);
		for (size_t j = 0; j < config->port_count * SECG_DIRECTIONS; j++)
			compare_list(document, list_at(config, j), list_at(config, j ^ 1), tally);
		compare_run(document, config, tally);
	}
	print_message(
		"%llu rules in lists, %llu of them unreachable: %.1f %% found (%llu by one rule, "
		"%llu by several together); %llu redundant before another\n",
		(unsigned long long)tally->rules, (unsigned long long)tally->dead,
		percent(tally->found, tally->dead), (unsigned long long)tally->by_one,
		(unsigned long long)tally->by_many, (unsigned long long)tally->behind);
	print_message("%llu stateless rules, %llu without a return: %.1f %% found\n",
		      (unsigned long long)tally->stateless, (unsigned long long)tally->closed,
		      percent(tally->closed_found, tally->closed));
	print_message("%llu rules reported by runs, %llu unreachable ones not\n",
		      (unsigned long long)tally->reported, (unsigned long long)tally->silent);
	/* Within the work that a rule may cost the lint is exact: nothing of these small lists escapes. */
	assert_int_equal(tally->found, tally->dead);
	assert_int_equal(tally->closed_found, tally->closed);
	assert_int_equal(tally->silent, 0);
	assert_true(percent(tally->dead, tally->rules) < 60);
}

static void seed_run(uint64_t salt)
{
	const char *text = getenv("SECG_SEED");
	uint64_t seed =
		text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) << 20 | (uint64_t)getpid();

	print_message("SECG_SEED=%llu\n", (unsigned long long)seed);
	rng_seed(&rng, seed + salt);
}

static void agrees_with_brute_force(void **unused)
{
	struct tally t = {0};

	(void)unused;
	is_rare = false;
	seed_run(0);
	make_universe();
	run(POLICIES, &t);
	/* A comparison in which each case is rare would prove little. */
	assert_true(t.by_one > 200 && t.by_many > 50 && t.behind > 50 && t.closed > 50);
}

static void rare_fields_agree_with_brute_force(void **unused)
{
	struct tally t = {0};

	(void)unused;
	is_rare = true;
	seed_run(1);
	make_rare_universe();
	run(RARE, &t);
	assert_true(t.by_one > 40 && t.by_many > 5 && t.behind > 5 && t.closed > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_brute_force),
		cmocka_unit_test(rare_fields_agree_with_brute_force),
	};

	return cmocka_run_group_tests_name("lint, random", tests, NULL, NULL);
}
