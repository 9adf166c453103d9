/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed between two normalised documents. Objects are compared key by key, rules by their id,
 * lists of values as sets while the order of what stays is the same.
 */
#include <stdio.h>
#include <string.h>

#include "model/document.h"
#include "model/parse.h"

static int diff_value(json_t *changes, const char *path, const json_t *before, const json_t *after);

static int put_shared(json_t *object, const char *name, const json_t *value)
{
	return value ? json_put(object, name, json_incref((json_t *)value)) : 0;
}

/* One item: add without before, remove without after, else replace. */
static int add_change(json_t *changes, const char *path, const json_t *before, const json_t *after)
{
	const char *op = !before ? "add" : !after ? "remove" : "replace";
	json_t *change = json_pack("{s:s,s:s}", "op", op, "path", path);
	int result = json_push(changes, change);

	if (!result)
		result = put_shared(change, "before", before);
	if (!result)
		result = put_shared(change, "after", after);
	return result;
}

static int diff_key(json_t *changes, const char *path, const char *name, const json_t *before,
		    const json_t *after)
{
	_cleanup_free_ char *child = NULL;

	if (before && after && json_equal(before, after))
		return 0;
	if (asprintf(&child, "%s%s%s", path, *path ? "." : "", name) < 0) {
		child = NULL;
		return -ENOMEM;
	}
	return diff_value(changes, child, before, after);
}

static int diff_index(json_t *changes, const char *path, size_t index, const json_t *before,
		      const json_t *after)
{
	_cleanup_free_ char *child = NULL;

	if (before && after && json_equal(before, after))
		return 0;
	if (asprintf(&child, "%s[%zu]", path, index) < 0) {
		child = NULL;
		return -ENOMEM;
	}
	return diff_value(changes, child, before, after);
}

static int diff_objects(json_t *changes, const char *path, const json_t *before,
			const json_t *after)
{
	const char *name;
	json_t *item;
	int r;

	json_object_foreach((json_t *)before, name, item)
	{
		r = diff_key(changes, path, name, item, json_object_get(after, name));
		if (r < 0)
			return r;
	}
	json_object_foreach((json_t *)after, name, item)
	{
		if (json_object_get(before, name))
			continue;
		r = diff_key(changes, path, name, NULL, item);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ── lists ──────────────────────────────────────────────────────────────────────────────────────── */

/* What an element is known by: the id of a rule, the text of a value. Empty: nothing. */
static void element_key(char *key, size_t size, const json_t *item)
{
	const char *text =
		json_string_value(json_is_object(item) ? json_object_get(item, "id") : item);

	if (text)
		snprintf(key, size, "%s", text);
	else if (json_is_integer(item))
		snprintf(key, size, "%lld", (long long)json_integer_value(item));
	else
		*key = '\0';
}
#define ELEMENT_KEY_SIZE 128

/* Index by key. NULL with 0: some element has no key of its own, so they cannot be told apart. */
static int index_list(json_t **ret_index, const json_t *list)
{
	json_auto_t *index = json_object();
	char key[ELEMENT_KEY_SIZE];
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)list, i, item)
	{
		element_key(key, sizeof(key), item);
		if (!*key || json_object_get(index, key)) {
			*ret_index = NULL;
			return 0;
		}
		if (json_put(index, key, json_integer((json_int_t)i)) < 0)
			return -ENOMEM;
	}
	*ret_index = TAKE_PTR(index);
	return *ret_index ? 0 : -ENOMEM;
}

/* True if the elements that both have come in the same order. */
static bool is_same_order(const json_t *before, const json_t *after_index)
{
	char key[ELEMENT_KEY_SIZE];
	json_int_t last = -1;
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)before, i, item)
	{
		const json_t *position;

		element_key(key, sizeof(key), item);
		position = json_object_get(after_index, key);
		if (!position)
			continue;
		if (json_integer_value(position) < last)
			return false;
		last = json_integer_value(position);
	}
	return true;
}

static int diff_keyed(json_t *changes, const char *path, const json_t *before,
		      const json_t *before_index, const json_t *after, const json_t *after_index)
{
	char key[ELEMENT_KEY_SIZE];
	size_t i;
	json_t *item;
	int r;

	json_array_foreach((json_t *)before, i, item)
	{
		element_key(key, sizeof(key), item);
		if (json_object_get(after_index, key))
			continue;
		r = diff_index(changes, path, i, item, NULL);
		if (r < 0)
			return r;
	}
	json_array_foreach((json_t *)after, i, item)
	{
		const json_t *old;

		element_key(key, sizeof(key), item);
		old = json_object_get(before_index, key);
		r = diff_index(changes, path, i,
			       old ? json_array_get(before, (size_t)json_integer_value(old)) : NULL,
			       item);
		if (r < 0)
			return r;
	}
	return 0;
}

static int diff_by_position(json_t *changes, const char *path, const json_t *before,
			    const json_t *after)
{
	size_t count = json_array_size(before);
	int r;

	if (json_array_size(after) > count)
		count = json_array_size(after);
	for (size_t i = 0; i < count; i++) {
		r = diff_index(changes, path, i, json_array_get(before, i),
			       json_array_get(after, i));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Nothing but a run of elements has come, or gone: long lists need no index for that. 1: told; 0: not so. */
static int diff_run(json_t *changes, const char *path, const json_t *before, const json_t *after)
{
	size_t old_count = json_array_size(before), new_count = json_array_size(after);
	size_t shorter = old_count < new_count ? old_count : new_count;
	const json_t *longer = old_count < new_count ? after : before;
	size_t first = 0, same_end = 0;
	int r = 0;

	while (first < shorter &&
	       json_equal(json_array_get(before, first), json_array_get(after, first)))
		first++;
	while (first + same_end < shorter &&
	       json_equal(json_array_get(before, old_count - same_end - 1),
			  json_array_get(after, new_count - same_end - 1)))
		same_end++;
	if (first + same_end < shorter)
		return 0;
	for (size_t i = first; i + same_end < json_array_size(longer) && r == 0; i++)
		r = diff_index(changes, path, i,
			       longer == before ? json_array_get(before, i) : NULL,
			       longer == after ? json_array_get(after, i) : NULL);
	return r < 0 ? r : 1;
}

static int diff_lists(json_t *changes, const char *path, const json_t *before, const json_t *after)
{
	json_auto_t *before_index = NULL;
	json_auto_t *after_index = NULL;
	int r = diff_run(changes, path, before, after);

	if (r != 0)
		return r < 0 ? r : 0;
	r = index_list(&before_index, before);
	if (r < 0)
		return r;
	r = index_list(&after_index, after);
	if (r < 0)
		return r;
	if (!before_index || !after_index)
		return diff_by_position(changes, path, before, after);
	if (!is_same_order(before, after_index))
		return add_change(changes, path, before, after);
	return diff_keyed(changes, path, before, before_index, after, after_index);
}

static int diff_value(json_t *changes, const char *path, const json_t *before, const json_t *after)
{
	if (json_is_object(before) && json_is_object(after))
		return diff_objects(changes, path, before, after);
	if (json_is_array(before) && json_is_array(after))
		return diff_lists(changes, path, before, after);
	return add_change(changes, path, before, after);
}

/* Both documents have a kind only where it has objects: a missing one is empty, not a change itself. */
static int diff_kind(json_t *changes, const char *name, const json_t *before, const json_t *after)
{
	json_auto_t *none = json_object();

	if (!none)
		return -ENOMEM;
	return diff_objects(changes, name, before ? before : none, after ? after : none);
}

json_t *document_diff(const json_t *before, const json_t *after)
{
	json_auto_t *changes = json_array();

	if (!changes)
		return NULL;
	for (int i = 0; i < OBJECT_KIND_COUNT; i++) {
		const char *name = object_kind_names[i];

		if (diff_kind(changes, name, json_object_get(before, name),
			      json_object_get(after, name)) < 0)
			return NULL;
	}
	return TAKE_PTR(changes);
}
