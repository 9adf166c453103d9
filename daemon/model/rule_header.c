/* SPDX-License-Identifier: Apache-2.0 */
/* What a rule matches of single bytes of IP and TCP headers: TCP flags, DSCP, fragments. */
#include <stdio.h>
#include <string.h>

#include "model/nearest.h"
#include "model/rule_draft.h"

/* ── TCP flags ──────────────────────────────────────────────────────────────────────────────────── */

#define PROTOCOL_TCP 6

static int tcp_flag_find(const char *text, size_t size)
{
	for (int i = 0; i < TCP_FLAG_COUNT; i++)
		if (strlen(tcp_flag_names[i]) == size && !strncmp(tcp_flag_names[i], text, size))
			return i;
	return -1;
}

/* "syn,ack", or the one word that stands for `word_flags`. False: a name is unknown, *text at it. */
static bool read_flags(const char **text, const char *word, uint8_t word_flags, uint8_t *ret_flags)
{
	size_t size = strcspn(*text, "/");
	const char *end = *text + size;

	*ret_flags = 0;
	if (size == strlen(word) && !strncmp(*text, word, size)) {
		*ret_flags = word_flags;
		*text = end;
		return true;
	}
	for (;;) {
		int bit;

		size = strcspn(*text, ",/");
		bit = tcp_flag_find(*text, size);
		if (bit < 0)
			return false;
		*ret_flags |= (uint8_t)(1u << bit);
		*text += size;
		if (*text == end)
			return true;
		(*text)++;
	}
}

static void flags_format(char *text, uint8_t flags, const char *none)
{
	char *at = text;

	strcpy(text, none);
	for (size_t i = 0; i < TCP_FLAG_COUNT; i++)
		if (flags >> i & 1)
			at += sprintf(at, "%s%s", at == text ? "" : ",", tcp_flag_names[i]);
}
#define FLAGS_TEXT_SIZE 40

static int bad_flags(struct parser *parser, const struct path *path, const char *text,
		     const char *at)
{
	char flag[16];

	snprintf(flag, sizeof(flag), "%.*s", (int)strcspn(at, ",/"), at);
	return parse_error(
		parser, path, ERROR_BAD_VALUE,
		"must be flags and the flags that are looked at, as in "
		"\"syn/syn,ack,rst,fin\", each one of fin, syn, rst, psh, ack, urg, ece, "
		"cwr; \"none/…\" has none of them set; not \"%s\", at \"%s\"",
		excerpt(text).text, excerpt(flag).text);
}

static int check_flags(struct parser *parser, const struct path *path, uint8_t flags, uint8_t mask)
{
	char fixed[FLAGS_TEXT_SIZE], all[FLAGS_TEXT_SIZE];

	if (!(flags & ~mask))
		return 0;
	flags_format(fixed, flags & mask, "none");
	flags_format(all, mask, "");
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "wants flags set that are not looked at: write \"%s/%s\", or add them "
			   "behind the '/'",
			   fixed, all);
}

int rule_parse_tcp_flags(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	char flags_text[FLAGS_TEXT_SIZE], mask_text[FLAGS_TEXT_SIZE];
	const char *text = json_string_value(value), *at = text;
	struct rule_draft *draft = object;
	uint8_t flags, mask = 0;
	int r;

	if (!text)
		return parse_bad_type(parser, path, value, "TCP flags such as \"syn/syn,ack\"");
	if (!read_flags(&at, "none", 0, &flags))
		return bad_flags(parser, path, text, at);
	flags_format(flags_text, flags, "none");
	if (!*at)
		return parse_error(
			parser, path, ERROR_BAD_VALUE,
			"lacks the flags that are looked at: write \"%s/%s\" for packets "
			"with these set whatever the others are, "
			"\"%s/syn,ack,rst,fin\" for these alone",
			flags_text, flags ? flags_text : "syn,ack,rst,fin", flags_text);
	at++;
	if (!read_flags(&at, "all", 0xff, &mask) || *at)
		return bad_flags(parser, path, text, at);
	r = check_flags(parser, path, flags, mask);
	if (r < 0)
		return r;
	flags_format(mask_text, mask, "");
	draft->rule->tcp_flags = flags;
	draft->rule->tcp_flags_mask = mask;
	return json_put(draft->l4.json, "tcp_flags", json_sprintf("%s/%s", flags_text, mask_text));
}

static bool is_tcp_only(const struct l4_match *match)
{
	struct l4_match tcp = {0};

	protocols_add(tcp.protocols, PROTOCOL_TCP);
	return match->has_protocols &&
	       !memcmp(match->protocols, tcp.protocols, sizeof(tcp.protocols));
}

int rule_check_tcp_flags(struct parser *parser, const struct path *path,
			 const struct rule_draft *draft)
{
	struct path field = path_key(path, "tcp_flags");
	const struct rule *rule = draft->rule;
	bool is_tcp = rule->l4_count > 0;

	if (!rule->tcp_flags_mask)
		return 0;
	for (size_t i = 0; i < rule->l4_count; i++)
		is_tcp = is_tcp && is_tcp_only(&rule->l4[i]);
	if (is_tcp)
		return 0;
	return parse_error(parser, &field, ERROR_BAD_VALUE,
			   "needs `protocol: tcp` and no other protocol: only TCP has flags");
}

/* ── DSCP ───────────────────────────────────────────────────────────────────────────────────────── */

static const struct number_kind dscp_kind = {"a DSCP", 0, 63};

/* IANA registry "dscp-registry"; the first name of a number is the one in answers. */
static const struct {
	const char *name;
	uint8_t dscp;
} dscp_names[] = {
	{"cs0", 0},   {"cs1", 8},   {"cs2", 16},  {"cs3", 24},  {"cs4", 32},  {"cs5", 40},
	{"cs6", 48},  {"cs7", 56},  {"af11", 10}, {"af12", 12}, {"af13", 14}, {"af21", 18},
	{"af22", 20}, {"af23", 22}, {"af31", 26}, {"af32", 28}, {"af33", 30}, {"af41", 34},
	{"af42", 36}, {"af43", 38}, {"ef", 46},   {"va", 44},   {"le", 1},    {"be", 0},
};

static json_t *dscp_json(const struct range *range)
{
	for (size_t i = 0; i < ARRAY_SIZE(dscp_names) && range->first == range->last; i++)
		if (dscp_names[i].dscp == range->first)
			return json_string(dscp_names[i].name);
	return range_json(range);
}

static int unknown_dscp(struct parser *parser, const struct path *path, const char *name)
{
	struct nearest nearest = nearest_to(name);

	for (size_t i = 0; i < ARRAY_SIZE(dscp_names); i++)
		nearest_offer(&nearest, dscp_names[i].name);
	return parse_error(
		parser, path, ERROR_BAD_VALUE,
		"must be a DSCP from 0 to 63, a range \"a-b\" or a name such as af11, cs1 "
		"or ef, not \"%s\"%s%s%s",
		excerpt(name).text, nearest.best ? ": did you mean " : "",
		nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

static int dscp_item(struct parser *parser, const struct path *path, const json_t *item,
		     struct range *ret_range)
{
	const char *name = is_number_text(item) ? NULL : json_string_value(item);

	if (!name)
		return parse_range(parser, path, item, &dscp_kind, ret_range);
	for (size_t i = 0; i < ARRAY_SIZE(dscp_names); i++) {
		if (!strcmp(dscp_names[i].name, name)) {
			*ret_range = (struct range){dscp_names[i].dscp, dscp_names[i].dscp};
			return 0;
		}
	}
	return unknown_dscp(parser, path, name);
}

int rule_parse_dscp(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	json_auto_t *list = json_array();
	struct rule_draft *draft = object;
	int result = parse_not_empty(parser, path, value);

	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);
		struct range range = {0};
		int r = dscp_item(parser, &item, list_item(value, i), &range);

		for (unsigned int d = range.first; !r && d <= range.last; d++)
			draft->rule->dscp |= UINT64_C(1) << d;
		if (!r)
			r = json_push(list, dscp_json(&range));
		result_add(&result, r);
	}
	result_add(&result, json_put(draft->l4.json, "dscp", TAKE_PTR(list)));
	return result;
}

/* ── fragments ──────────────────────────────────────────────────────────────────────────────────── */

int rule_parse_fragment(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct rule_draft *draft = object;
	bool is_fragment;
	int r = parse_bool_field(parser, path, value, draft->l4.json, &is_fragment);

	if (!r)
		draft->rule->fragment = is_fragment;
	return r;
}
