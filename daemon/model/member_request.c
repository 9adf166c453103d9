/* SPDX-License-Identifier: Apache-2.0 */
/* Members that come and go. */
#include "model/member_request.h"

#include <stdlib.h>

#include "model/objects.h"
#include "model/value.h"

static const struct number_kind ttl_kind = {"a number of seconds", 1, 31536000};

/* ── one member ─────────────────────────────────────────────────────────────────────────────────── */

static int member_prefix(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct member_item *item = object;

	return prefix_item_parse(parser, path, value, &item->prefix);
}

static int member_ttl(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct member_item *item = object;

	return parse_number(parser, path, value, &ttl_kind, &item->ttl_s);
}

static const struct field member_fields[] = {
	{"prefix", member_prefix},
	{"ttl_s", member_ttl},
};
static const struct schema member_schema = {"a member", member_fields, ARRAY_SIZE(member_fields)};

static int member_parse(struct parser *parser, const struct path *path, const json_t *value,
			bool may_pass, struct member_item *ret_item)
{
	struct path prefix = path_key(path, "prefix");

	if (!may_pass || !json_is_object(value))
		return member_prefix(parser, path, value, ret_item);
	if (!json_object_get(value, "prefix"))
		return parse_error(parser, &prefix, ERROR_BAD_VALUE,
				   "is missing: a member is an address or a prefix");
	return parse_object(parser, path, value, &member_schema, ret_item);
}

/* ── the lists ──────────────────────────────────────────────────────────────────────────────────── */

static int members_parse(struct parser *parser, const struct path *path, const json_t *value,
			 bool may_pass, struct member_item **ret_items, size_t *ret_count)
{
	size_t count = list_count(value);
	int result = ranges_charge(parser, path, count);

	if (result < 0)
		return result;
	*ret_items = calloc(count + 1, sizeof(**ret_items));
	if (!*ret_items)
		return -ENOMEM;
	*ret_count = count;
	for (size_t i = 0; i < count; i++) {
		struct path item = list_path(path, value, i);

		result_add(&result, member_parse(parser, &item, list_item(value, i), may_pass,
						 &(*ret_items)[i]));
	}
	return result;
}

static int request_add(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct member_request *request = object;

	return members_parse(parser, path, value, true, &request->add, &request->add_count);
}

static int request_remove(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	struct member_request *request = object;

	return members_parse(parser, path, value, false, &request->remove, &request->remove_count);
}

static const struct field request_fields[] = {
	{"add", request_add},
	{"remove", request_remove},
};
static const struct schema request_schema = {"a change of members", request_fields,
					     ARRAY_SIZE(request_fields)};

int member_request_parse(struct member_request *ret_request, const json_t *document,
			 struct errors *reterr)
{
	struct parser parser = {.errors = reterr};

	*ret_request = (struct member_request){0};
	return parse_object(&parser, NULL, document, &request_schema, ret_request);
}

void member_request_fini(struct member_request *request)
{
	free(request->add);
	free(request->remove);
	*request = (struct member_request){0};
}
