/* SPDX-License-Identifier: Apache-2.0 */
/* Macip lists and their entries as tables. */
#include "kinds.h"
#include "memory.h"
#include "table.h"
#include "value.h"

static const char *yes(const json_t *macip, const char *field)
{
	return json_is_true(json_object_get(macip, field)) ? "yes" : "no";
}

void show_macips(const json_t *macips, const json_t *status)
{
	static const char *const headers[] = {
		"NAME", ">ENTRIES", "ALLOW RA", "ALLOW DHCP SERVER", "DESCRIPTION", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	(void)status;
	names = value_keys(macips, &count);
	for (size_t i = 0; i < count; i++) {
		const json_t *macip = json_object_get(macips, names[i]);

		table_add(table, names[i]);
		table_format(table, "%zu", json_array_size(json_object_get(macip, "entries")));
		table_add(table, yes(macip, "allow_ra"));
		table_add(table, yes(macip, "allow_dhcp_server"));
		table_add(table, value_member(macip, "description"));
	}
	table_print(table, stdout);
}

void show_macip(const char *name, const json_t *macip, const json_t *status)
{
	static const char *const headers[] = {"MAC", "PREFIXES", NULL};
	_cleanup_(table_freep) struct table *table = table_new(headers);
	const json_t *entry;
	size_t i;

	(void)name;
	(void)status;
	json_array_foreach(json_object_get(macip, "entries"), i, entry)
	{
		const json_t *mac = json_object_get(entry, "mac");
		const json_t *prefixes = json_object_get(entry, "prefixes");
		bool is_none = prefixes && json_array_size(prefixes) == 0;

		table_take(table, mac ? value_text(mac) : memory_copy("any"));
		if (prefixes && !is_none)
			table_take(table, value_text(prefixes));
		else
			table_add(table, is_none ? "none" : "any");
	}
	table_print(table, stdout);
}
