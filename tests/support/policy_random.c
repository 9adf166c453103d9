/* SPDX-License-Identifier: Apache-2.0 */
/* Random policies. */
#include "policy_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"

#define ACLS_MAX        6
#define GROUPS          6
#define SERVICES        3
#define SECURITY_GROUPS 2
#define RARE            10 /* percent */
#define FAMILY_EITHER   0
#define LARGE           200 /* rules */
#define LENGTHS         15
#define WIDE            8 /* of them hold many addresses */

static json_t *need(json_t *json)
{
	if (!json)
		abort();
	return json;
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, need(value)) < 0)
		abort();
}

static void push(json_t *array, json_t *value)
{
	if (json_array_append_new(array, need(value)) < 0)
		abort();
}

static json_t *numbered(const char *prefix, unsigned int number)
{
	return need(json_sprintf("%s%u", prefix, number));
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

addr_t policy_address(struct rng *rng, uint8_t family)
{
	static const uint32_t heads[] = {0x0a000000, 0x0a000000, 0xc0a80000, 0};
	static const uint32_t words[] = {0, 1, 0x80000000, 0xffffffff};
	addr_t address;

	if (family == 4) {
		uint32_t head = heads[rng_below(rng, 4)];

		if (!head)
			return rng_chance(rng, 50)   ? rng_next(rng)
			       : rng_chance(rng, 50) ? 0
						     : UINT32_MAX;
		return head | rng_below(rng, 4) << 16 | rng_below(rng, 4) << 8 |
		       rng_below(rng, 256);
	}
	address = rng_chance(rng, 95) ? 0x20010db8 : rng_next(rng);
	address = address << 32 | (rng_chance(rng, 90) ? rng_below(rng, 4) << 16 : rng_next(rng));
	address = address << 32 | words[rng_below(rng, 4)];
	return address << 32 | (rng_chance(rng, 80) ? rng_below(rng, 16) : rng_next(rng));
}

static struct prefix random_prefix(struct rng *rng, uint8_t family, bool is_narrow)
{
	static const uint8_t v4[LENGTHS] = {8,  14, 15, 16, 22, 23, 24, 24,
					    26, 28, 30, 31, 32, 32, 32};
	static const uint8_t v6[LENGTHS] = {32, 46, 47,  48,  64,  64,  65, 95,
					    96, 97, 112, 127, 128, 128, 128};
	struct prefix prefix = {.family = family};
	unsigned int bits = family == 4 ? 32 : 128, host, at;
	addr_t max = family == 4 ? UINT32_MAX : ~(addr_t)0;

	at = is_narrow ? WIDE + rng_below(rng, LENGTHS - WIDE) : rng_below(rng, LENGTHS);
	prefix.length = family == 4 ? v4[at] : v6[at];
	if (!is_narrow && rng_chance(rng, 2))
		prefix.length = (uint8_t)rng_below(rng, bits + 1);
	host = bits - prefix.length;
	prefix.address = policy_address(rng, family);
	prefix.address = host == bits ? 0 : prefix.address >> host << host & max;
	return prefix;
}

static json_t *prefix_json(const struct prefix *prefix)
{
	char string[PREFIX_STRING_SIZE];

	prefix_format(string, prefix);
	return need(json_string(string));
}

static uint8_t pick_family(struct rng *rng, uint8_t family)
{
	return family != FAMILY_EITHER ? family : rng_chance(rng, 50) ? 4 : 6;
}

/* Prefixes and groups of a rule's side. */
static json_t *random_side(struct rng *rng, uint8_t family, bool is_narrow)
{
	json_t *list = need(json_array());
	bool has_family[2] = {false};

	if (!is_narrow && rng_chance(rng, 25)) {
		push(list, numbered("@g", rng_below(rng, GROUPS)));
		if (rng_chance(rng, 70))
			return list;
	}
	for (uint32_t n = 1 + (rng_chance(rng, 30) ? rng_below(rng, 4) : 0); n; n--) {
		struct prefix prefix = random_prefix(rng, pick_family(rng, family), is_narrow);

		has_family[prefix.family == 6] = true;
		push(list, prefix_json(&prefix));
	}
	/* The two sides of a rule for either family must not be of one family each. */
	for (int i = 0; i < 2 && family == FAMILY_EITHER; i++) {
		struct prefix prefix = random_prefix(rng, i ? 6 : 4, is_narrow);

		if (!has_family[i])
			push(list, prefix_json(&prefix));
	}
	return list;
}

static json_t *random_group(struct rng *rng, unsigned int number)
{
	json_t *group = need(json_object()), *prefixes = need(json_array());
	json_t *except = need(json_array());

	for (uint32_t n = rng_below(rng, 8); n; n--) {
		struct prefix prefix = random_prefix(rng, pick_family(rng, FAMILY_EITHER), false);
		unsigned int bits = prefix.family == 4 ? 32 : 128;

		push(prefixes, prefix_json(&prefix));
		if (prefix.length < bits && rng_chance(rng, 50)) {
			prefix.length += 1 + rng_below(rng, bits - prefix.length);
			if (rng_chance(rng, 50))
				prefix.address |= (addr_t)1 << (bits - prefix.length);
			push(except, prefix_json(&prefix));
		}
	}
	put(group, "prefixes", prefixes);
	put(group, "except", except);
	if (number && rng_chance(rng, 40)) {
		json_t *nested = need(json_array());

		push(nested, numbered("g", rng_below(rng, number)));
		put(group, "groups", nested);
	}
	return group;
}

/* ── transport ──────────────────────────────────────────────────────────────────────────────────── */

static json_t *random_ranges(struct rng *rng, uint32_t max)
{
	json_t *list = need(json_array());

	for (uint32_t n = 1 + (rng_chance(rng, 30) ? rng_below(rng, 3) : 0); n; n--) {
		uint32_t first =
			rng_chance(rng, 80) ? rng_below(rng, max / 4 + 1) : rng_below(rng, max + 1);
		uint32_t last = first + rng_below(rng, rng_chance(rng, 70) ? 8 : max / 16 + 1);

		if (rng_chance(rng, 3))
			first = 0;
		if (last > max || rng_chance(rng, 3))
			last = max;
		if (rng_chance(rng, 50))
			push(list, json_integer(first));
		else
			push(list, need(json_sprintf("%u-%u", first, last)));
	}
	return list;
}

static void add_ports(struct rng *rng, json_t *object)
{
	static const char *const names[] = {"tcp", "tcp", "udp", "udp", "sctp", "udplite", "dccp"};
	const char *name = names[rng_below(rng, ARRAY_SIZE(names))];
	json_t *list = need(json_array());

	push(list, json_string(name));
	if (rng_chance(rng, 20) && strcmp(name, "tcp"))
		push(list, json_string("tcp"));
	put(object, "protocol", list);
	if (rng_chance(rng, 40))
		put(object, "src_ports", random_ranges(rng, UINT16_MAX));
	if (rng_chance(rng, 85))
		put(object, "dst_ports", random_ranges(rng, UINT16_MAX));
}

static void add_icmp(struct rng *rng, json_t *object, uint8_t family)
{
	put(object, "protocol", json_string(family == 4 ? "icmp" : "icmpv6"));
	if (rng_chance(rng, 80))
		put(object, "icmp_type",
		    rng_chance(rng, 50) ? json_integer(family == 4 ? 8 : 128)
					: random_ranges(rng, 40));
	if (rng_chance(rng, 50))
		put(object, "icmp_code", random_ranges(rng, 15));
}

/* Protocols by number, those without ports among them. */
static void add_protocols(struct rng *rng, json_t *object)
{
	json_t *list = need(json_array());

	/* One of both families: ICMP alone would not fit every rule. */
	push(list, json_string("gre"));
	for (uint32_t n = 1 + rng_below(rng, 3); n; n--) {
		uint32_t first = rng_below(rng, 256);

		if (rng_chance(rng, 60))
			push(list, json_integer(first));
		else
			push(list, need(json_sprintf("%u-%u", first,
						     first + rng_below(rng, 256 - first))));
	}
	put(object, "protocol", list);
}

static void add_service(struct rng *rng, json_t *object)
{
	static const char *const shipped[] = {"dns", "https", "bfd", "etcd"};

	put(object, "service",
	    rng_chance(rng, 50) ? json_string(shipped[rng_below(rng, ARRAY_SIZE(shipped))])
				: numbered("s", rng_below(rng, SERVICES)));
}

/* ── rare fields ────────────────────────────────────────────────────────────────────────────────── */

/* From few vendors, and few of each. */
void policy_mac(struct rng *rng, uint8_t ret_mac[6])
{
	static const uint8_t bytes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};

	for (int i = 0; i < 6; i++)
		ret_mac[i] = i == 1 || i == 5 ? bytes[rng_below(rng, 5)] : 0;
	ret_mac[0] = rng_chance(rng, 80) ? 0x02 : 0x06;
}

static json_t *random_macs(struct rng *rng)
{
	static const uint8_t masks[][6] = {
		{0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0, 0, 0x0f}, {0x04}, {0}};
	json_t *list = need(json_array());

	for (uint32_t n = 1 + (rng_chance(rng, 30) ? rng_below(rng, 3) : 0); n; n--) {
		const uint8_t *mask = masks[rng_below(rng, ARRAY_SIZE(masks))];
		bool is_exact = rng_chance(rng, 50);
		uint8_t mac[6];

		policy_mac(rng, mac);
		for (int i = 0; i < 6 && !is_exact; i++)
			mac[i] &= mask[i];
		if (is_exact)
			push(list, need(json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
						     mac[1], mac[2], mac[3], mac[4], mac[5])));
		else
			push(list,
			     need(json_sprintf(
				     "%02x:%02x:%02x:%02x:%02x:%02x/%02x:%02x:%02x:%02x:%02x:%02x",
				     mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], mask[0],
				     mask[1], mask[2], mask[3], mask[4], mask[5])));
	}
	return list;
}

/* Neither IP nor what the parser looks through. */
static json_t *random_ethertypes(struct rng *rng)
{
	static const char *const names[] = {"arp",    "llc",           "lldp",
					    "0x9000", "0x88b5-0x88b6", "ipv4"};
	json_t *list = need(json_array());

	for (uint32_t n = 1 + rng_below(rng, 2); n; n--)
		push(list, json_string(names[rng_below(rng, ARRAY_SIZE(names))]));
	return list;
}

/* Each in `rare` percent of the rules. Only what has IP fields has those of IP headers. */
static void add_rare(struct rng *rng, json_t *rule, uint32_t rare)
{
	static const char *const flags[] = {"syn/syn,ack", "ack/ack", "rst/rst",
					    "syn,ack/syn,ack,fin,rst", "none/psh"};
	const json_t *protocols = json_object_get(rule, "protocol");
	const char *only = json_string_value(json_array_get(protocols, 0));
	bool is_allow = !strcmp(json_string_value(json_object_get(rule, "action")), "allow");
	bool is_tcp = only && json_array_size(protocols) == 1 && !strcmp(only, "tcp");

	if (rng_chance(rng, rare))
		put(rule, "vlan",
		    rng_chance(rng, 70) ? random_ranges(rng, 7) : json_pack("[i]", 0));
	if (rng_chance(rng, rare))
		put(rule, "src_mac", random_macs(rng));
	if (rng_chance(rng, rare))
		put(rule, "dst_mac", random_macs(rng));
	if (rng_chance(rng, rare))
		put(rule, "dscp", random_ranges(rng, 63));
	if (rng_chance(rng, rare / 2))
		put(rule, "fragment", json_boolean(rng_chance(rng, 60)));
	if (is_tcp && rng_chance(rng, 2 * rare))
		put(rule, "tcp_flags", json_string(flags[rng_below(rng, ARRAY_SIZE(flags))]));
	if (is_allow && rng_chance(rng, rare))
		put(rule, "timeout", json_integer(1 + rng_below(rng, 1000)));
	if (rng_chance(rng, rare))
		put(rule, "enabled", json_false());
}

/* A rule for frames of any kind: by what is before the IP header alone. */
static void add_l2(struct rng *rng, json_t *rule)
{
	if (rng_chance(rng, 60))
		put(rule, "ethertypes", random_ethertypes(rng));
	if (rng_chance(rng, 40))
		put(rule, "vlan", random_ranges(rng, 7));
	if (rng_chance(rng, 50) || json_object_size(rule) == 2)
		put(rule, "src_mac", random_macs(rng));
	if (rng_chance(rng, 50))
		put(rule, "dst_mac", random_macs(rng));
}

/* ── rules, ACLs, ports ─────────────────────────────────────────────────────────────────────────── */

static void add_transport(struct rng *rng, json_t *rule, uint8_t *family)
{
	uint32_t kind = rng_below(rng, 100);

	if (kind < 45) {
		add_ports(rng, rule);
	} else if (kind < 60) {
		if (*family == FAMILY_EITHER)
			*family = pick_family(rng, *family);
		add_icmp(rng, rule, *family);
	} else if (kind < 65) {
		put(rule, "protocol", json_string("ping"));
	} else if (kind < 75) {
		add_service(rng, rule);
	} else if (kind < 83) {
		add_protocols(rng, rule);
	}
}

/* `all` is the number of rules of the policy: in a large one few rules may match much, or nothing behind
 * them is ever tried. */
static json_t *random_rule(struct rng *rng, unsigned int number, size_t all, uint32_t rare)
{
	static const char *const actions[] = {"allow",  "allow", "allow-stateless", "drop",
					      "permit", "deny",  "reject"};
	json_t *rule = need(json_object());
	uint8_t family = rng_chance(rng, 40) ? FAMILY_EITHER : rng_chance(rng, 50) ? 4 : 6;
	bool is_narrow = all > LARGE && !rng_chance(rng, 2);
	bool is_named = family != FAMILY_EITHER && rng_chance(rng, 50);

	bool is_pass = rng_chance(rng, all > LARGE ? 2 : 12);

	put(rule, "id", numbered("r", number));
	put(rule, "action", json_string(is_pass ? "pass" : actions[rng_below(rng, rare ? 7 : 6)]));
	/* A rule without conditions ends a list. */
	if (!rng_below(rng, (uint32_t)all + 20))
		return rule;
	if (rng_chance(rng, rare / 2)) {
		add_l2(rng, rule);
		return rule;
	}
	/* One that passes on is wide, as a tier is. */
	if (!is_pass || rng_chance(rng, 40))
		add_transport(rng, rule, &family);
	if (is_named)
		put(rule, "family", json_string(family == 4 ? "ipv4" : "ipv6"));
	if (rng_chance(rng, 70))
		put(rule, "src", random_side(rng, family, is_narrow));
	if (rng_chance(rng, 60) || !json_object_get(rule, "src"))
		put(rule, "dst", random_side(rng, family, is_narrow));
	add_rare(rng, rule, rare);
	return rule;
}

static json_t *random_acl(struct rng *rng, size_t rules, size_t all, uint32_t rare)
{
	json_t *acl = need(json_object()), *list = need(json_array());

	for (size_t i = 0; i < rules; i++)
		push(list, random_rule(rng, (unsigned int)i, all, rare));
	put(acl, "rules", list);
	if (rng_chance(rng, rare))
		put(acl, "audit", json_true());
	return acl;
}

/* Rules of both directions; all of them allow. */
static json_t *random_security_group(struct rng *rng)
{
	json_t *group = need(json_object()), *list = need(json_array());

	for (uint32_t n = 1 + rng_below(rng, 6), i = 0; i < n; i++) {
		uint8_t family = rng_chance(rng, 60) ? FAMILY_EITHER : rng_chance(rng, 50) ? 4 : 6;
		json_t *rule = need(json_object());

		put(rule, "id", numbered("r", i));
		put(rule, "direction", json_string(rng_chance(rng, 50) ? "from" : "to"));
		add_transport(rng, rule, &family);
		json_object_del(rule, "src_ports");
		if (rng_chance(rng, 70))
			put(rule, "remote", random_side(rng, family, false));
		push(list, rule);
	}
	put(group, "rules", list);
	if (rng_chance(rng, 30))
		put(group, "stateful", json_false());
	return group;
}

static json_t *random_service(struct rng *rng)
{
	json_t *list = need(json_array());

	for (uint32_t n = 1 + rng_below(rng, 3); n; n--) {
		json_t *item = need(json_object());

		if (rng_chance(rng, 70))
			add_ports(rng, item);
		else
			add_icmp(rng, item, pick_family(rng, FAMILY_EITHER));
		push(list, item);
	}
	/* Both families, so that it fits every rule. */
	json_t *item = need(json_object());

	put(item, "protocol", json_string("gre"));
	push(list, item);
	return list;
}

/* A few of the ACLs, in any order, each at most once. */
static json_t *random_list(struct rng *rng, uint32_t acls)
{
	uint32_t first = rng_below(rng, acls), count = 1 + rng_below(rng, acls);
	bool is_backwards = rng_chance(rng, 50);
	json_t *list = need(json_array());

	for (uint32_t i = 0; i < count; i++)
		push(list, numbered("a", (first + (is_backwards ? acls - i : i)) % acls));
	return list;
}

static json_t *random_port(struct rng *rng, const struct policy_port *conf, uint32_t acls,
			   uint32_t rare)
{
	static const char *const directions[] = {"from", "to"};
	json_t *port = need(json_object()), *otherwise = need(json_object());

	put(port, "interface", json_string(conf->interface));
	put(port, "hook", json_string(conf->hook));
	put(port, "infrastructure", json_array());
	for (int i = 0; i < 2; i++) {
		json_t *action = NULL;

		/* An absent direction passes everything: rare. */
		if (rng_chance(rng, 3))
			continue;
		put(port, directions[i], random_list(rng, acls));
		if (rng_chance(rng, 85))
			continue;
		action = need(json_object());
		put(action, "action",
		    json_string(rare && rng_chance(rng, 50) ? "reject" : "allow"));
		put(otherwise, directions[i], action);
	}
	if (rare && rng_chance(rng, 50))
		put(port, "security_groups",
		    rng_chance(rng, 50) ? json_pack("[s]", "w0") : json_pack("[s, s]", "w1", "w0"));
	if (rng_chance(rng, rare))
		put(port, "audit", json_true());
	if (json_object_size(otherwise))
		put(port, "default", otherwise);
	else
		json_decref(otherwise);
	return port;
}

static json_t *random_acls(struct rng *rng, uint32_t acls, size_t rules, uint32_t rare)
{
	json_t *object = need(json_object());
	size_t all = rules;

	for (uint32_t i = 0; i < acls; i++) {
		char name[16];
		size_t left = acls - i, share = rules / left;

		/* Uneven shares; the last takes what is left. */
		if (left > 1 && share > 1)
			share = 1 + rng_below(rng, (uint32_t)(2 * share - 1));
		if (left == 1 || share > rules)
			share = rules;
		snprintf(name, sizeof(name), "a%u", i);
		put(object, name, random_acl(rng, share, all, rare));
		rules -= share;
	}
	return object;
}

json_t *policy_random(struct rng *rng, size_t rules, const struct policy_port *ports,
		      size_t port_count)
{
	json_t *document = need(json_object()), *groups = need(json_object());
	json_t *services = need(json_object()), *all = need(json_object());
	json_t *worn = need(json_object());
	uint32_t acls = rules > 3 ? 1 + rng_below(rng, ACLS_MAX) : 1;
	uint32_t rare = rng_chance(rng, 60) ? RARE : 0;
	char name[16];

	for (unsigned int i = 0; i < GROUPS; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		put(groups, name, random_group(rng, i));
	}
	for (unsigned int i = 0; i < SERVICES; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		put(services, name, random_service(rng));
	}
	put(document, "groups", groups);
	for (unsigned int i = 0; i < SECURITY_GROUPS; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		put(worn, name, random_security_group(rng));
	}
	put(document, "services", services);
	put(document, "security_groups", worn);
	put(document, "acls", random_acls(rng, acls, rules, rare));
	for (size_t i = 0; i < port_count; i++)
		put(all, ports[i].name, random_port(rng, &ports[i], acls, rare));
	put(document, "ports", all);
	return document;
}
