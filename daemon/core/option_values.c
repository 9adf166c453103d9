/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings. */
#include "core/option_values.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/cleanup.h"
#include "core/options.h"

#define SESSIONS_MIN 16u
#define SESSIONS_MAX (16u << 20)
#define MEMORY_MIN   ((uint64_t)1 << 20)
#define MEMORY_MAX   ((uint64_t)4 << 30)

static int read_number(uint64_t *ret_number, const char **text)
{
	uint64_t number = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(**text - '0'), &number))
			return -EINVAL;
	*ret_number = number;
	return 0;
}

int options_parse_size(uint64_t *ret_bytes, const char *text)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t number;

	if (read_number(&number, &text) < 0)
		return -EINVAL;
	unit = *text ? strchr(units, toupper((unsigned char)*text)) : NULL;
	if (unit) {
		if (__builtin_mul_overflow(number, (uint64_t)1 << (10 * (unit - units + 1)),
					   &number))
			return -EINVAL;
		text++;
	}
	if (*text)
		return -EINVAL;
	*ret_bytes = number;
	return 0;
}

int options_parse_words(uint32_t *ret_mask, const char *list, const char *const *words,
			size_t count, char message[OPTIONS_MESSAGE_SIZE])
{
	uint32_t mask = 0;

	while (*list) {
		size_t size = strcspn(list, ",");
		size_t i = 0;

		while (i < count && (strlen(words[i]) != size || strncmp(words[i], list, size)))
			i++;
		if (i == count) {
			snprintf(message, OPTIONS_MESSAGE_SIZE, "%.*s is none of them",
				 (int)(size > 64 ? 64 : size), list);
			return -EINVAL;
		}
		mask |= 1u << i;
		list += size;
		list += *list == ',';
	}
	*ret_mask = mask;
	return 0;
}

int option_path(void *field, const char *text, const char **ret_problem)
{
	char **path = field;
	char *copy;

	*ret_problem = "must be an absolute path";
	if (*text != '/')
		return -EINVAL;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*path);
	*path = copy;
	return 0;
}

int option_text(void *field, const char *text, const char **ret_problem)
{
	char **value = field;
	char *copy = strdup(text);

	*ret_problem = "";
	if (!copy)
		return -ENOMEM;
	free(*value);
	*value = copy;
	return 0;
}

int option_bool(void *field, const char *text, const char **ret_problem)
{
	bool *value = field;

	*ret_problem = "must be true or false";
	if (!strcmp(text, "true") || !strcmp(text, "yes") || !strcmp(text, "1"))
		*value = true;
	else if (!strcmp(text, "false") || !strcmp(text, "no") || !strcmp(text, "0"))
		*value = false;
	else
		return -EINVAL;
	return 0;
}

int option_sessions(void *field, const char *text, const char **ret_problem)
{
	uint64_t number;

	*ret_problem = "must be a number from 16 to 16777216";
	if (read_number(&number, &text) < 0 || *text)
		return -EINVAL;
	if (number < SESSIONS_MIN || number > SESSIONS_MAX)
		return -ERANGE;
	*(uint32_t *)field = (uint32_t)number;
	return 0;
}

int option_memory(void *field, const char *text, const char **ret_problem)
{
	uint64_t bytes;

	*ret_problem = "must be a size from 1M to 4G";
	if (options_parse_size(&bytes, text) < 0)
		return -EINVAL;
	if (bytes < MEMORY_MIN || bytes > MEMORY_MAX)
		return -ERANGE;
	*(uint64_t *)field = bytes;
	return 0;
}

int option_level(void *field, const char *text, const char **ret_problem)
{
	*ret_problem = "must be error, warning, info or debug";
	return log_level_parse(field, text);
}
