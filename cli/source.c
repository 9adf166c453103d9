/* SPDX-License-Identifier: Apache-2.0 */
/* From paths to one document. */
#include "source.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "json_places.h"
#include "slurp.h"
#include "syntax.h"
#include "yaml.h"

struct source {
	json_t *document;
	struct positions *positions;
	struct problems *problems;
	bool has_stdin;
};

static bool has_suffix(const char *name, const char *suffix)
{
	size_t size = strlen(name), suffix_size = strlen(suffix);

	return size > suffix_size && strcmp(name + size - suffix_size, suffix) == 0;
}

static bool is_json(const char *name, const char *bytes, size_t size)
{
	size_t i = 0;

	if (has_suffix(name, ".yaml") || has_suffix(name, ".yml"))
		return false;
	while (i < size && strchr(" \t\r\n", bytes[i]) && bytes[i])
		i++;
	return i < size && bytes[i] == '{';
}

static int read_json(json_t **ret_value, const char *bytes, size_t size, struct source *source,
		     uint32_t file)
{
	json_error_t error;
	json_t *value;

	value = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
	if (!value) {
		struct syntax syntax =
			syntax_json(error.text, error.line, error.column, bytes, size);
		_cleanup_free_ char *message = syntax.message;

		problems_add(source->problems, positions_file_name(source->positions, file),
			     syntax.line, syntax.column, "%s", message);
		return -EINVAL;
	}
	json_places(source->positions, file, bytes, size);
	*ret_value = value;
	return 0;
}

static void tell_conflict(struct source *source, uint32_t file, const char *path, const char *what)
{
	const struct position *here = positions_find_in(source->positions, path, file);
	const struct position *first = positions_find(source->positions, path);
	const char *name = positions_file_name(source->positions, file);

	problems_add(source->problems, name, here->line, here->column, "%s: %s %s:%u:%u", path,
		     what, positions_file_name(source->positions, first->file), first->line,
		     first->column);
}

/* Objects of one section, `acls` for example. */
static void merge_section(struct source *source, uint32_t file, const char *section, json_t *target,
			  json_t *objects)
{
	const char *name;
	json_t *object;

	json_object_foreach(objects, name, object)
	{
		_cleanup_free_ char *path = memory_format("%s.%s", section, name);

		if (json_object_get(target, name))
			tell_conflict(source, file, path, "is already given in");
		else
			json_object_set(target, name, object);
	}
}

static void merge(struct source *source, uint32_t file, json_t *document)
{
	const char *section;
	json_t *value;

	json_object_foreach(document, section, value)
	{
		json_t *target = json_object_get(source->document, section);

		if (!target)
			json_object_set_new(source->document, section,
					    memory_check(json_copy(value)));
		else if (json_is_object(target) && json_is_object(value))
			merge_section(source, file, section, target, value);
		else if (!json_equal(target, value))
			tell_conflict(source, file, section, "differs from");
	}
}

/* A list: told at its first element. */
static void tell_no_mapping(struct source *source, uint32_t file)
{
	const struct position *at = positions_find_in(source->positions, "[0]", file);

	problems_add(source->problems, positions_file_name(source->positions, file),
		     at ? at->line : 0, at ? at->column : 0,
		     "a policy is a mapping of acls, groups, services and ports: write acls: {…}");
}

static void read_stream(struct source *source, FILE *stream, const char *name)
{
	json_auto_t *value = NULL;
	char *bytes;
	uint32_t file;
	size_t size;
	int r;

	bytes = slurp(stream, name, source->problems, &size);
	if (!bytes)
		return;
	file = positions_add_file(source->positions, name);
	positions_take_text(source->positions, file, bytes, size);
	if (is_json(name, bytes, size))
		r = read_json(&value, bytes, size, source, file);
	else
		r = yaml_read(&value, bytes, size, source->positions, file, source->problems);
	if (r < 0)
		return;
	if (json_is_object(value))
		merge(source, file, value);
	else
		tell_no_mapping(source, file);
}

static void read_file(struct source *source, const char *path)
{
	FILE *stream = fopen(path, "re");

	if (!stream) {
		problems_add(source->problems, path, 0, 0, "%s", strerror(errno));
		return;
	}
	read_stream(source, stream, path);
	fclose(stream);
}

static int is_policy(const struct dirent *entry)
{
	const char *name = entry->d_name;

	return name[0] != '.' &&
	       (has_suffix(name, ".yaml") || has_suffix(name, ".yml") || has_suffix(name, ".json"));
}

static void read_directory(struct source *source, const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_policy, alphasort);

	if (count < 0)
		problems_add(source->problems, path, 0, 0, "%s", strerror(errno));
	else if (count == 0)
		problems_add(source->problems, path, 0, 0, "holds no .yaml, .yml or .json file");
	for (int i = 0; i < count; i++) {
		const char *separator = has_suffix(path, "/") ? "" : "/";
		_cleanup_free_ char *file =
			memory_format("%s%s%s", path, separator, entries[i]->d_name);

		read_file(source, file);
		free(entries[i]);
	}
	free(entries);
}

static void read_path(struct source *source, const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0) {
		if (source->has_stdin)
			problems_add(source->problems, "-", 0, 0, "stdin can be read only once");
		else
			read_stream(source, stdin, "<stdin>");
		source->has_stdin = true;
	} else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		read_directory(source, path);
	} else {
		read_file(source, path);
	}
}

int source_read(json_t **ret_document, char *const *paths, size_t count,
		struct positions *positions, struct problems *reterr)
{
	json_auto_t *document = memory_check(json_object());
	struct source source = {
		.document = document,
		.positions = positions,
		.problems = reterr,
	};
	size_t before = reterr->count;

	for (size_t i = 0; i < count; i++)
		read_path(&source, paths[i]);
	if (reterr->count > before)
		return -EINVAL;
	*ret_document = TAKE_PTR(document);
	return 0;
}
