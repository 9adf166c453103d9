/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the tape, following aliases, and builds the JSON value. */
#include "yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "scalar.h"
#include "tape.h"

struct builder {
	const struct tape *tape;
	struct positions *positions;
	uint32_t file;
	size_t depth;
	size_t alias_depth;
	size_t alias_nodes;
	bool is_bad;     /* some value is wrong; go on, so that all mistakes are told */
	bool is_stopped; /* a limit is passed; unwind */
	struct problems *problems;
};

static json_t *build(struct builder *builder, size_t index, uint64_t path);

/* What stands below an anchor is told where it is written, not again at each alias. */
static void complain(struct builder *builder, const struct tape_item *item, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void complain(struct builder *builder, const struct tape_item *item, const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list args;

	builder->is_bad = true;
	if (builder->alias_depth > 0 && !builder->is_stopped)
		return;
	va_start(args, format);
	message = memory_vformat(format, args);
	va_end(args);
	problems_add(builder->problems, positions_file_name(builder->positions, builder->file),
		     item->line, item->column, "%s", message);
}

static void place(struct builder *builder, uint64_t path, const struct tape_item *item)
{
	positions_add(builder->positions, (struct position){
						  .path = path,
						  .file = builder->file,
						  .line = item->line,
						  .column = item->column,
					  });
}

/* The kind that a tag asks for; -1: not of the core schema. */
static int tag_kind(const char *tag)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const char *const names[] = {
		[SCALAR_STRING] = "str", [SCALAR_NULL] = "null",   [SCALAR_BOOL] = "bool",
		[SCALAR_INT] = "int",    [SCALAR_FLOAT] = "float",
	};

	if (strncmp(tag, prefix, sizeof(prefix) - 1) != 0)
		return -1;
	for (int i = SCALAR_STRING; i <= SCALAR_FLOAT; i++) {
		if (strcmp(tag + sizeof(prefix) - 1, names[i]) == 0)
			return i;
	}
	return -1;
}

static json_t *typed(struct builder *builder, const struct tape_item *item, enum scalar_kind kind)
{
	json_t *value;

	if (kind == SCALAR_STRING)
		value = json_stringn(item->text, item->size);
	else
		value = scalar_value(item->text, kind);
	if (!value) {
		complain(builder, item, "%s is not a number that fits", item->text);
		return json_null();
	}
	return value;
}

static json_t *build_scalar(struct builder *builder, const struct tape_item *item)
{
	enum scalar_kind kind = item->is_plain ? scalar_kind(item->text) : SCALAR_STRING;
	int wanted;

	if (memchr(item->text, '\0', item->size)) {
		complain(builder, item, "a text must not hold a NUL character");
		return json_null();
	}
	if (!item->tag) {
		if (item->is_plain && item->size == 0)
			complain(builder, item,
				 "there is no value here: write {} or [] for nothing, "
				 "null to delete what the daemon has");
		return typed(builder, item, kind);
	}
	wanted = tag_kind(item->tag);
	if (wanted < 0)
		complain(builder, item, "tag %s is not one of YAML's core schema", item->tag);
	else if (wanted == SCALAR_STRING || wanted == (int)scalar_kind(item->text))
		return typed(builder, item, (enum scalar_kind)wanted);
	else if (wanted == SCALAR_FLOAT && scalar_kind(item->text) == SCALAR_INT)
		return typed(builder, item, SCALAR_FLOAT);
	else
		complain(builder, item, "\"%s\" is not a value of its tag %s", item->text,
			 item->tag);
	return json_null();
}

static void check_container_tag(struct builder *builder, const struct tape_item *item)
{
	const char *wanted =
		item->kind == TAPE_MAPPING ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq";

	if (item->tag && strcmp(item->tag, "!") != 0 && strcmp(item->tag, wanted) != 0)
		complain(builder, item, "tag %s does not belong here", item->tag);
}

/* The text of a key, aliases followed; NULL, after a complaint, for what cannot be one. */
static const char *key_text(struct builder *builder, const struct tape_item *key)
{
	const struct tape_item *item = key;

	if (item->kind == TAPE_ALIAS)
		item = &builder->tape->items[item->link];
	if (item->kind != TAPE_SCALAR || (item->tag && tag_kind(item->tag) != SCALAR_STRING))
		complain(builder, key, "a key must be a plain name");
	else if (memchr(item->text, '\0', item->size))
		complain(builder, key, "a key must not hold a NUL character");
	else if (item->is_plain && strcmp(item->text, "<<") == 0)
		complain(builder, key, "merge keys (<<) are not YAML 1.2: write the fields out");
	else
		return item->text;
	return NULL;
}

static json_t *build_mapping(struct builder *builder, size_t index, uint64_t path)
{
	const struct tape_item *items = builder->tape->items;
	json_t *object = memory_check(json_object());
	size_t key, value;

	check_container_tag(builder, &items[index]);
	for (key = index + 1; key < items[index].link && !builder->is_stopped;
	     key = tape_next(builder->tape, value)) {
		const char *name = key_text(builder, &items[key]);
		uint64_t member;

		value = tape_next(builder->tape, key);
		if (!name)
			continue;
		if (json_object_get(object, name)) {
			complain(builder, &items[key], "duplicate key \"%s\"", name);
			continue;
		}
		member = positions_member(path, name);
		place(builder, member, &items[key]);
		if (items[value].kind == TAPE_SCALAR)
			place(builder, positions_value(member), &items[value]);
		json_object_set_new(object, name, build(builder, value, member));
	}
	return object;
}

static json_t *build_sequence(struct builder *builder, size_t index, uint64_t path)
{
	const struct tape_item *items = builder->tape->items;
	json_t *array = memory_check(json_array());
	size_t i, count = 0;

	check_container_tag(builder, &items[index]);
	for (i = index + 1; i < items[index].link && !builder->is_stopped;
	     i = tape_next(builder->tape, i)) {
		uint64_t element = positions_element(path, count++);

		place(builder, element, &items[i]);
		json_array_append_new(array, build(builder, i, element));
	}
	return array;
}

/* An alias may stand where the depth or the number of values passes a limit: told at the alias. */
static json_t *build_alias(struct builder *builder, const struct tape_item *item, uint64_t path)
{
	json_t *value;

	builder->alias_depth++;
	value = build(builder, item->link, path);
	builder->alias_depth--;
	return value;
}

static json_t *stop(struct builder *builder, const struct tape_item *item, const char *message)
{
	builder->is_stopped = true;
	complain(builder, item, "%s", message);
	return json_null();
}

/* A new reference, json_null() where the value is wrong. */
static json_t *build(struct builder *builder, size_t index, uint64_t path)
{
	const struct tape_item *item = &builder->tape->items[index];
	json_t *value;

	if (builder->alias_depth > 0 && ++builder->alias_nodes > YAML_MAX_ALIAS_NODES)
		return stop(builder, item, "aliases make the document too large");
	switch (item->kind) {
	case TAPE_ALIAS:
		return build_alias(builder, item, path);
	case TAPE_SCALAR:
		return build_scalar(builder, item);
	default:
		break;
	}
	if (builder->depth == YAML_MAX_DEPTH)
		return stop(builder, item, "aliases nest this too deep");
	builder->depth++;
	value = item->kind == TAPE_MAPPING ? build_mapping(builder, index, path)
					   : build_sequence(builder, index, path);
	builder->depth--;
	return value;
}

int yaml_read(json_t **ret_value, const char *bytes, size_t size, struct positions *positions,
	      uint32_t file, struct problems *reterr)
{
	_cleanup_(tape_freep) struct tape *tape = NULL;
	const char *name = positions_file_name(positions, file);
	struct builder builder = {.positions = positions, .file = file, .problems = reterr};
	json_t *value;
	int r;

	r = tape_read(&tape, bytes, size, name, YAML_MAX_DEPTH, reterr);
	if (r < 0)
		return r;
	if (tape->count == 0 || (tape->items[0].is_plain && tape->items[0].size == 0)) {
		problems_add(reterr, name, 0, 0, "there is nothing in it");
		return -EINVAL;
	}
	builder.tape = tape;
	value = build(&builder, 0, POSITIONS_ROOT);
	if (builder.is_bad) {
		json_decref(value);
		return -EINVAL;
	}
	*ret_value = value;
	return 0;
}
