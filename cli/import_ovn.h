/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OVN's northbound database as ovn-nbctl lists it, and what its ACLs become.
 */
#ifndef CLI_IMPORT_OVN_H
#define CLI_IMPORT_OVN_H

#include "import_json.h"

enum ovn_table {
	OVN_TABLE_ACL,
	OVN_TABLE_SWITCH,
	OVN_TABLE_PORT,
	OVN_TABLE_GROUP,
	OVN_TABLE_SET,
	OVN_TABLE_METER,
	OVN_TABLE_BAND,
	OVN_TABLE_GLOBAL,
	OVN_TABLE_INTERFACE,
	OVN_TABLE_COUNT,
};

struct ovn_expr;

/* Columns by name, values plain: a set is a list, a map an object, an uuid its text. */
struct ovn_row {
	json_t *columns;
	json_t *ports, *acls; /* those columns as keys, to look up; NULL: none */
	uint32_t file;
	char *path;            /* of the row in its file */
	size_t match;          /* index of the column `match` in the row */
	struct ovn_expr *expr; /* of `match`, once it is read; NULL: not yet, or a mistake */
};

struct ovn_rows {
	struct ovn_row *items;
	size_t count, room;
};

struct ovn {
	struct import *import;
	struct ovn_rows tables[OVN_TABLE_COUNT];
	bool has_table[OVN_TABLE_COUNT];
	json_t *index[OVN_TABLE_COUNT]; /* "uuid" and "=name" of a row → its place in the table */
	json_t *sets;                   /* name of a set → its group in the policy, with '@' */
	json_t *port_names; /* logical port → its name in the policy; those of this host */
	json_t *lists;      /* text of a list of rules → the ACL that says it */
	const struct ovn_row *port; /* the one that is being made */
};

/* Reads the values into tables. */
void ovn_tables_read(struct ovn *ovn, const struct import_values *values);
void ovn_tables_fini(struct ovn *ovn);

/* Columns; "" , 0, false or an empty list where there is none. */
const char *ovn_text(const struct ovn_row *row, const char *column);
json_int_t ovn_integer(const struct ovn_row *row, const char *column);
bool ovn_flag(const struct ovn_row *row, const char *column);
/* A set of texts; a single text counts as one. The caller's. */
json_t *ovn_list(const struct ovn_row *row, const char *column);
/* A member of a map; "" where there is none. */
const char *ovn_option(const struct ovn_row *row, const char *column, const char *key);
/* Is the port in the column `ports` of a switch or group? */
bool ovn_has_port(const struct ovn_row *row, const char *uuid);
/* NULL: none. */
struct ovn_row *ovn_find(const struct ovn *ovn, enum ovn_table table, const char *name);
struct ovn_row *ovn_find_uuid(const struct ovn *ovn, enum ovn_table table, const char *uuid);

/* The ACLs of a port in one direction ("from" or "to"), as names in a list; NULL: none is there. */
json_t *ovn_acls(struct ovn *ovn, const struct ovn_row *port, const char *direction);
/* The addresses of a logical port: [{mac, ips}]. `is_secured`: those that it may use. */
json_t *ovn_addresses(struct ovn *ovn, const struct ovn_row *port, bool is_secured);
/* Sets as groups, for ovn_match.h; data is the struct ovn. */
const json_t *ovn_set_members(void *data, const char *set);
char *ovn_set_group(void *data, const char *set);
char *ovn_set_except(void *data, const json_t *prefixes, const json_t *except, int family);
bool ovn_is_port(void *data, const char *value);

#endif
