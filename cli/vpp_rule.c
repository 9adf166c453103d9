/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the ACL plugin, and the entries of its MACIP lists. */
#include <stdio.h>
#include <string.h>

#include "import_address.h"
#include "import_vpp.h"
#include "memory.h"

struct rule {
	int family; /* 0: not said */
	const char *action;
	int proto;
	int sport[2], dport[2]; /* type and code of ICMP; first -1: any */
	int flags, mask;
	char src[IMPORT_PREFIX_SIZE], dst[IMPORT_PREFIX_SIZE];
	bool has_src, has_dst;
};

static const struct {
	int number;
	const char *name;
} protocols[] = {
	{6, "tcp"},     {17, "udp"}, {136, "udplite"}, {132, "sctp"}, {33, "dccp"}, {1, "icmp"},
	{58, "icmpv6"}, {47, "gre"}, {50, "esp"},      {51, "ah"},    {2, "igmp"},  {112, "vrrp"},
};

bool vpp_prefix(struct vpp *vpp, const char *text, int family, char *ret_text, bool *ret_is_any)
{
	struct import_prefix prefix;

	if (!text || !import_prefix_parse(text, &prefix) ||
	    (family != 0 && prefix.family != family))
		return vpp_error(vpp, "'%s' is no prefix of its family", text ? text : "");
	import_prefix_format(&prefix, ret_text);
	*ret_is_any = prefix.length == 0;
	return true;
}

/* ── words ──────────────────────────────────────────────────────────────────────────────────────── */

static bool parse_number(const char *text, int max, int *ret_number)
{
	char *end;
	unsigned long number;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	number = strtoul(text, &end, 10);
	if (*end != '\0' || number > (unsigned long)max)
		return false;
	*ret_number = (int)number;
	return true;
}

static bool parse_range(const char *text, int range[2])
{
	int end = 0;

	if (!text || sscanf(text, "%d-%d%n", &range[0], &range[1], &end) < 2) {
		if (!parse_number(text, 65535, &range[0]))
			return false;
		range[1] = range[0];
		return true;
	}
	return text[end] == '\0' && range[0] >= 0 && range[0] <= range[1] && range[1] <= 65535;
}

/* Names, and the numbers that acl_dump writes. */
static const char *parse_action(const char *word)
{
	static const struct {
		const char *word, *action;
	} words[] = {
		{"permit", "allow-stateless"},
		{"permit+reflect", "allow"},
		{"deny", "drop"},
		{"0", "drop"},
		{"1", "allow-stateless"},
		{"2", "allow"},
	};

	for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, word) == 0)
			return words[i].action;
	}
	return NULL;
}

static bool take_flags(struct rule *rule, const char *word, char **save)
{
	const char *mask;

	if (!parse_number(word, 255, &rule->flags))
		return false;
	mask = strtok_r(NULL, " ", save);
	if (mask && strcmp(mask, "mask") == 0)
		mask = strtok_r(NULL, " ", save);
	return parse_number(mask, 255, &rule->mask);
}

/* Finds the family first: prefixes must be of it. */
static void take_family(struct rule *rule, const char *text)
{
	if (strncmp(text, "ipv4 ", 5) == 0)
		rule->family = 4;
	else if (strncmp(text, "ipv6 ", 5) == 0)
		rule->family = 6;
	else
		rule->family = strstr(text, "::") ? 6 : 0;
}

static bool take_pair(struct vpp *vpp, struct rule *rule, const char *key, char **save)
{
	const char *value = strtok_r(NULL, " ", save);
	bool is_any;

	if (strcmp(key, "src") == 0) {
		if (!vpp_prefix(vpp, value, rule->family, rule->src, &is_any))
			return false;
		rule->has_src = !is_any;
	} else if (strcmp(key, "dst") == 0) {
		if (!vpp_prefix(vpp, value, rule->family, rule->dst, &is_any))
			return false;
		rule->has_dst = !is_any;
	} else if (strcmp(key, "action") == 0) {
		rule->action = parse_action(value);
	} else if (strcmp(key, "proto") == 0) {
		if (!parse_number(value, 255, &rule->proto))
			return vpp_error(vpp, "'%s' is no protocol number", value ? value : "");
	} else if (strcmp(key, "sport") == 0 || strcmp(key, "dport") == 0) {
		if (!parse_range(value, key[0] == 's' ? rule->sport : rule->dport))
			return vpp_error(vpp, "'%s' is no range", value ? value : "");
	} else if (strcmp(key, "tcpflags") == 0) {
		if (!take_flags(rule, value, save))
			return vpp_error(vpp, "its tcpflags cannot be read");
	} else {
		return vpp_error(vpp, "'%s' is not a word of a rule", key);
	}
	return true;
}

static bool parse_rule(struct vpp *vpp, const char *text, struct rule *rule)
{
	_cleanup_free_ char *words = memory_copy(text);
	char *save = NULL;

	*rule = (struct rule){.sport = {-1, -1}, .dport = {-1, -1}};
	take_family(rule, text);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (strcmp(word, "ipv4") == 0 || strcmp(word, "ipv6") == 0)
			continue;
		if (parse_action(word) && !strchr("012", word[0]))
			rule->action = parse_action(word);
		else if (!take_pair(vpp, rule, word, &save))
			return false;
	}
	if (!rule->action)
		return vpp_error(vpp, "a rule without permit, permit+reflect or deny");
	return true;
}

/* ── as a rule of the policy ────────────────────────────────────────────────────────────────────── */

static json_t *range_json(const int range[2])
{
	_cleanup_free_ char *text = memory_format("%d-%d", range[0], range[1]);

	return range[0] == range[1] ? json_pack("[i]", range[0]) : json_pack("[s]", text);
}

static bool is_any(const int range[2], int max)
{
	return range[0] < 0 || (range[0] == 0 && range[1] >= max);
}

static char *flags_text(int flags)
{
	static const char *const names[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"};
	char *text = memory_copy("");

	for (int i = 0; i < 8; i++) {
		char *longer;

		if (!(flags & 1 << i))
			continue;
		longer = memory_format("%s%s%s", text, text[0] ? "," : "", names[i]);
		free(text);
		text = longer;
	}
	return text;
}

static void put_ports(json_t *target, const struct rule *rule)
{
	bool is_icmp = rule->proto == 1 || rule->proto == 58;
	int max = is_icmp ? 255 : 65535;

	if (!is_any(rule->sport, max))
		import_put(target, is_icmp ? "icmp_type" : "src_ports", range_json(rule->sport));
	if (!is_any(rule->dport, max))
		import_put(target, is_icmp ? "icmp_code" : "dst_ports", range_json(rule->dport));
	if (rule->proto == 6 && rule->mask != 0) {
		_cleanup_free_ char *flags = flags_text(rule->flags & rule->mask);
		_cleanup_free_ char *mask = flags_text(rule->mask);
		_cleanup_free_ char *both = memory_format("%s/%s", flags, mask);

		import_put_text(target, "tcp_flags", both);
	}
}

static void put_protocol(json_t *target, int number)
{
	if (number == 0)
		return;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		if (protocols[i].number == number) {
			import_put_text(target, "protocol", protocols[i].name);
			return;
		}
	}
	import_put(target, "protocol", json_integer(number));
}

/* 0 alone is what API clients leave there. */
static bool has_ports(const int range[2])
{
	return !is_any(range, 65535) && !(range[0] == 0 && range[1] == 0);
}

/* VPP reads ports of TCP and UDP and types of ICMP only. */
static bool can_be(struct vpp *vpp, const struct rule *rule)
{
	if ((rule->family == 4 && rule->proto == 58) || (rule->family == 6 && rule->proto == 1)) {
		vpp_left(vpp, "asks for the other family's ICMP, which never comes; left out");
		return false;
	}
	if (rule->proto == 0 && (has_ports(rule->sport) || has_ports(rule->dport)))
		vpp_left(vpp, "names ports without a protocol; VPP does not look at them then, and "
			      "nor does the policy");
	if (rule->proto == 0 || rule->proto == 1 || rule->proto == 58 || rule->proto == 6 ||
	    rule->proto == 17)
		return true;
	if (!has_ports(rule->sport) && !has_ports(rule->dport))
		return true;
	vpp_left(vpp, "asks for ports of protocol %d, which VPP does not read; left out",
		 rule->proto);
	return false;
}

bool vpp_add_rule(struct vpp *vpp, const char *text)
{
	struct rule rule;
	json_t *rules = json_object_get(vpp->acl, "rules"), *target;
	_cleanup_free_ char *id = NULL;
	json_int_t number = json_integer_value(json_object_get(vpp->acl, "count"));

	if (!parse_rule(vpp, text, &rule))
		return false;
	import_put(vpp->acl, "count", json_integer(number + 1));
	if (!can_be(vpp, &rule))
		return true;
	id = memory_format("rule-%lld", (long long)number);
	target = memory_check(json_object());
	import_put_text(target, "id", id);
	import_put_text(target, "action", rule.action);
	if (rule.family != 0)
		import_put_text(target, "family", rule.family == 4 ? "ipv4" : "ipv6");
	if (rule.has_src)
		import_put(target, "src", json_pack("[s]", rule.src));
	if (rule.has_dst)
		import_put(target, "dst", json_pack("[s]", rule.dst));
	put_protocol(target, rule.proto);
	if (rule.proto == 1 || rule.proto == 58 || rule.proto == 6 || rule.proto == 17)
		put_ports(target, &rule);
	import_push(rules, target);
	return true;
}

/* ── MACIP ──────────────────────────────────────────────────────────────────────────────────────── */

static json_t *entry_of(json_t *entries, const char *mac)
{
	json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		if (strcmp(json_string_value(json_object_get(entry, "mac")), mac) == 0)
			return entry;
	}
	entry = memory_check(json_pack("{s:s, s:[]}", "mac", mac, "prefixes"));
	import_push(entries, entry);
	return entry;
}

/* A list that denies all at its end is what every list does. */
static bool add_denial(struct vpp *vpp, bool is_any, const char *mac)
{
	if (!is_any || strcmp(mac, "00:00:00:00:00:00/00:00:00:00:00:00") != 0)
		vpp_left(vpp, "denies what the entries behind it could permit: a macip list has "
			      "permitted pairs only; left out");
	return true;
}

bool vpp_add_entry(struct vpp *vpp, const char *text)
{
	char family[8], ip[64], mac[32], mask[32], mac_text[IMPORT_PREFIX_SIZE];
	char prefix[IMPORT_PREFIX_SIZE];
	int action, end = 0;
	bool is_any;

	if (sscanf(text, "%7s action %d ip %63s mac %31s mask %31s%n", family, &action, ip, mac,
		   mask, &end) != 5 ||
	    text[end] != '\0' || !import_mac_format(mac, mask, mac_text))
		return vpp_error(vpp, "is no rule of a MACIP list");
	if (!vpp_prefix(vpp, ip, strcmp(family, "ipv6") == 0 ? 6 : 4, prefix, &is_any))
		return false;
	if (action == 0)
		return add_denial(vpp, is_any, mac_text);
	import_push_once(json_object_get(entry_of(json_object_get(vpp->macip, "entries"), mac_text),
					 "prefixes"),
			 prefix);
	return true;
}
