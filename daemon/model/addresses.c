/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of prefixes and groups, as rules and groups write them. */
#include <string.h>

#include "model/l4.h"
#include "model/objects.h"

int ranges_charge(struct parser *parser, const struct path *path, size_t count)
{
	if (count > MODEL_MAX_RANGES - parser->ranges)
		return parse_error(parser, path, ERROR_LIMIT,
				   "with these, groups and rules hold more than %u address ranges",
				   MODEL_MAX_RANGES);
	parser->ranges += count;
	return 0;
}

/* The length of a netmask; -1: it is none. */
static int netmask_length(const char *text)
{
	struct prefix mask;
	uint32_t bits;

	if (strchr(text, '/') || prefix_parse(&mask, text) < 0 || mask.family != 4)
		return -1;
	bits = ~(uint32_t)mask.address;
	return bits & (bits + 1) ? -1 : 32 - __builtin_popcount(bits);
}

/* An address with a wrong length behind it. 0: the mistake is another one. */
static int bad_length(struct parser *parser, const struct path *path, const char *text)
{
	char fixed[PREFIX_STRING_SIZE], address[PREFIX_STRING_SIZE];
	const char *slash = strchr(text, '/');
	struct prefix prefix;
	int length;

	if (!slash || slash - text >= (ptrdiff_t)sizeof(address))
		return 0;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	if (prefix_parse(&prefix, address) < 0)
		return 0;
	length = netmask_length(slash + 1);
	if (prefix.family == 4 && length >= 0) {
		prefix.length = (uint8_t)length;
		prefix.address &= ~(addr_t)0 << (32 - length);
		prefix_format(fixed, &prefix);
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "has a netmask, \"%s\": write %s, with its length",
				   excerpt(slash + 1).text, fixed);
	}
	if (slash[1] < '1' || slash[1] > '9' || slash[1 + strspn(slash + 1, "0123456789")])
		return 0;
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "the length of an IPv%u prefix is 0 to %u, not %s", prefix.family,
			   prefix.length, excerpt(slash + 1).text);
}

static int bad_prefix(struct parser *parser, const struct path *path, const char *text,
		      bool may_refer)
{
	int r = bad_length(parser, path, text);

	if (r < 0)
		return r;
	if (!strcmp(text, "any"))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "any is not an address: leave the field out, or write "
				   "0.0.0.0/0 for all of IPv4, ::/0 for all of IPv6");
	if (!may_refer && *text == '@')
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "only prefixes stand here: name groups in `groups`");
	if (may_refer && config_find_group(parser->config, text))
		return parse_error(parser, path, ERROR_BAD_VALUE, "%s is a group: write \"@%s\"",
				   text, text);
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "must be an address or a prefix such as 192.0.2.0/24 or "
			   "2001:db8::/32%s, not \"%s\"",
			   may_refer ? ", or @group" : "", excerpt(text).text);
}

static int prefix_item(struct parser *parser, const struct path *path, const char *text,
		       bool may_refer, struct prefix *ret_prefix)
{
	char host[PREFIX_STRING_SIZE], network[PREFIX_STRING_SIZE];
	struct prefix prefix;
	int r = prefix_parse(&prefix, text);

	if (r == -EDOM) {
		snprintf(host, sizeof(host), "%.*s", (int)strcspn(text, "/"), text);
		prefix_format(network, &prefix);
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "has host bits set: write %s for the network or %s for the host",
				   network, host);
	}
	if (r < 0)
		return bad_prefix(parser, path, text, may_refer);
	*ret_prefix = prefix;
	return 0;
}

int prefix_item_parse(struct parser *parser, const struct path *path, const json_t *value,
		      struct prefix *ret_prefix)
{
	const char *text = json_string_value(value);

	if (!text)
		return parse_bad_type(parser, path, value, "an address or a prefix");
	if (*text == '@')
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "only addresses and prefixes stand here, no groups");
	return prefix_item(parser, path, text, false, ret_prefix);
}

static int group_item(struct parser *parser, const struct path *path, const char *name,
		      bool is_only, struct addrset *set)
{
	const struct group *group = config_find_group(parser->config, name);
	int r;

	if (!group)
		return parse_not_found(parser, path, "group", name, parser->config->groups,
				       parser->config->group_count,
				       sizeof(*parser->config->groups));
	if (is_only) {
		addrset_lend(set, &group->members);
		return 0;
	}
	r = ranges_charge(parser, path, addrset_count(&group->members));
	return r < 0 ? r : addrset_add_set(set, &group->members);
}

static int address_item(struct parser *parser, const struct path *path, const json_t *item,
			struct addrset *set, unsigned int *families, json_t *list)
{
	const char *text = json_string_value(item);
	char canonical[PREFIX_STRING_SIZE];
	struct prefix prefix;
	int r;

	r = prefix_item(parser, path, text, families != NULL, &prefix);
	if (r < 0)
		return r;
	if (families)
		*families |= prefix.family == 4 ? FAMILIES_IPV4 : FAMILIES_IPV6;
	r = addrset_add(set, &prefix);
	if (r < 0)
		return r;
	prefix_format(canonical, &prefix);
	return json_push(list, json_string(canonical));
}

int addresses_parse(struct parser *parser, const struct path *path, const json_t *value,
		    bool may_refer, struct addrset *set, unsigned int *ret_families,
		    json_t **ret_json)
{
	json_auto_t *list = json_array();
	unsigned int families = 0;
	size_t count = list_count(value);
	int result = ranges_charge(parser, path, count);

	if (result < 0)
		return result;
	for (size_t i = 0; i < count; i++) {
		struct path item_path = list_path(path, value, i);
		const json_t *item = list_item(value, i);
		const char *text = json_string_value(item);
		int r;

		if (!text) {
			r = parse_bad_type(parser, &item_path, item, "an address or a prefix");
		} else if (may_refer && *text == '@') {
			families = FAMILIES_ALL;
			r = group_item(parser, &item_path, text + 1, count == 1, set);
			if (!r)
				r = json_push(list, json_incref((json_t *)item));
		} else {
			r = address_item(parser, &item_path, item, set,
					 may_refer ? &families : NULL, list);
		}
		result_add(&result, r);
	}
	/* A lent set is canonical already and not ours to sort. */
	if (set->v4.capacity || set->v6.capacity)
		addrset_normalize(set);
	if (!list)
		return -ENOMEM;
	if (ret_families)
		*ret_families = families;
	*ret_json = TAKE_PTR(list);
	return result;
}
