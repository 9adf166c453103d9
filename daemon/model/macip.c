/* SPDX-License-Identifier: Apache-2.0 */
/* Who may send: pairs of MAC addresses and prefixes, in lists that ports share and in ports' own. */
#include <string.h>

#include "model/mac.h"
#include "model/port_draft.h"
#include "model/value.h"

void senders_free(struct macip_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(entries[i].prefixes);
	free(entries);
}

void macip_fini(struct macip *macip)
{
	senders_free(macip->entries, macip->entry_count);
	free(macip->name);
	json_decref(macip->json);
	*macip = (struct macip){0};
}

/* ── one entry ──────────────────────────────────────────────────────────────────────────────────── */

struct sender_draft {
	json_t *json; /* the normalised object; borrowed */
	struct macip_entry *entry;
	bool has_mac, has_prefixes;
};

static int sender_mac(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct sender_draft *draft = object;
	struct mac_match *mac = &draft->entry->mac;
	int r = parse_mac(parser, path, value, mac);

	draft->has_mac = true;
	if (r < 0)
		return r;
	if (mac->value[0] & 1)
		return parse_error(
			parser, path, ERROR_BAD_VALUE,
			"is the address of a group of receivers, which no frame can come "
			"from");
	return json_put(draft->json, "mac", mac_json(mac));
}

static int sender_prefixes(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	json_auto_t *list = json_array();
	struct sender_draft *draft = object;
	struct macip_entry *entry = draft->entry;
	int result = ranges_charge(parser, path, list_count(value));

	draft->has_prefixes = true;
	if (result < 0)
		return result;
	entry->prefixes = calloc(list_count(value) + 1, sizeof(*entry->prefixes));
	if (!entry->prefixes)
		return -ENOMEM;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);
		struct prefix *prefix = &entry->prefixes[entry->prefix_count];
		char text[PREFIX_STRING_SIZE];
		int r = prefix_item_parse(parser, &item, list_item(value, i), prefix);

		if (!r) {
			entry->prefix_count++;
			prefix_format(text, prefix);
			r = json_push(list, json_string(text));
		}
		result_add(&result, r);
	}
	result_add(&result, json_put(draft->json, path->key, TAKE_PTR(list)));
	return result;
}

/* Every address of both families, which no list means. */
static int any_address(struct macip_entry *entry)
{
	static const struct prefix all[] = {{.family = 4}, {.family = 6}};

	entry->prefixes = malloc(sizeof(all));
	if (!entry->prefixes)
		return -ENOMEM;
	memcpy(entry->prefixes, all, sizeof(all));
	entry->prefix_count = ARRAY_SIZE(all);
	return 0;
}

static int sender_parse(struct parser *parser, const struct path *path, const json_t *value,
			const char *prefixes, struct macip_entry *entry, json_t *entries)
{
	const struct field fields[] = {{"mac", sender_mac}, {prefixes, sender_prefixes}};
	const struct schema schema = {"an entry of allowed senders", fields, ARRAY_SIZE(fields)};
	struct sender_draft draft = {.json = json_object(), .entry = entry};
	int result = json_push(entries, draft.json);

	if (result < 0)
		return result;
	result = parse_object(parser, path, value, &schema, &draft);
	if (!result && !draft.has_prefixes)
		result = draft.has_mac ? any_address(entry)
				       : parse_error(parser, path, ERROR_BAD_VALUE,
						     "must have `mac`, `%s` or both: without them "
						     "every sender would be allowed",
						     prefixes);
	return result;
}

int senders_parse(struct parser *parser, const struct path *path, const json_t *value,
		  const char *prefixes, struct macip_entry **ret_entries, size_t *ret_count,
		  json_t **ret_json)
{
	json_auto_t *list = json_array();
	int result = 0;

	if (list_count(value) > SECG_MAX_ENTRIES)
		return parse_error(parser, path, ERROR_LIMIT,
				   "has %zu entries, but a port takes at most %d",
				   list_count(value), SECG_MAX_ENTRIES);
	*ret_entries = calloc(list_count(value) + 1, sizeof(**ret_entries));
	if (!*ret_entries || !list)
		return -ENOMEM;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);

		result_add(&result, sender_parse(parser, &item, list_item(value, i), prefixes,
						 &(*ret_entries)[i], list));
		*ret_count = i + 1;
	}
	*ret_json = TAKE_PTR(list);
	return result;
}

static void count_pairs(size_t counts[2], const struct macip_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < entries[i].prefix_count; j++)
			counts[entries[i].prefixes[j].family == 6]++;
}

int senders_check(struct parser *parser, const struct path *path, const struct macip_entry *first,
		  size_t first_count, const struct macip_entry *second, size_t second_count)
{
	size_t counts[2] = {0};

	count_pairs(counts, first, first_count);
	count_pairs(counts, second, second_count);
	for (int i = 0; i < 2; i++)
		if (counts[i] > SECG_MAX_ENTRIES)
			return parse_error(parser, path, ERROR_LIMIT,
					   "makes %zu pairs of a MAC and an IPv%d prefix, but a "
					   "port takes at most %d",
					   counts[i], i ? 6 : 4, SECG_MAX_ENTRIES);
	if (first_count + second_count > SECG_MAX_ENTRIES)
		return parse_error(parser, path, ERROR_LIMIT,
				   "makes %zu entries, but a port takes at most %d",
				   first_count + second_count, SECG_MAX_ENTRIES);
	return 0;
}

/* ── lists that ports share ─────────────────────────────────────────────────────────────────────── */

struct macip_draft {
	json_t *json; /* the normalised object; borrowed */
	struct macip *macip;
};

static int macip_entries(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct macip_draft *draft = object;
	struct macip *macip = draft->macip;
	json_t *list = NULL;
	int result = senders_parse(parser, path, value, "prefixes", &macip->entries,
				   &macip->entry_count, &list);

	if (list)
		result_add(&result, json_put(draft->json, "entries", list));
	if (!result)
		result = senders_check(parser, path, macip->entries, macip->entry_count, NULL, 0);
	return result;
}

static int macip_allow_ra(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	struct macip_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json, &draft->macip->allows_ra);
}

static int macip_allow_dhcp_server(struct parser *parser, const struct path *path,
				   const json_t *value, void *object)
{
	struct macip_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json,
				&draft->macip->allows_dhcp_server);
}

static const struct field macip_fields[] = {
	{"description", parse_description},
	{"labels", parse_labels},
	{"entries", macip_entries},
	{"allow_ra", macip_allow_ra},
	{"allow_dhcp_server", macip_allow_dhcp_server},
};
static const struct schema macip_schema = {"a macip list", macip_fields, ARRAY_SIZE(macip_fields)};

static int macip_compare(const void *a, const void *b)
{
	const struct macip *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int macips_parse(struct parser *parser, const struct path *path, const json_t *value)
{
	struct config *config = parser->config;
	int result = 0;
	const char *name;
	json_t *item;

	config->macips = calloc(json_object_size(value) + 1, sizeof(*config->macips));
	if (!config->macips)
		return -ENOMEM;
	json_object_foreach((json_t *)value, name, item)
	{
		struct path macip_path = path_key(path, name);
		struct macip *macip = &config->macips[config->macip_count];
		struct macip_draft draft = {.json = json_object(), .macip = macip};

		macip->json = draft.json;
		macip->name = strdup(name);
		if (!macip->json || !macip->name) {
			macip_fini(macip);
			return -ENOMEM;
		}
		config->macip_count++;
		result_add(&result, parse_object_name(parser, &macip_path, name));
		result_add(&result, parse_object(parser, &macip_path, item, &macip_schema, &draft));
	}
	qsort(config->macips, config->macip_count, sizeof(*config->macips), macip_compare);
	return result;
}
