/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of transport conditions. */
#include <stdio.h>
#include <string.h>

#include "model/l4.h"

static const struct number_kind protocol_kind = {"a protocol number", 0, 255};
static const struct number_kind port_kind = {"a port", 0, 65535};
static const struct number_kind icmp_kind = {"an ICMP type or code", 0, 255};

static int beside_service(struct parser *parser, const struct path *path)
{
	return parse_error(
		parser, path, ERROR_BAD_VALUE,
		"cannot stand beside `service`, which says protocol, ports and ICMP types "
		"itself: leave one of them out");
}

/* ── protocol ───────────────────────────────────────────────────────────────────────────────────── */

static json_t *protocol_json(const struct range *range)
{
	const char *name =
		range->first == range->last ? protocol_name((uint8_t)range->first) : NULL;

	return name ? json_string(name) : range_json(range);
}

static int protocol_number(struct parser *parser, const struct path *path, const json_t *item,
			   struct l4_draft *draft, json_t *list)
{
	struct range range;
	int r = parse_range(parser, path, item, &protocol_kind, &range);

	if (r < 0)
		return r;
	for (unsigned int i = range.first; i <= range.last; i++)
		protocols_add(draft->protocols, (uint8_t)i);
	draft->has_protocols = true;
	return json_push(list, protocol_json(&range));
}

static int unknown_protocol(struct parser *parser, const struct path *path, const char *name)
{
	const char *meant = protocol_nearest(name);

	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "must be 0 to 255, any, tcp, udp, udplite, sctp, dccp, icmp, icmpv6, "
			   "gre, esp, ah, igmp, vrrp or ping, not \"%s\"%s%s%s",
			   excerpt(name).text, meant ? ": did you mean " : "", meant ? meant : "",
			   meant ? "?" : "");
}

static int protocol_item(struct parser *parser, const struct path *path, const json_t *item,
			 struct l4_draft *draft, json_t *list)
{
	const char *name = json_string_value(item);
	int number;

	if (!name && !json_is_integer(item))
		return parse_bad_type(parser, path, item, "the name or number of a protocol");
	if (!name || is_number_text(item))
		return protocol_number(parser, path, item, draft, list);
	if (!strcmp(name, "ping")) {
		draft->has_protocols = draft->is_ping = true;
		return json_push(list, json_string(name));
	}
	if (!strcmp(name, "any"))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "any covers the other protocols of the list: write it alone");
	number = protocol_find(name);
	if (number < 0)
		return unknown_protocol(parser, path, name);
	protocols_add(draft->protocols, (uint8_t)number);
	draft->has_protocols = true;
	return json_push(list, json_string(name));
}

int l4_parse_protocol(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	json_auto_t *list = json_array();
	struct l4_draft *draft = object;
	const char *only = list_count(value) == 1 ? json_string_value(list_item(value, 0)) : NULL;
	int result;

	if (only && !strcmp(only, "any"))
		return 0;
	if (draft->has_service)
		return beside_service(parser, path);
	result = parse_not_empty(parser, path, value);
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);

		result_add(&result, protocol_item(parser, &item, list_item(value, i), draft, list));
	}
	draft->is_given = true;
	draft->is_muted = result < 0;
	result_add(&result, json_put(draft->json, "protocol", TAKE_PTR(list)));
	return result;
}

/* ── ports ──────────────────────────────────────────────────────────────────────────────────────── */

/* The first protocol of the draft that does not satisfy `holds`, as text; false: all do. */
static bool find_protocol(const struct l4_draft *draft, bool (*holds)(uint8_t), char text[16])
{
	for (unsigned int i = 0; i <= 255; i++) {
		const char *name;

		if (!protocols_have(draft->protocols, (uint8_t)i) || holds((uint8_t)i))
			continue;
		name = protocol_name((uint8_t)i);
		if (name)
			snprintf(text, 16, "%s", name);
		else
			snprintf(text, 16, "%u", i);
		return true;
	}
	snprintf(text, 16, "ping");
	return draft->is_ping;
}

static int check_ports(struct parser *parser, const struct path *path, const struct l4_draft *draft)
{
	char text[16];

	if (draft->is_muted)
		return 0;
	if (!draft->has_protocols)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "needs `protocol`: ports exist with tcp, udp, udplite, sctp "
				   "and dccp only");
	if (find_protocol(draft, protocol_has_ports, text))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "%s has no ports: write a rule of its own for it", text);
	return 0;
}

static int port_item(struct parser *parser, const struct path *path, const json_t *item,
		     const struct l4_draft *draft, struct range *ret_range)
{
	const char *name = json_string_value(item);

	if (draft->may_name_services && name && config_find_service(parser->config, name))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "%s is a service: write `service: %s` and leave protocol and "
				   "ports out",
				   name, name);
	return parse_range(parser, path, item, &port_kind, ret_range);
}

static int parse_ports(struct parser *parser, const struct path *path, const json_t *value,
		       struct l4_draft *draft, struct range_list *ret_ports)
{
	json_auto_t *list = json_array();
	int result;

	if (draft->has_service)
		return beside_service(parser, path);
	result = parse_not_empty(parser, path, value);
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);
		struct range range;
		int r = port_item(parser, &item, list_item(value, i), draft, &range);

		if (!r)
			r = range_list_add(ret_ports, range);
		if (!r)
			r = json_push(list, range_json(&range));
		result_add(&result, r);
	}
	range_list_normalize(ret_ports);
	draft->is_given = true;
	result_add(&result, check_ports(parser, path, draft));
	result_add(&result, json_put(draft->json, path->key, TAKE_PTR(list)));
	return result;
}

int l4_parse_src_ports(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct l4_draft *draft = object;

	return parse_ports(parser, path, value, draft, &draft->src_ports);
}

int l4_parse_dst_ports(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct l4_draft *draft = object;

	return parse_ports(parser, path, value, draft, &draft->dst_ports);
}

/* ── ICMP ───────────────────────────────────────────────────────────────────────────────────────── */

static bool is_icmp(uint8_t protocol)
{
	return protocol == PROTOCOL_ICMP || protocol == PROTOCOL_ICMPV6;
}

static bool has_version(const struct l4_draft *draft, enum icmp_version version)
{
	return protocols_have(draft->protocols,
			      version == ICMP_V4 ? PROTOCOL_ICMP : PROTOCOL_ICMPV6);
}

static int check_icmp(struct parser *parser, const struct path *path, const struct l4_draft *draft)
{
	char text[16];

	if (!draft->has_protocols)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "needs `protocol: icmp` (IPv4) or `protocol: icmpv6` (IPv6)");
	if (find_protocol(draft, is_icmp, text))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "%s %s: write a rule of its own for it", text,
				   strcmp(text, "ping") ? "has no ICMP type" : "is a type already");
	return 0;
}

/* The one type that names of codes belong to; -1: none or several. */
static int only_type(const struct l4_draft *draft, enum icmp_version version)
{
	const struct range_list *types = &draft->icmp_type[version];

	if (types->count != 1 || types->ranges[0].first != types->ranges[0].last)
		return -1;
	return types->ranges[0].first;
}

static int name_find(const struct l4_draft *draft, bool is_type, enum icmp_version version,
		     const char *name)
{
	int type = only_type(draft, version);

	if (is_type)
		return icmp_type_find(version, name);
	return type < 0 ? -1 : icmp_code_find(version, (uint8_t)type, name);
}

static const char *name_of(const struct l4_draft *draft, bool is_type, enum icmp_version version,
			   const struct range *range)
{
	int type = only_type(draft, version);

	if (range->first != range->last)
		return NULL;
	if (is_type)
		return icmp_type_name(version, (uint8_t)range->first);
	return type < 0 ? NULL : icmp_code_name(version, (uint8_t)type, (uint8_t)range->first);
}

static int unknown_icmp(struct parser *parser, const struct path *path, const char *name,
			enum icmp_version version, bool is_type)
{
	const char *meant = is_type ? icmp_type_nearest(version, name) : NULL;
	const char *protocol = version == ICMP_V4 ? "icmp" : "icmpv6";

	if (meant)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "\"%s\" is not a type of %s: did you mean %s?",
				   excerpt(name).text, protocol, meant);
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   is_type ? "\"%s\" is not a type of %s: write one such as echo-request, "
				     "or its number"
				   : "\"%s\" is not a code of one type of %s given in `icmp_type`: "
				     "write its number",
			   excerpt(name).text, protocol);
}

static int icmp_name(struct parser *parser, const struct path *path, const char *name,
		     struct l4_draft *draft, bool is_type, struct range_list *lists)
{
	for (int v = 0; v < ICMP_VERSIONS; v++) {
		int number, r;

		if (!has_version(draft, v))
			continue;
		number = name_find(draft, is_type, v, name);
		if (number < 0)
			return unknown_icmp(parser, path, name, v, is_type);
		r = range_list_add(&lists[v], (struct range){(uint16_t)number, (uint16_t)number});
		if (r < 0)
			return r;
	}
	return 0;
}

/* One type or code: fills the list of each ICMP version that the rule names. */
static int icmp_item(struct parser *parser, const struct path *path, const json_t *item,
		     struct l4_draft *draft, bool is_type, struct range_list *lists, json_t *list)
{
	const char *name = is_number_text(item) ? NULL : json_string_value(item);
	enum icmp_version version = has_version(draft, ICMP_V4) ? ICMP_V4 : ICMP_V6;
	struct range range;
	int r;

	if (name) {
		r = icmp_name(parser, path, name, draft, is_type, lists);
		return r < 0 ? r : json_push(list, json_string(name));
	}
	r = parse_range(parser, path, item, &icmp_kind, &range);
	if (r < 0)
		return r;
	if (has_version(draft, ICMP_V4) && has_version(draft, ICMP_V6))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "a number means different things in icmp and icmpv6: write a "
				   "name, or one rule for each");
	r = range_list_add(&lists[version], range);
	if (r < 0)
		return r;
	name = name_of(draft, is_type, version, &range);
	return json_push(list, name ? json_string(name) : range_json(&range));
}

static int parse_icmp(struct parser *parser, const struct path *path, const json_t *value,
		      struct l4_draft *draft, bool is_type, struct range_list *lists)
{
	json_auto_t *list = json_array();
	int result;

	if (draft->has_service)
		return beside_service(parser, path);
	result = parse_not_empty(parser, path, value);
	draft->is_given = true;
	if (draft->is_muted)
		return result;
	result_add(&result, check_icmp(parser, path, draft));
	if (result < 0)
		return result;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);

		result_add(&result, icmp_item(parser, &item, list_item(value, i), draft, is_type,
					      lists, list));
	}
	for (int v = 0; v < ICMP_VERSIONS; v++)
		range_list_normalize(&lists[v]);
	draft->is_muted = result < 0;
	result_add(&result, json_put(draft->json, path->key, TAKE_PTR(list)));
	return result;
}

int l4_parse_icmp_type(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct l4_draft *draft = object;

	return parse_icmp(parser, path, value, draft, true, draft->icmp_type);
}

int l4_parse_icmp_code(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct l4_draft *draft = object;

	return parse_icmp(parser, path, value, draft, false, draft->icmp_code);
}
