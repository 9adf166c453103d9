/* SPDX-License-Identifier: Apache-2.0 */
/* Places of fields, sorted by the hash of their path when the first one is asked for. */
#include "positions.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct file {
	char *name;
	char *text; /* NULL: not kept */
	size_t size;
};

struct positions {
	struct position *items;
	size_t count, room;
	bool is_sorted;
	struct file *files;
	size_t file_count, file_room;
};

struct positions *positions_new(void)
{
	return memory_check(calloc(1, sizeof(struct positions)));
}

void positions_free(struct positions *positions)
{
	for (size_t i = 0; i < positions->file_count; i++) {
		free(positions->files[i].name);
		free(positions->files[i].text);
	}
	free(positions->files);
	free(positions->items);
	free(positions);
}

uint32_t positions_add_file(struct positions *positions, const char *name)
{
	positions->files = memory_grow(positions->files, positions->file_count,
				       &positions->file_room, sizeof(*positions->files));
	positions->files[positions->file_count] = (struct file){.name = memory_copy(name)};
	return (uint32_t)positions->file_count++;
}

const char *positions_file_name(const struct positions *positions, uint32_t file)
{
	return positions->files[file].name;
}

void positions_take_text(struct positions *positions, uint32_t file, char *text, size_t size)
{
	free(positions->files[file].text);
	positions->files[file].text = text;
	positions->files[file].size = size;
}

const char *positions_file_text(const struct positions *positions, const char *name,
				size_t *ret_size)
{
	for (size_t i = 0; i < positions->file_count; i++) {
		const struct file *file = &positions->files[i];

		if (file->text && strcmp(file->name, name) == 0) {
			*ret_size = file->size;
			return file->text;
		}
	}
	return NULL;
}

/* FNV-1a: it runs on from any prefix, so that hash(path) needs no path to be put together. */
static uint64_t hash_on(uint64_t hash, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return hash;
}

uint64_t positions_member(uint64_t parent, const char *name)
{
	if (parent != POSITIONS_ROOT)
		parent = hash_on(parent, ".", 1);
	return hash_on(parent, name, strlen(name));
}

uint64_t positions_element(uint64_t parent, size_t index)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "[%zu]", index);

	return hash_on(parent, text, (size_t)size);
}

uint64_t positions_value(uint64_t member)
{
	return hash_on(member, "=", 1); /* no path of the API holds this character behind a name */
}

void positions_add(struct positions *positions, struct position position)
{
	positions->items = memory_grow(positions->items, positions->count, &positions->room,
				       sizeof(*positions->items));
	positions->items[positions->count++] = position;
	positions->is_sorted = false;
}

static int compare(const void *a, const void *b)
{
	const struct position *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* The first place of the path in this file or a later one. */
static const struct position *find(struct positions *positions, uint64_t path, uint32_t file)
{
	const struct position wanted = {.path = path, .file = file};
	size_t low = 0, high = positions->count;

	if (!positions->is_sorted && positions->count > 0)
		qsort(positions->items, positions->count, sizeof(*positions->items), compare);
	positions->is_sorted = true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&positions->items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == positions->count || positions->items[low].path != path)
		return NULL;
	return &positions->items[low];
}

const struct position *positions_find(struct positions *positions, const char *path)
{
	return find(positions, hash_on(POSITIONS_ROOT, path, strlen(path)), 0);
}

const struct position *positions_find_value(struct positions *positions, const char *path)
{
	return find(positions, positions_value(hash_on(POSITIONS_ROOT, path, strlen(path))), 0);
}

const struct position *positions_find_in(struct positions *positions, const char *path,
					 uint32_t file)
{
	const struct position *found;

	found = find(positions, hash_on(POSITIONS_ROOT, path, strlen(path)), file);
	return found && found->file == file ? found : NULL;
}

const struct position *positions_nearest(struct positions *positions, const char *path)
{
	size_t size = strlen(path);

	while (size > 0) {
		uint64_t hash = hash_on(POSITIONS_ROOT, path, size);
		const struct position *found = find(positions, hash, 0);

		if (found && (path[size] == '\0' || memchr(path, '.', size)))
			return found;
		do
			size--;
		while (size > 0 && path[size] != '.' && path[size] != '[');
	}
	return NULL;
}
