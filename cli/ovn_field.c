/* SPDX-License-Identifier: Apache-2.0 */
/* The fields and predicates of OVN, with what each of them implies (its prerequisites). */
#include <stdio.h>
#include <string.h>

#include "import_address.h"
#include "import_policy.h"
#include "memory.h"
#include "ovn_match.h"

enum needs {
	NEEDS_NOTHING,
	NEEDS_IP,
	NEEDS_IP4,
	NEEDS_IP6,
	NEEDS_TCP,
	NEEDS_UDP,
	NEEDS_SCTP,
	NEEDS_ICMP4,
	NEEDS_ICMP6,
};

static const struct {
	const char *name;
	enum ovn_field field;
	enum needs needs;
} numbers[] = {
	{"eth.type", OVN_ETH_TYPE, NEEDS_NOTHING},  {"ip.proto", OVN_PROTO, NEEDS_IP},
	{"ip4.proto", OVN_PROTO, NEEDS_IP4},        {"tcp.src", OVN_SRC_PORT, NEEDS_TCP},
	{"tcp.dst", OVN_DST_PORT, NEEDS_TCP},       {"udp.src", OVN_SRC_PORT, NEEDS_UDP},
	{"udp.dst", OVN_DST_PORT, NEEDS_UDP},       {"sctp.src", OVN_SRC_PORT, NEEDS_SCTP},
	{"sctp.dst", OVN_DST_PORT, NEEDS_SCTP},     {"icmp4.type", OVN_ICMP_TYPE, NEEDS_ICMP4},
	{"icmp4.code", OVN_ICMP_CODE, NEEDS_ICMP4}, {"icmp6.type", OVN_ICMP_TYPE, NEEDS_ICMP6},
	{"icmp6.code", OVN_ICMP_CODE, NEEDS_ICMP6}, {"ip.dscp", OVN_DSCP, NEEDS_IP},
	{"vlan.vid", OVN_VLAN, NEEDS_NOTHING},
};

static const struct {
	const char *name;
	enum ovn_side side;
	enum needs needs; /* NEEDS_NOTHING: a MAC */
} sides[] = {
	{"ip4.src", OVN_SRC, NEEDS_IP4},     {"ip4.dst", OVN_DST, NEEDS_IP4},
	{"ip6.src", OVN_SRC, NEEDS_IP6},     {"ip6.dst", OVN_DST, NEEDS_IP6},
	{"eth.src", OVN_SRC, NEEDS_NOTHING}, {"eth.dst", OVN_DST, NEEDS_NOTHING},
};

/* ICMPv6 types of ND come with code 0. */
static const struct {
	const char *name;
	enum needs needs;
	int eth_type, proto;        /* -1: any */
	struct range type;          /* first -1: any */
	const char *infrastructure; /* rules that let it pass before the lists do; NULL: none */
} predicates[] = {
	{"ip", NEEDS_IP, -1, -1, {-1, -1}, NULL},
	{"ip4", NEEDS_IP4, -1, -1, {-1, -1}, NULL},
	{"ip6", NEEDS_IP6, -1, -1, {-1, -1}, NULL},
	{"tcp", NEEDS_TCP, -1, -1, {-1, -1}, NULL},
	{"udp", NEEDS_UDP, -1, -1, {-1, -1}, NULL},
	{"sctp", NEEDS_SCTP, -1, -1, {-1, -1}, NULL},
	{"icmp4", NEEDS_ICMP4, -1, -1, {-1, -1}, NULL},
	{"icmp6", NEEDS_ICMP6, -1, -1, {-1, -1}, NULL},
	{"igmp", NEEDS_IP4, -1, 2, {-1, -1}, "igmp"},
	{"arp", NEEDS_NOTHING, 0x0806, -1, {-1, -1}, "arp"},
	{"rarp", NEEDS_NOTHING, 0x8035, -1, {-1, -1}, NULL},
	{"nd", NEEDS_ICMP6, -1, -1, {135, 136}, "nd"},
	{"nd_ns", NEEDS_ICMP6, -1, -1, {135, 135}, "nd"},
	{"nd_na", NEEDS_ICMP6, -1, -1, {136, 136}, "nd"},
	{"nd_rs", NEEDS_ICMP6, -1, -1, {133, 133}, "nd"},
	{"nd_ra", NEEDS_ICMP6, -1, -1, {134, 134}, "ra"},
	{"mldv1", NEEDS_ICMP6, -1, -1, {130, 132}, "mld"},
	{"mldv2", NEEDS_ICMP6, -1, -1, {143, 143}, "mld"},
};

static const struct {
	const char *name;
	enum ovn_side side;
	enum needs needs;
	const char *value;
} destinations[] = {
	{"eth.bcast", OVN_DST, NEEDS_NOTHING, "ff:ff:ff:ff:ff:ff"},
	{"eth.mcast", OVN_DST, NEEDS_NOTHING, "01:00:00:00:00:00/01:00:00:00:00:00"},
	{"eth.mcastv6", OVN_DST, NEEDS_NOTHING, "33:33:00:00:00:00/ff:ff:00:00:00:00"},
	{"ip4.mcast", OVN_DST, NEEDS_IP4, "224.0.0.0/4"},
	{"ip4.src_mcast", OVN_SRC, NEEDS_IP4, "224.0.0.0/4"},
	{"ip6.mcast", OVN_DST, NEEDS_IP6, "ff00::/8"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void set_number(struct ovn_match *match, enum ovn_field field, int first, int last)
{
	match->fields[field].count = 0;
	ranges_add(&match->fields[field], first, last);
}

static void require(struct ovn_match *match, enum needs needs)
{
	static const int protocols[] = {[NEEDS_TCP] = 6,
					[NEEDS_UDP] = 17,
					[NEEDS_SCTP] = 132,
					[NEEDS_ICMP4] = 1,
					[NEEDS_ICMP6] = 58};

	if (needs == NEEDS_NOTHING)
		return;
	set_number(match, OVN_ETH_TYPE, 0x86dd, 0x86dd);
	if (needs == NEEDS_IP4 || needs == NEEDS_ICMP4)
		set_number(match, OVN_ETH_TYPE, 0x0800, 0x0800);
	else if (needs != NEEDS_IP6 && needs != NEEDS_ICMP6)
		ranges_add(&match->fields[OVN_ETH_TYPE], 0x0800, 0x0800);
	if (needs >= NEEDS_TCP)
		set_number(match, OVN_PROTO, protocols[needs], protocols[needs]);
}

/* ── numbers ────────────────────────────────────────────────────────────────────────────────────── */

/* 443, 0x1bb, 0x1b0/0xfff0: a mask must keep leading bits. */
static bool parse_number(const char *text, int max, struct range *ret_range)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0), mask;

	if (end == text || value > (unsigned long)max)
		return false;
	*ret_range = (struct range){(int)value, (int)value};
	if (*end == '\0')
		return true;
	if (*end != '/')
		return false;
	mask = ~strtoul(end + 1, &end, 0) & (unsigned long)max;
	if (*end != '\0' || (mask & (mask + 1)) != 0 || (max & (max + 1)) != 0)
		return false;
	*ret_range = (struct range){(int)(value & ~mask), (int)(value | mask)};
	return true;
}

static bool put_numbers(struct ovn_match *match, enum ovn_field field, const struct ovn_expr *expr,
			char **why)
{
	struct ranges set = {.count = 0};
	int max = ovn_field_max[field];
	bool has_room = true;

	for (size_t i = 0; i < expr->value_count; i++) {
		struct range range;

		if (!parse_number(expr->values[i], max, &range))
			return ovn_match_refuse(why, "%s cannot be compared with %s", expr->field,
						expr->values[i]);
		if (expr->op == OVN_LT || expr->op == OVN_LE)
			range = (struct range){0,
					       expr->op == OVN_LT ? range.first - 1 : range.last};
		else if (expr->op == OVN_GT || expr->op == OVN_GE)
			range = (struct range){expr->op == OVN_GT ? range.last + 1 : range.first,
					       max};
		has_room = ranges_add(&set, range.first, range.last) && has_room;
	}
	if (expr->op == OVN_NE)
		has_room = ranges_invert(&set, max) && has_room;
	match->fields[field] = set;
	return has_room || ovn_match_refuse(why, "has too many ranges");
}

static bool put_flags(struct ovn_match *match, const struct ovn_expr *expr, char **why)
{
	char *end;

	require(match, NEEDS_TCP);
	if (expr->op != OVN_EQ || expr->value_count != 1)
		return ovn_match_refuse(why, "tcp.flags can be compared by == with one value only");
	match->flags = (int)strtoul(expr->values[0], &end, 0);
	match->flags_mask = *end == '/' ? (int)strtoul(end + 1, &end, 0) : 0xff;
	if (*end != '\0' || match->flags_mask > 0xff || match->flags > 0xff)
		return ovn_match_refuse(why, "tcp.flags cannot be compared with %s",
					expr->values[0]);
	match->flags &= match->flags_mask;
	return true;
}

/* ── addresses ──────────────────────────────────────────────────────────────────────────────────── */

static bool push_address(json_t *list, const char *text, enum needs needs)
{
	char plain[IMPORT_PREFIX_SIZE];

	if (needs == NEEDS_NOTHING) {
		_cleanup_free_ char *mac = memory_copy(text);
		char *mask = strchr(mac, '/');

		if (mask)
			*mask++ = '\0';
		if (!import_mac_format(mac, mask, plain))
			return false;
	} else {
		struct import_prefix prefix;

		if (!import_prefix_parse(text, &prefix) ||
		    prefix.family != (needs == NEEDS_IP4 ? 4 : 6))
			return false;
		import_prefix_format(&prefix, plain);
	}
	import_push_once(list, plain);
	return true;
}

/* Members of a set that are of the field's kind; OVN leaves the others out, too. */
static bool push_members(json_t *list, const char *set, enum needs needs, struct ovn_scope *scope,
			 char **why)
{
	const json_t *members = scope->members(scope->data, set), *member;
	size_t i;

	if (!members)
		return ovn_match_refuse(why, "no file shows the address set $%s", set);
	json_array_foreach(members, i, member) push_address(list, json_string_value(member), needs);
	return true;
}

static bool push_value(json_t *list, const char *value, enum needs needs, bool is_negated,
		       struct ovn_scope *scope, char **why)
{
	if (value[0] != '$')
		return push_address(list, value, needs) ||
		       ovn_match_refuse(why, "%s is no address that can be compared", value);
	if (needs == NEEDS_NOTHING || is_negated) {
		scope->copies_set = true;
		return push_members(list, value + 1, needs, scope, why);
	}
	if (!scope->members(scope->data, value + 1))
		return ovn_match_refuse(why, "no file shows the address set %s", value);
	_cleanup_free_ char *group = scope->group(scope->data, value + 1);

	import_push_once(list, group);
	return true;
}

static bool put_addresses(struct ovn_match *match, enum ovn_side side, enum needs needs,
			  const struct ovn_expr *expr, struct ovn_scope *scope, char **why)
{
	json_t *list = memory_check(json_array());

	require(match, needs);
	if (needs == NEEDS_NOTHING)
		match->macs[side] = list;
	else if (expr->op == OVN_NE)
		match->except[side] = list;
	else
		match->addresses[side] = list;
	if (expr->op != OVN_EQ && (expr->op != OVN_NE || needs == NEEDS_NOTHING))
		return ovn_match_refuse(why, "%s can be compared by ==%s only", expr->field,
					needs == NEEDS_NOTHING ? "" : " and !=");
	for (size_t i = 0; i < expr->value_count; i++) {
		if (!push_value(list, expr->values[i], needs, expr->op == OVN_NE, scope, why))
			return false;
	}
	return true;
}

/* ── one comparison ─────────────────────────────────────────────────────────────────────────────── */

static bool compare_port(struct ovn_matches *matches, const struct ovn_expr *expr,
			 struct ovn_scope *scope, char **why)
{
	bool is_port = false;

	if (strcmp(expr->field, scope->port_field) != 0)
		return ovn_match_refuse(why, "asks for the %s, which a rule of the %s cannot see",
					expr->field, scope->port_field);
	if (expr->op != OVN_EQ && expr->op != OVN_NE)
		return ovn_match_refuse(why, "ports have no order");
	for (size_t i = 0; i < expr->value_count; i++)
		is_port = is_port || scope->is_port(scope->data, expr->values[i]);
	if (is_port == (expr->op == OVN_EQ))
		ovn_matches_add(matches);
	return true;
}

bool ovn_field_compare(struct ovn_matches *matches, const struct ovn_expr *expr,
		       struct ovn_scope *scope, char **why)
{
	if (strcmp(expr->field, "inport") == 0 || strcmp(expr->field, "outport") == 0)
		return compare_port(matches, expr, scope, why);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		if (strcmp(numbers[i].name, expr->field) == 0) {
			struct ovn_match *match = ovn_matches_add(matches);

			require(match, numbers[i].needs);
			return put_numbers(match, numbers[i].field, expr, why);
		}
	}
	for (size_t i = 0; i < COUNT(sides); i++) {
		if (strcmp(sides[i].name, expr->field) == 0)
			return put_addresses(ovn_matches_add(matches), sides[i].side,
					     sides[i].needs, expr, scope, why);
	}
	if (strcmp(expr->field, "tcp.flags") == 0)
		return put_flags(ovn_matches_add(matches), expr, why);
	/* ip4 == 1 */
	if ((expr->op == OVN_EQ || expr->op == OVN_NE) && expr->value_count == 1 &&
	    strlen(expr->values[0]) == 1 && strchr("01", expr->values[0][0])) {
		struct ovn_expr bare = *expr;

		bare.kind = OVN_BARE;
		bare.is_negated = (expr->op == OVN_EQ) == (expr->values[0][0] == '0');
		return ovn_field_bare(matches, &bare, scope, why);
	}
	if (strchr(expr->field, '['))
		return ovn_match_refuse(why, "asks for some bits of a field: %s", expr->field);
	return ovn_match_refuse(why, "no rule can ask for %s", expr->field);
}

/* ── one word ───────────────────────────────────────────────────────────────────────────────────── */

/* Everything but the match: one alternative for each field that it says something of. */
static bool add_others(struct ovn_matches *matches, const struct ovn_match *match, const char *word,
		       char **why)
{
	for (int i = 0; i < OVN_FIELD_COUNT; i++) {
		struct ovn_match *other;

		if (ranges_is(&match->fields[i], 0, ovn_field_max[i]))
			continue;
		other = ovn_matches_add(matches);
		/* a field behind the first one is there only where the ones before it fit */
		for (int j = 0; j < i; j++)
			other->fields[j] = match->fields[j];
		other->fields[i] = match->fields[i];
		if (!ranges_invert(&other->fields[i], ovn_field_max[i]))
			return ovn_match_refuse(why, "has too many ranges");
	}
	if (match->addresses[OVN_SRC] || match->addresses[OVN_DST] || match->macs[OVN_DST])
		return ovn_match_refuse(why, "!%s has no counterpart", word);
	return true;
}

static bool make_word(struct ovn_match *match, const char *word, struct ovn_scope *scope,
		      char **why)
{
	for (size_t i = 0; i < COUNT(predicates); i++) {
		if (strcmp(predicates[i].name, word) != 0)
			continue;
		require(match, predicates[i].needs);
		if (predicates[i].eth_type >= 0)
			set_number(match, OVN_ETH_TYPE, predicates[i].eth_type,
				   predicates[i].eth_type);
		if (predicates[i].proto >= 0)
			set_number(match, OVN_PROTO, predicates[i].proto, predicates[i].proto);
		if (predicates[i].type.first >= 0)
			set_number(match, OVN_ICMP_TYPE, predicates[i].type.first,
				   predicates[i].type.last);
		if (predicates[i].infrastructure)
			import_push_once(scope->infrastructure, predicates[i].infrastructure);
		return true;
	}
	for (size_t i = 0; i < COUNT(destinations); i++) {
		json_t *list;

		if (strcmp(destinations[i].name, word) != 0)
			continue;
		require(match, destinations[i].needs);
		list = memory_check(json_array());
		import_push_text(list, destinations[i].value);
		if (destinations[i].needs == NEEDS_NOTHING)
			match->macs[destinations[i].side] = list;
		else
			match->addresses[destinations[i].side] = list;
		return true;
	}
	if (strcmp(word, "vlan.present") == 0) {
		set_number(match, OVN_VLAN, 1, ovn_field_max[OVN_VLAN]);
		return true;
	}
	if (strncmp(word, "ct.", 3) == 0)
		return ovn_match_refuse(why, "asks the connection tracker (%s)", word);
	return ovn_match_refuse(why, "no rule can ask for %s", word);
}

static bool bare_fragment(struct ovn_matches *matches, const struct ovn_expr *expr)
{
	struct ovn_match *match = ovn_matches_add(matches);

	require(match, NEEDS_IP);
	match->fragment = !expr->is_negated;
	return true;
}

bool ovn_field_bare(struct ovn_matches *matches, const struct ovn_expr *expr,
		    struct ovn_scope *scope, char **why)
{
	struct ovn_matches word = {0};
	bool is_fine;

	if (strcmp(expr->field, "ip.is_frag") == 0)
		return bare_fragment(matches, expr);
	/* either family's: not one alternative */
	if (strcmp(expr->field, "icmp") == 0) {
		struct ovn_expr icmp4 = *expr, icmp6 = *expr;
		struct ovn_expr *parts[] = {&icmp4, &icmp6};
		struct ovn_expr both = {.kind = expr->is_negated ? OVN_AND : OVN_OR,
					.parts = parts,
					.part_count = 2};
		char name4[] = "icmp4", name6[] = "icmp6";

		icmp4.field = name4;
		icmp6.field = name6;
		return ovn_match_make(matches, &both, scope, why);
	}
	if (!expr->is_negated)
		return make_word(ovn_matches_add(matches), expr->field, scope, why);
	is_fine = make_word(ovn_matches_add(&word), expr->field, scope, why) &&
		  add_others(matches, &word.items[0], expr->field, why);
	ovn_matches_fini(&word);
	return is_fine;
}
