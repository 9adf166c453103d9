/* SPDX-License-Identifier: Apache-2.0 */
/* Alternatives of an expression as the match fields of rules. */
#include <string.h>

#include "import_policy.h"
#include "memory.h"
#include "ovn_match.h"

#define ETHERTYPES_MAX 16 /* that a rule lists rather than says "all but" */

static const struct {
	int number;
	const char *name;
} protocols[] = {
	{6, "tcp"},     {17, "udp"}, {136, "udplite"}, {132, "sctp"}, {33, "dccp"}, {1, "icmp"},
	{58, "icmpv6"}, {47, "gre"}, {50, "esp"},      {51, "ah"},    {2, "igmp"},  {112, "vrrp"},
};

static bool is_any(const struct ovn_match *match, enum ovn_field field)
{
	return ranges_is(&match->fields[field], 0, ovn_field_max[field]);
}

static json_t *protocols_json(const struct ranges *set)
{
	json_t *list = ranges_json(set);

	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		json_t *item;
		size_t j;

		json_array_foreach(list, j, item)
		{
			if (json_is_integer(item) &&
			    json_integer_value(item) == protocols[i].number)
				json_array_set_new(list, j,
						   memory_check(json_string(protocols[i].name)));
		}
	}
	return list;
}

/* "syn/syn,ack" */
static char *flags_text(int flags, int mask)
{
	static const char *const names[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"};
	char *text = memory_copy("");

	for (int part = 0; part < 2; part++) {
		for (int i = 0, count = 0; i < 8; i++) {
			char *longer;

			if (!((part == 0 ? flags : mask) & 1 << i))
				continue;
			longer = memory_format("%s%s%s", text, count++ > 0 ? "," : "", names[i]);
			free(text);
			text = longer;
		}
		if (part == 0) {
			char *longer = memory_format("%s/", text);

			free(text);
			text = longer;
		}
	}
	return text;
}

/* Does anything but the EtherType, the MACs and the VLAN matter? Then only IP fits. */
static bool is_ip_only(const struct ovn_match *match)
{
	for (int i = OVN_PROTO; i <= OVN_DSCP; i++) {
		if (!is_any(match, (enum ovn_field)i))
			return true;
	}
	return match->addresses[OVN_SRC] || match->addresses[OVN_DST] || match->except[OVN_SRC] ||
	       match->except[OVN_DST] || match->flags_mask != 0 || match->fragment >= 0;
}

static void put_side(json_t *rule, const struct ovn_match *match, enum ovn_side side, int family,
		     struct ovn_scope *scope)
{
	const char *key = side == OVN_SRC ? "src" : "dst";
	const char *mac_key = side == OVN_SRC ? "src_mac" : "dst_mac";

	if (match->macs[side])
		import_put(rule, mac_key, json_incref(match->macs[side]));
	if (json_array_size(match->except[side]) > 0) {
		_cleanup_free_ char *group = scope->group_except(
			scope->data, match->addresses[side], match->except[side], family);

		import_put(rule, key, json_pack("[s]", group));
	} else if (match->addresses[side]) {
		import_put(rule, key, json_incref(match->addresses[side]));
	}
}

static void put_numbers(json_t *rule, const struct ovn_match *match)
{
	static const struct {
		enum ovn_field field;
		const char *key;
	} keys[] = {
		{OVN_SRC_PORT, "src_ports"},  {OVN_DST_PORT, "dst_ports"},
		{OVN_ICMP_TYPE, "icmp_type"}, {OVN_ICMP_CODE, "icmp_code"},
		{OVN_DSCP, "dscp"},           {OVN_VLAN, "vlan"},
	};

	if (!is_any(match, OVN_PROTO))
		import_put(rule, "protocol", protocols_json(&match->fields[OVN_PROTO]));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!is_any(match, keys[i].field))
			import_put(rule, keys[i].key, ranges_json(&match->fields[keys[i].field]));
	}
	if (match->flags_mask) {
		_cleanup_free_ char *text = flags_text(match->flags, match->flags_mask);

		import_put_text(rule, "tcp_flags", text);
	}
	if (match->fragment >= 0)
		import_put(rule, "fragment", json_boolean(match->fragment));
}

/* The part of the match that is IP. family 0: both. */
static bool add_ip_rule(json_t *rules, const struct ovn_match *match, int family, bool is_all,
			struct ovn_scope *scope, char **why)
{
	const struct ranges *protocol = &match->fields[OVN_PROTO];
	json_t *rule;

	if ((family == 4 && ranges_is(protocol, 58, 58)) ||
	    (family == 6 && ranges_is(protocol, 1, 1)))
		return ovn_match_refuse(why, "asks for the other family's ICMP");
	rule = memory_check(json_object());
	if (family != 0)
		import_put_text(rule, "family", family == 4 ? "ipv4" : "ipv6");
	put_side(rule, match, OVN_SRC, family, scope);
	put_side(rule, match, OVN_DST, family, scope);
	put_numbers(rule, match);
	/* nothing so far says that it is about IP */
	if (family == 0 && !is_all && !is_ip_only(match))
		import_put(rule, "src", json_pack("[s, s]", "0.0.0.0/0", "::/0"));
	import_push(rules, rule);
	return true;
}

static bool add_ethertypes(json_t *list, const struct ranges *set)
{
	for (size_t i = 0; i < set->count; i++) {
		for (int type = set->items[i].first; type <= set->items[i].last; type++) {
			_cleanup_free_ char *text = memory_format("0x%04x", (unsigned int)type);

			if (type == 0x0800 || type == 0x86dd)
				continue;
			if (json_array_size(list) == ETHERTYPES_MAX)
				return false;
			import_push_text(list, text);
		}
	}
	return true;
}

static bool add_rules(json_t *rules, const struct ovn_match *match, struct ovn_scope *scope,
		      char **why)
{
	const struct ranges *types = &match->fields[OVN_ETH_TYPE];
	bool has4 = ranges_has(types, 0x0800), has6 = ranges_has(types, 0x86dd);
	json_auto_t *ethertypes = NULL;
	json_t *rule;

	if (is_any(match, OVN_ETH_TYPE))
		return add_ip_rule(rules, match, 0, true, scope, why);
	if ((has4 || has6) && !add_ip_rule(rules, match,
					   has4 && has6 ? 0
					   : has4       ? 4
							: 6,
					   false, scope, why))
		return false;
	ethertypes = memory_check(json_array());
	if (!add_ethertypes(ethertypes, types))
		return ovn_match_refuse(why, "asks for all EtherTypes but some");
	if (json_array_size(ethertypes) == 0)
		return true;
	rule = memory_check(json_object());
	import_put(rule, "ethertypes", json_incref(ethertypes));
	put_side(rule, match, OVN_SRC, 0, scope);
	put_side(rule, match, OVN_DST, 0, scope);
	if (!is_any(match, OVN_VLAN))
		import_put(rule, "vlan", ranges_json(&match->fields[OVN_VLAN]));
	import_push(rules, rule);
	return true;
}

json_t *ovn_match_rules(const struct ovn_matches *matches, struct ovn_scope *scope, char **ret_why)
{
	json_auto_t *rules = memory_check(json_array());

	for (size_t i = 0; i < matches->count; i++) {
		if (ovn_match_is_possible(&matches->items[i]) &&
		    !add_rules(rules, &matches->items[i], scope, ret_why))
			return NULL;
	}
	return json_incref(rules);
}
