/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the text, from token to token; depth is bounded by jansson's own. */
#include "json_places.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

struct walker {
	struct positions *positions;
	uint32_t file;
	const char *at, *end;
	uint32_t line, column; /* of `at`, in characters */
};

static void walk(struct walker *walker, uint64_t path);

static void step(struct walker *walker)
{
	unsigned char c = (unsigned char)*walker->at++;

	if (c == '\n') {
		walker->line++;
		walker->column = 1;
	} else if ((c & 0xc0) != 0x80) {
		walker->column++;
	}
}

/* Over white space and what stands between values, to the next token. */
static void next_token(struct walker *walker)
{
	while (walker->at < walker->end && strchr(" \t\r\n,:", *walker->at))
		step(walker);
}

static void skip_string(struct walker *walker)
{
	step(walker);
	while (walker->at < walker->end && *walker->at != '"') {
		if (*walker->at == '\\')
			step(walker);
		step(walker);
	}
	if (walker->at < walker->end)
		step(walker);
}

static void skip_word(struct walker *walker)
{
	while (walker->at < walker->end && !strchr(" \t\r\n,:]}", *walker->at))
		step(walker);
}

static void place(struct walker *walker, uint64_t path)
{
	positions_add(walker->positions, (struct position){
						 .path = path,
						 .file = walker->file,
						 .line = walker->line,
						 .column = walker->column,
					 });
}

static void walk_object(struct walker *walker, uint64_t path)
{
	step(walker);
	for (next_token(walker); walker->at < walker->end && *walker->at == '"';
	     next_token(walker)) {
		const char *start = walker->at;
		json_auto_t *key = NULL;
		uint64_t member;
		struct walker before = *walker;

		skip_string(walker);
		key = memory_check(
			json_loadb(start, (size_t)(walker->at - start), JSON_DECODE_ANY, NULL));
		member = positions_member(path, json_string_value(key));
		place(&before, member);
		next_token(walker);
		if (!strchr("{[", *walker->at))
			place(walker, positions_value(member));
		walk(walker, member);
	}
	if (walker->at < walker->end)
		step(walker);
}

static void walk_array(struct walker *walker, uint64_t path)
{
	size_t count = 0;

	step(walker);
	for (next_token(walker); walker->at < walker->end && *walker->at != ']';
	     next_token(walker)) {
		uint64_t element = positions_element(path, count++);

		place(walker, element);
		walk(walker, element);
	}
	if (walker->at < walker->end)
		step(walker);
}

static void walk(struct walker *walker, uint64_t path)
{
	if (walker->at == walker->end)
		return;
	if (*walker->at == '{')
		walk_object(walker, path);
	else if (*walker->at == '[')
		walk_array(walker, path);
	else if (*walker->at == '"')
		skip_string(walker);
	else
		skip_word(walker);
}

void json_places(struct positions *positions, uint32_t file, const char *text, size_t size)
{
	json_places_from(positions, file, text, size, 0);
}

void json_places_from(struct positions *positions, uint32_t file, const char *text, size_t size,
		      size_t offset)
{
	struct walker walker = {
		.positions = positions,
		.file = file,
		.at = text,
		.end = text + size,
		.line = 1,
		.column = 1,
	};

	while (walker.at < text + offset)
		step(&walker);
	next_token(&walker);
	walk(&walker, POSITIONS_ROOT);
}
