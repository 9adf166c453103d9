/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a field by what a person writes for its path. */
#include "explain_path.h"

#include <string.h>

#include "guess.h"
#include "memory.h"

struct explain_alias {
	const char *word;
	const char *path;
};

#include "explain_table.h"

#define FIELD_COUNT (sizeof(explain_fields) / sizeof(explain_fields[0]))
#define ALIAS_COUNT (sizeof(explain_aliases) / sizeof(explain_aliases[0]))
#define NAME        "NAME"
#define PATH_SIZE   GUESS_MAX

static size_t segment_size(const char *path)
{
	return strcspn(path, ".");
}

static const char *after_segment(const char *path)
{
	size_t size = segment_size(path);

	return path + size + (path[size] == '.');
}

static bool is_same_segment(const char *a, const char *b)
{
	size_t size = segment_size(a);

	return size == segment_size(b) && strncmp(a, b, size) == 0;
}

static bool is_name(const char *pattern)
{
	return is_same_segment(pattern, NAME);
}

/* Without places in lists, the first word in full where it is short for something. */
static char *expand(const char *path)
{
	_cleanup_free_ char *plain = memory_copy(path);
	char *out = plain;

	for (const char *in = path; *in; in++) {
		if (*in == '[')
			in += strcspn(in, "]");
		if (!*in)
			break;
		if (*in != ']')
			*out++ = *in;
	}
	*out = '\0';
	for (size_t i = 0; i < ALIAS_COUNT; i++) {
		if (is_same_segment(plain, explain_aliases[i].word))
			return memory_format("%s%s", explain_aliases[i].path,
					     plain + segment_size(plain));
	}
	return TAKE_PTR(plain);
}

/*
 * How many words of the pattern the path has; -1: it does not fit. NAME in the pattern may be left out
 * or be a name with dots in it; at the pattern's end it must be written as NAME, because a mistyped field
 * would pass for a name there.
 */
static int match(const char *pattern, const char *path)
{
	int best, r;

	if (!*pattern)
		return *path ? -1 : 0;
	if (!is_name(pattern)) {
		if (!*path || !is_same_segment(pattern, path))
			return -1;
		r = match(after_segment(pattern), after_segment(path));
		return r < 0 ? -1 : r + 1;
	}
	best = match(after_segment(pattern), path);
	if (!*after_segment(pattern)) {
		r = *path && is_name(path) ? match("", after_segment(path)) : -1;
		return r > best ? r : best;
	}
	while (*path) {
		path = after_segment(path);
		r = match(after_segment(pattern), path);
		if (r > best)
			best = r;
	}
	return best;
}

const struct explain_field *explain_find(const char *path)
{
	_cleanup_free_ char *full = expand(path);
	const struct explain_field *found = NULL;
	int best = -1;

	for (size_t i = 0; i < FIELD_COUNT && *full; i++) {
		int r = match(explain_fields[i].path, full);

		if (r > best || (r >= 0 && strcmp(explain_fields[i].path, full) == 0)) {
			best = r;
			found = &explain_fields[i];
		}
	}
	return found;
}

/* ── neighbours ─────────────────────────────────────────────────────────────────────────────────── */

static const char *last_segment(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

/* The path without its NAMEs, as people write it. */
static void shorten(char text[PATH_SIZE], const char *path)
{
	size_t size = 0;

	for (; *path; path = after_segment(path)) {
		size_t segment = segment_size(path);

		if (is_name(path) || size + segment + 2 > PATH_SIZE)
			continue;
		if (size > 0)
			text[size++] = '.';
		memcpy(text + size, path, segment);
		size += segment;
	}
	text[size] = '\0';
}

/* Whole paths may differ in a third of their letters, or in two; last words in one. */
static bool is_near(const char *path, const char *candidate, size_t *ret_distance)
{
	char text[PATH_SIZE];
	size_t whole, last, limit;

	shorten(text, candidate);
	whole = guess_distance(path, text);
	last = guess_distance(last_segment(path), last_segment(text));
	*ret_distance = last <= 1 && last + 1 < whole ? last + 1 : whole;
	limit = strlen(path) / 3;
	return *ret_distance <= (limit < 2 ? 2 : limit) && *ret_distance < strlen(path);
}

struct neighbours {
	const struct explain_field **fields; /* nearest first */
	size_t distances[EXPLAIN_NEAR];
	size_t count;
};

static void neighbours_add(struct neighbours *near, const struct explain_field *field, size_t d)
{
	size_t at = near->count;

	if (at == EXPLAIN_NEAR && near->distances[at - 1] <= d)
		return;
	if (at == EXPLAIN_NEAR)
		at--; /* the farthest gives way */
	else
		near->count++;
	for (; at > 0 && near->distances[at - 1] > d; at--) {
		near->distances[at] = near->distances[at - 1];
		near->fields[at] = near->fields[at - 1];
	}
	near->distances[at] = d;
	near->fields[at] = field;
}

/* `is_rooted`: only fields whose paths begin alike. */
static void collect(struct neighbours *near, const char *path, bool is_rooted)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		const char *candidate = explain_fields[i].path;
		size_t d;

		if (is_rooted && !is_same_segment(path, candidate))
			continue;
		if (!is_name(last_segment(candidate)) && is_near(path, candidate, &d))
			neighbours_add(near, &explain_fields[i], d);
	}
	while (near->count > 0 && near->distances[near->count - 1] > near->distances[0] + 1)
		near->count--;
}

size_t explain_near(const char *path, const struct explain_field *ret_near[EXPLAIN_NEAR])
{
	struct neighbours near = {.fields = ret_near};
	_cleanup_free_ char *full = expand(path);
	char text[PATH_SIZE];

	if (strlen(full) >= PATH_SIZE)
		return 0;
	shorten(text, full);
	collect(&near, text, true);
	if (near.count == 0)
		collect(&near, text, false);
	return near.count;
}

/* ── what is below a field ──────────────────────────────────────────────────────────────────────── */

/* One word below the parent, or below the NAME that is there. */
static bool is_child(const char *parent, const char *path)
{
	size_t size = strlen(parent);

	if (strncmp(parent, path, size) != 0 || (size > 0 && path[size] != '.'))
		return false;
	path += size + (size > 0);
	if (size > 0 && is_name(path))
		path = after_segment(path);
	return *path && !*after_segment(path) && !is_name(path);
}

const struct explain_field *explain_next(const struct explain_field *parent,
					 const struct explain_field *last)
{
	size_t i = last ? (size_t)(last - explain_fields) + 1 : 0;

	for (; i < FIELD_COUNT; i++)
		if (is_child(parent ? parent->path : "", explain_fields[i].path))
			return &explain_fields[i];
	return NULL;
}

const struct explain_field *explain_all(const struct explain_field *last)
{
	size_t i = last ? (size_t)(last - explain_fields) + 1 : 0;

	return i < FIELD_COUNT ? &explain_fields[i] : NULL;
}
