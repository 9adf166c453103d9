/* SPDX-License-Identifier: Apache-2.0 */
/* OVSDB's tables in JSON: headings and rows; which table it is shows in its columns. */
#include <string.h>

#include "import_ovn.h"
#include "memory.h"
#include "ovn_expr.h"
#include "value.h"

static const struct {
	const char *columns[3]; /* that no other of these tables has together */
	enum ovn_table table;
} shapes[] = {
	{{"priority", "match", "direction"}, OVN_TABLE_ACL},
	{{"acls", "ports", "other_config"}, OVN_TABLE_SWITCH},
	{{"addresses", "port_security", "name"}, OVN_TABLE_PORT},
	{{"acls", "ports", "name"}, OVN_TABLE_GROUP},
	{{"unit", "bands", "name"}, OVN_TABLE_METER},
	{{"rate", "burst_size", "action"}, OVN_TABLE_BAND},
	{{"nb_cfg", "options", "connections"}, OVN_TABLE_GLOBAL},
	{{"ofport", "external_ids", "name"}, OVN_TABLE_INTERFACE},
};

/* ── values ─────────────────────────────────────────────────────────────────────────────────────── */

/* ["uuid","…"], ["set",[…]], ["map",[[k,v],…]] and scalars, without their tags; NULL: none of these. */
static json_t *plain(const json_t *value)
{
	const char *tag = json_string_value(json_array_get(value, 0));
	const json_t *content = json_array_get(value, 1), *item;
	json_t *result;
	size_t i;

	if (!json_is_array(value))
		return json_is_object(value) ? NULL : json_incref((json_t *)value);
	if (!tag || json_array_size(value) != 2)
		return NULL;
	if (strcmp(tag, "uuid") == 0 || strcmp(tag, "named-uuid") == 0)
		return json_is_string(content) ? json_incref((json_t *)content) : NULL;
	if (strcmp(tag, "set") != 0 && strcmp(tag, "map") != 0)
		return NULL;
	result = memory_check(strcmp(tag, "set") == 0 ? json_array() : json_object());
	json_array_foreach(content, i, item)
	{
		json_t *member = plain(json_is_object(result) ? json_array_get(item, 1) : item);

		if (json_is_array(result) && member && !json_is_array(member))
			import_push(result, member);
		else if (json_is_object(result) && member &&
			 json_is_string(json_array_get(item, 0)))
			import_put(result, json_string_value(json_array_get(item, 0)), member);
		else
			json_decref(member);
	}
	return result;
}

const char *ovn_text(const struct ovn_row *row, const char *column)
{
	const json_t *value = json_object_get(row->columns, column);

	if (json_array_size(value) == 1)
		value = json_array_get(value, 0);
	return json_is_string(value) ? json_string_value(value) : "";
}

json_int_t ovn_integer(const struct ovn_row *row, const char *column)
{
	return value_integer(row->columns, column);
}

bool ovn_flag(const struct ovn_row *row, const char *column)
{
	const json_t *value = json_object_get(row->columns, column);

	return json_is_true(json_array_size(value) == 1 ? json_array_get(value, 0) : value);
}

json_t *ovn_list(const struct ovn_row *row, const char *column)
{
	const json_t *value = json_object_get(row->columns, column), *item;
	json_t *list = memory_check(json_array());
	size_t i;

	if (json_is_string(value))
		import_push_text(list, json_string_value(value));
	json_array_foreach(value, i, item)
	{
		if (json_is_string(item))
			import_push_text(list, json_string_value(item));
	}
	return list;
}

const char *ovn_option(const struct ovn_row *row, const char *column, const char *key)
{
	return value_member(json_object_get(row->columns, column), key);
}

bool ovn_has_port(const struct ovn_row *row, const char *uuid)
{
	return json_object_get(row->ports, uuid) != NULL;
}

static struct ovn_row *look_up(const struct ovn *ovn, enum ovn_table table, const char *key)
{
	const json_t *place = json_object_get(ovn->index[table], key);

	return place ? &ovn->tables[table].items[json_integer_value(place)] : NULL;
}

struct ovn_row *ovn_find(const struct ovn *ovn, enum ovn_table table, const char *name)
{
	_cleanup_free_ char *key = memory_format("=%s", name);

	return look_up(ovn, table, key);
}

struct ovn_row *ovn_find_uuid(const struct ovn *ovn, enum ovn_table table, const char *uuid)
{
	return look_up(ovn, table, uuid);
}

/* ── tables ─────────────────────────────────────────────────────────────────────────────────────── */

static bool has_column(const json_t *headings, const char *column)
{
	const json_t *item;
	size_t i;

	json_array_foreach(headings, i, item)
	{
		if (json_is_string(item) && strcmp(json_string_value(item), column) == 0)
			return true;
	}
	return false;
}

static int find_table(const json_t *headings)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		bool fits = true;

		for (size_t j = 0; j < 3; j++)
			fits = fits && has_column(headings, shapes[i].columns[j]);
		if (fits)
			return (int)shapes[i].table;
	}
	if (has_column(headings, "addresses") && has_column(headings, "name"))
		return OVN_TABLE_SET;
	return -1;
}

/* A column's texts as the keys of an object. */
static json_t *keys_of(const struct ovn_row *row, const char *column)
{
	json_auto_t *list = ovn_list(row, column);
	json_t *keys = memory_check(json_object());
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) import_put(keys, json_string_value(item), json_true());
	return keys;
}

static void add_row(struct ovn *ovn, int table, struct ovn_row row)
{
	struct ovn_rows *rows = &ovn->tables[table];
	const char *uuid = ovn_text(&row, "_uuid"), *name = ovn_text(&row, "name");
	_cleanup_free_ char *key = memory_format("=%s", name);

	if (table == OVN_TABLE_SWITCH || table == OVN_TABLE_GROUP) {
		row.ports = keys_of(&row, "ports");
		row.acls = keys_of(&row, "acls");
	}
	if (uuid[0])
		import_put(ovn->index[table], uuid, json_integer((json_int_t)rows->count));
	if (name[0])
		import_put(ovn->index[table], key, json_integer((json_int_t)rows->count));
	rows->items = memory_grow(rows->items, rows->count, &rows->room, sizeof(*rows->items));
	rows->items[rows->count++] = row;
}

static void read_row(struct ovn *ovn, int table, const struct import_value *value,
		     const json_t *headings, size_t index)
{
	const json_t *cells = json_array_get(json_object_get(value->json, "data"), index);
	struct ovn_row row = {
		.columns = memory_check(json_object()),
		.file = value->file,
		.path = memory_format("data[%zu]", index),
	};

	if (json_array_size(cells) != json_array_size(headings))
		import_json_error(ovn->import, value->file, row.path,
				  "has another number of columns than the headings");
	for (size_t i = 0; i < json_array_size(headings) && i < json_array_size(cells); i++) {
		const char *name = json_string_value(json_array_get(headings, i));
		json_t *cell = plain(json_array_get(cells, i));

		if (!name || !cell) {
			import_json_error(ovn->import, value->file, row.path,
					  "has a value that OVSDB does not write");
			json_decref(cell);
			continue;
		}
		if (strcmp(name, "match") == 0)
			row.match = i;
		import_put(row.columns, name, cell);
	}
	add_row(ovn, table, row);
}

static void read_table(struct ovn *ovn, const struct import_value *value)
{
	const json_t *headings = json_object_get(value->json, "headings");
	const json_t *data = json_object_get(value->json, "data");
	int table = find_table(headings);

	if (!json_is_array(headings) || !json_is_array(data)) {
		import_json_error(ovn->import, value->file, "",
				  "is no table of ovn-nbctl --format=json list: it has no data "
				  "and headings");
		return;
	}
	if (table < 0) /* a dump holds tables that have nothing to do with ACLs */
		return;
	ovn->has_table[table] = true;
	for (size_t i = 0; i < json_array_size(data); i++)
		read_row(ovn, table, value, headings, i);
}

void ovn_tables_read(struct ovn *ovn, const struct import_values *values)
{
	for (int table = 0; table < OVN_TABLE_COUNT; table++)
		ovn->index[table] = memory_check(json_object());
	for (size_t i = 0; i < values->count; i++)
		read_table(ovn, &values->items[i]);
}

void ovn_tables_fini(struct ovn *ovn)
{
	for (int table = 0; table < OVN_TABLE_COUNT; table++) {
		struct ovn_rows *rows = &ovn->tables[table];

		for (size_t i = 0; i < rows->count; i++) {
			json_decref(rows->items[i].columns);
			json_decref(rows->items[i].ports);
			json_decref(rows->items[i].acls);
			if (rows->items[i].expr)
				ovn_expr_free(rows->items[i].expr);
			free(rows->items[i].path);
		}
		free(rows->items);
		json_decref(ovn->index[table]);
	}
}
