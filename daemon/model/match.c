/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces by their properties. */
#include "model/match.h"

#include <fnmatch.h>
#include <net/if.h>
#include <string.h>

#include "model/mac.h"
#include "model/value.h"

#define ALTNAME_MAX 127 /* bytes, ALTIFNAMSIZ - 1 */
#define ALIAS_MAX   255 /* bytes, IFALIASZ - 1 */
#define WILDCARDS   "*?["

/* ── trying ─────────────────────────────────────────────────────────────────────────────────────── */

/* Most names fail in their first bytes, which costs less than a glob. */
static bool name_fits(const char *pattern, const char *name)
{
	size_t literal = strcspn(pattern, WILDCARDS);

	if (!pattern[literal])
		return !strcmp(pattern, name);
	return !strncmp(pattern, name, literal) && !fnmatch(pattern, name, FNM_NOESCAPE);
}

static bool altname_fits(const char *altname, const struct interface_facts *facts)
{
	for (size_t i = 0; i < facts->altname_count; i++)
		if (!strcmp(facts->altnames[i], altname))
			return true;
	return false;
}

static bool kind_fits(const char *kind, const struct interface_facts *facts)
{
	if (strcmp(kind, "tap") != 0)
		return !strcmp(kind, facts->kind);
	return !strcmp(facts->kind, "tun") && facts->has_ethernet;
}

static bool mac_fits(const struct mac_match *mac, const struct interface_facts *facts)
{
	if (!facts->has_mac)
		return false;
	for (size_t i = 0; i < sizeof(mac->value); i++)
		if ((facts->mac[i] & mac->mask[i]) != mac->value[i])
			return false;
	return true;
}

bool match_fits(const struct interface_match *match, const struct interface_facts *facts)
{
	return (!match->name || name_fits(match->name, facts->name)) &&
	       (!match->altname || altname_fits(match->altname, facts)) &&
	       (!match->alias || !strcmp(match->alias, facts->alias)) &&
	       (!match->kind || kind_fits(match->kind, facts)) &&
	       (!match->master || !strcmp(match->master, facts->master)) &&
	       (!match->has_mac || mac_fits(&match->mac, facts));
}

bool match_is_literal(const struct interface_match *match)
{
	return match->name && !strpbrk(match->name, WILDCARDS);
}

/* ── comparing ──────────────────────────────────────────────────────────────────────────────────── */

static int field_count(const struct interface_match *match)
{
	return !!match->name + !!match->altname + !!match->alias + !!match->kind + !!match->master +
	       match->has_mac;
}

/* The end of a set of characters, in which a ']' that comes first is one of them; NULL: it has none. */
static const char *set_end(const char *set)
{
	const char *first = set[1] == '!' || set[1] == '^' ? set + 2 : set + 1;

	return *first ? strchr(first + 1, ']') : NULL;
}

/* Bytes of a glob that are no wildcards; a set of characters is one. */
static size_t literal_length(const char *glob)
{
	size_t length = 0;

	for (const char *at = glob; *at; at++) {
		if (*at == '[')
			at = set_end(at);
		else if (*at != '*' && *at != '?')
			length++;
	}
	return length;
}

static size_t text_length(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t literal_count(const struct interface_match *match)
{
	size_t count = match->name ? literal_length(match->name) : 0;

	count += text_length(match->altname) + text_length(match->alias) +
		 text_length(match->kind) + text_length(match->master);
	for (size_t i = 0; match->has_mac && i < sizeof(match->mac.mask); i++)
		count += match->mac.mask[i] != 0;
	return count;
}

int match_compare(const struct interface_match *a, const struct interface_match *b)
{
	size_t x = literal_count(a), y = literal_count(b);

	if (field_count(a) != field_count(b))
		return field_count(a) - field_count(b);
	return (x > y) - (x < y);
}

/* ── reading ────────────────────────────────────────────────────────────────────────────────────── */

struct match_draft {
	json_t *json; /* borrowed */
	struct interface_match *match;
};

static int keep_text(struct match_draft *draft, const struct path *path, const json_t *value,
		     char **ret_text)
{
	char *text = strdup(json_string_value(value));

	if (!text)
		return -ENOMEM;
	free(*ret_text);
	*ret_text = text;
	return json_put(draft->json, path->key, json_incref((json_t *)value));
}

/* A text that is not empty and has at most `size` bytes. */
static int check_text(struct parser *parser, const struct path *path, const json_t *value,
		      const char *what, size_t size)
{
	if (!json_is_string(value))
		return parse_bad_type(parser, path, value, what);
	if (!json_string_length(value))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must not be empty: leave the field out to match anything");
	if (json_string_length(value) > size)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must be %s: it has at most %zu bytes", what, size);
	return 0;
}

/* A set that is not closed would be taken as written, which nobody means. */
static bool has_open_set(const char *glob)
{
	const char *at = glob;

	while ((at = strchr(at, '['))) {
		at = set_end(at);
		if (!at)
			return true;
	}
	return false;
}

static int match_name(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct match_draft *draft = object;
	const char *text = json_string_value(value);
	int r = check_text(parser, path, value, "the name of an interface, or a glob (* ? [])",
			   NAME_MAX_LENGTH);

	if (r < 0)
		return r;
	if (strpbrk(text, "/: \t\n") || (!strpbrk(text, WILDCARDS) && !is_interface_name(text)))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "no interface can have this name: it has 1 to 15 bytes without "
				   "'/', ':' and white space");
	if (has_open_set(text))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "has a '[' without its ']': a set of characters is \"[ab]\"");
	return keep_text(draft, path, value, &draft->match->name);
}

static int match_altname(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct match_draft *draft = object;
	int r = check_text(parser, path, value, "an alternative name of an interface", ALTNAME_MAX);

	return r < 0 ? r : keep_text(draft, path, value, &draft->match->altname);
}

static int match_alias(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct match_draft *draft = object;
	int r = check_text(parser, path, value, "the alias of an interface", ALIAS_MAX);

	return r < 0 ? r : keep_text(draft, path, value, &draft->match->alias);
}

static int match_kind(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct match_draft *draft = object;
	int r = check_text(parser, path, value, "a kind of interface, such as veth, tap or bond",
			   IFNAMSIZ - 1);

	return r < 0 ? r : keep_text(draft, path, value, &draft->match->kind);
}

static int match_master(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct match_draft *draft = object;
	int r = check_text(parser, path, value, "the name of a bridge or bond", IFNAMSIZ - 1);

	if (r == 0 && !is_interface_name(json_string_value(value)))
		r = parse_error(parser, path, ERROR_BAD_VALUE,
				"no interface can have this name: it has 1 to 15 bytes without "
				"'/', ':' and white space");
	return r < 0 ? r : keep_text(draft, path, value, &draft->match->master);
}

static int match_mac(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	struct match_draft *draft = object;
	int r = parse_mac(parser, path, value, &draft->match->mac);

	if (r < 0)
		return r;
	draft->match->has_mac = true;
	return json_put(draft->json, path->key, mac_json(&draft->match->mac));
}

static const struct field match_fields[] = {
	{"name", match_name}, {"altname", match_altname}, {"alias", match_alias},
	{"mac", match_mac},   {"kind", match_kind},       {"master", match_master},
};
static const struct schema match_schema = {"a match of interfaces", match_fields,
					   ARRAY_SIZE(match_fields)};

int match_parse(struct parser *parser, const struct path *path, const json_t *value,
		struct interface_match *ret_match, json_t **ret_json)
{
	_cleanup_(match_fini) struct interface_match match = {0};
	json_auto_t *json = json_object();
	struct match_draft draft = {.json = json, .match = &match};
	int r;

	if (!json)
		return -ENOMEM;
	r = parse_object(parser, path, value, &match_schema, &draft);
	if (r == 0 && !field_count(&match))
		r = parse_error(parser, path, ERROR_BAD_VALUE,
				"must say what it is for: \"name\": \"*\" is every interface");
	if (r < 0)
		return r;
	*ret_match = match;
	match = (struct interface_match){0};
	*ret_json = TAKE_PTR(json);
	return 0;
}

void match_fini(struct interface_match *match)
{
	free(match->name);
	free(match->altname);
	free(match->alias);
	free(match->kind);
	free(match->master);
	*match = (struct interface_match){0};
}
