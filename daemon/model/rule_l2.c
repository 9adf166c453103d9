/* SPDX-License-Identifier: Apache-2.0 */
/* What a rule matches of a frame: EtherTypes, VLANs, MAC addresses. */
#include <stdio.h>
#include <string.h>

#include "model/mac.h"
#include "model/nearest.h"
#include "model/rule_draft.h"

#define ETHERTYPE_IPV4  0x0800
#define ETHERTYPE_IPV6  0x86dd
#define ETHERTYPE_FIRST 0x0600 /* below: the length of an LLC frame */

static const struct number_kind vlan_kind = {"a VLAN id", 0, 4094};

void l2_match_fini(struct l2_match *l2)
{
	range_list_fini(&l2->ethertypes);
	range_list_fini(&l2->vlans);
	free(l2->src.macs);
	free(l2->dst.macs);
}

/* ── EtherTypes ─────────────────────────────────────────────────────────────────────────────────── */

static const struct {
	const char *name;
	struct range range;
} ethertype_names[] = {
	{"llc", {0, ETHERTYPE_FIRST - 1}}, {"ipv4", {ETHERTYPE_IPV4, ETHERTYPE_IPV4}},
	{"arp", {0x0806, 0x0806}},         {"ipv6", {ETHERTYPE_IPV6, ETHERTYPE_IPV6}},
	{"rarp", {0x8035, 0x8035}},        {"lacp", {0x8809, 0x8809}},
	{"mpls", {0x8847, 0x8848}},        {"pppoe", {0x8863, 0x8864}},
	{"eapol", {0x888e, 0x888e}},       {"lldp", {0x88cc, 0x88cc}},
	{"macsec", {0x88e5, 0x88e5}},      {"ptp", {0x88f7, 0x88f7}},
};

static int unknown_ethertype(struct parser *parser, const struct path *path, const char *text)
{
	struct nearest nearest = nearest_to(text);

	for (size_t i = 0; i < ARRAY_SIZE(ethertype_names); i++)
		nearest_offer(&nearest, ethertype_names[i].name);
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "must be an EtherType from 0x0600 to 0xffff such as \"0x88cc\", a range "
			   "of them, llc or a name such as arp, not \"%s\"%s%s%s",
			   excerpt(text).text, nearest.best ? ": did you mean " : "",
			   nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

/* Digits of a number, hexadecimal behind 0x; false where there are none. */
static bool read_number(const char **text, unsigned long *ret_number)
{
	bool is_hex = (*text)[0] == '0' && ((*text)[1] | 0x20) == 'x';
	const char *digits = *text + (is_hex ? 2 : 0);
	size_t size = strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789");

	*text = digits + size;
	if (!size)
		return false;
	*ret_number = size > 15 ? UINT32_MAX : strtoul(digits, NULL, is_hex ? 16 : 10);
	return true;
}

static int check_ethertypes(struct parser *parser, const struct path *path, unsigned long first,
			    unsigned long last)
{
	static const unsigned int tags[] = {0x8100, 0x88a8};

	if (first > 0xffff || last > 0xffff)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "an EtherType must be 0x0600 to 0xffff");
	if (first > last)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "the range is reversed: write \"0x%04lx-0x%04lx\"", last, first);
	if (first < ETHERTYPE_FIRST)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "below 0x0600 stands the length of an LLC frame: write llc for "
				   "these, and EtherTypes from 0x0600 on");
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (first == tags[i] && last == tags[i])
			return parse_error(parser, path, ERROR_BAD_VALUE,
					   "is a VLAN tag, which is looked through: the EtherType "
					   "is that behind the tags, write `vlan` for the tag");
	return 0;
}

static json_t *ethertype_json(const struct range *range)
{
	if (range->first < ETHERTYPE_FIRST)
		return json_string("llc");
	if (range->first == range->last)
		return json_sprintf("0x%04x", (unsigned int)range->first);
	return json_sprintf("0x%04x-0x%04x", (unsigned int)range->first, (unsigned int)range->last);
}

static int ethertype_text(struct parser *parser, const struct path *path, const char *text,
			  struct range *ret_range)
{
	unsigned long first, last;
	const char *rest = text;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(ethertype_names); i++) {
		if (!strcmp(ethertype_names[i].name, text)) {
			*ret_range = ethertype_names[i].range;
			return 0;
		}
	}
	if (!read_number(&rest, &first))
		return unknown_ethertype(parser, path, text);
	last = first;
	if (*rest == '-' && (rest++, !read_number(&rest, &last)))
		return unknown_ethertype(parser, path, text);
	if (*rest)
		return unknown_ethertype(parser, path, text);
	r = check_ethertypes(parser, path, first, last);
	if (!r)
		*ret_range = (struct range){(uint16_t)first, (uint16_t)last};
	return r;
}

static int ethertype_item(struct parser *parser, const struct path *path, const json_t *item,
			  struct range_list *ethertypes, json_t *list)
{
	const char *text = json_string_value(item);
	json_int_t number = json_integer_value(item);
	struct range range;
	int r;

	if (text) {
		r = ethertype_text(parser, path, text, &range);
	} else if (json_is_integer(item)) {
		r = check_ethertypes(parser, path, number < 0 ? 0 : (unsigned long)number,
				     number < 0 ? 0 : (unsigned long)number);
		range = (struct range){(uint16_t)number, (uint16_t)number};
	} else {
		return parse_bad_type(parser, path, item, "the number or name of an EtherType");
	}
	if (!r)
		r = range_list_add(ethertypes, range);
	return r < 0 ? r : json_push(list, ethertype_json(&range));
}

int rule_parse_ethertypes(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	json_auto_t *list = json_array();
	struct rule_draft *draft = object;
	struct range_list *ethertypes = &draft->rule->l2.ethertypes;
	int result = parse_not_empty(parser, path, value);

	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);

		result_add(&result,
			   ethertype_item(parser, &item, list_item(value, i), ethertypes, list));
	}
	range_list_normalize(ethertypes);
	result_add(&result, json_put(draft->l4.json, "ethertypes", TAKE_PTR(list)));
	return result;
}

static unsigned int range_family(const struct range *range)
{
	if (range->first != range->last)
		return 0;
	return range->first == ETHERTYPE_IPV4   ? FAMILIES_IPV4
	       : range->first == ETHERTYPE_IPV6 ? FAMILIES_IPV6
						: 0;
}

int rule_check_ethertypes(struct parser *parser, const struct path *path, struct rule_draft *draft)
{
	const struct range_list *ethertypes = &draft->rule->l2.ethertypes;
	struct path field = path_key(path, "ethertypes");
	const struct range *other = NULL;
	unsigned int families = 0;

	for (size_t i = 0; i < ethertypes->count; i++) {
		unsigned int family = range_family(&ethertypes->ranges[i]);

		families |= family;
		if (!family)
			other = &ethertypes->ranges[i];
	}
	if (other && draft->rule->is_ip)
		return parse_error(parser, &field, ERROR_BAD_VALUE,
				   "has more than IPv4 (0x0800) and IPv6 (0x86dd), but an IP or "
				   "transport field makes the rule match IP only: write a rule of "
				   "its own for the others");
	if (ethertypes->count && !other)
		draft->rule->is_ip = true;
	if (draft->rule->is_ip)
		draft->families[SOURCE_ETHERTYPES] = families;
	return 0;
}

/* A MAC with any mask has no place in a product of sets: each pair is matched on its own. */
int rule_check_macs(struct parser *parser, const struct path *path, const struct rule_draft *draft)
{
	const struct rule *rule = draft->rule;
	struct path field = path_key(path, rule->l2.dst.count ? "dst_mac" : "src_mac");
	size_t pairs = (rule->l2.src.count ? rule->l2.src.count : 1) *
		       (rule->l2.dst.count ? rule->l2.dst.count : 1);
	size_t alternatives = rule->l4_count ? rule->l4_count : 1;

	if (pairs == 1 || pairs <= SECG_MAX_ENTRIES / alternatives)
		return 0;
	return parse_error(parser, &field, ERROR_LIMIT,
			   "makes %zu combinations of MACs, protocols and ports, but a rule stands "
			   "for at most %d",
			   pairs * alternatives, SECG_MAX_ENTRIES);
}

/* ── VLANs ──────────────────────────────────────────────────────────────────────────────────────── */

int rule_parse_vlan(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	json_auto_t *list = json_array();
	struct rule_draft *draft = object;
	struct range_list *vlans = &draft->rule->l2.vlans;
	int result = parse_not_empty(parser, path, value);

	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);
		struct range range;
		int r = parse_range(parser, &item, list_item(value, i), &vlan_kind, &range);

		if (!r)
			r = range_list_add(vlans, range);
		if (!r)
			r = json_push(list, range_json(&range));
		result_add(&result, r);
	}
	range_list_normalize(vlans);
	result_add(&result, json_put(draft->l4.json, "vlan", TAKE_PTR(list)));
	return result;
}

/* ── MAC addresses ──────────────────────────────────────────────────────────────────────────────── */

static int parse_macs(struct parser *parser, const struct path *path, const json_t *value,
		      struct rule_draft *draft, struct mac_list *ret_list)
{
	json_auto_t *list = json_array();
	int result = parse_not_empty(parser, path, value);

	if (list_count(value) > SECG_MAX_ENTRIES)
		return parse_error(parser, path, ERROR_LIMIT,
				   "has %zu MACs, but a rule takes at most %d", list_count(value),
				   SECG_MAX_ENTRIES);
	ret_list->macs = calloc(list_count(value) + 1, sizeof(*ret_list->macs));
	if (!ret_list->macs)
		return -ENOMEM;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);
		struct mac_match *mac = &ret_list->macs[ret_list->count];
		int r = parse_mac(parser, &item, list_item(value, i), mac);

		if (!r) {
			ret_list->count++;
			r = json_push(list, mac_json(mac));
		}
		result_add(&result, r);
	}
	result_add(&result, json_put(draft->l4.json, path->key, TAKE_PTR(list)));
	return result;
}

int rule_parse_src_mac(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct rule_draft *draft = object;

	return parse_macs(parser, path, value, draft, &draft->rule->l2.src);
}

int rule_parse_dst_mac(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct rule_draft *draft = object;

	return parse_macs(parser, path, value, draft, &draft->rule->l2.dst);
}
