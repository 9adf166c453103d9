/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and ranges of them. */
#include <stdio.h>
#include <string.h>

#include "model/value.h"

/* Reads decimal digits; false where there are none. A number too large for any kind stays too large. */
static bool read_digits(const char **text, uint32_t *ret_number)
{
	uint64_t number = 0;
	const char *s = *text;

	for (; *s >= '0' && *s <= '9'; s++)
		if (number <= UINT32_MAX)
			number = number * 10 + (uint64_t)(*s - '0');
	if (s == *text)
		return false;
	*ret_number = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
	*text = s;
	return true;
}

/* "a" or "a-b" and nothing else. */
static bool read_range(const char *text, uint32_t *ret_first, uint32_t *ret_last)
{
	if (!read_digits(&text, ret_first))
		return false;
	*ret_last = *ret_first;
	if (*text == '-') {
		text++;
		if (!read_digits(&text, ret_last))
			return false;
	}
	return !*text;
}

static int out_of_range(struct parser *parser, const struct path *path,
			const struct number_kind *kind)
{
	return parse_error(parser, path, ERROR_BAD_VALUE, "%s must be %u to %u", kind->what,
			   kind->first, kind->last);
}

static int integer_number(struct parser *parser, const struct path *path, const json_t *value,
			  const struct number_kind *kind, uint32_t *ret_number)
{
	json_int_t number = json_integer_value(value);

	if (number < (json_int_t)kind->first || number > (json_int_t)kind->last)
		return out_of_range(parser, path, kind);
	*ret_number = (uint32_t)number;
	return 0;
}

int parse_number(struct parser *parser, const struct path *path, const json_t *value,
		 const struct number_kind *kind, uint32_t *ret_number)
{
	const char *text = json_string_value(value);
	uint32_t number;

	if (json_is_integer(value))
		return integer_number(parser, path, value, kind, ret_number);
	if (!text)
		return parse_bad_type(parser, path, value, "a whole number");
	if (!read_digits(&text, &number) || *text)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "%s must be a number from %u to %u, not \"%s\"", kind->what,
				   kind->first, kind->last, excerpt(json_string_value(value)).text);
	if (number < kind->first || number > kind->last)
		return out_of_range(parser, path, kind);
	*ret_number = number;
	return 0;
}

/* Text that is a list or a range by other tools' spelling: "22,80" or "22:25". Writes what to write. */
static bool respell(char *fixed, size_t fixed_size, const char *text)
{
	bool is_list = strchr(text, ',');
	uint32_t first, last;
	size_t size = 0;

	if (!is_list) {
		if (!read_digits(&text, &first) || *text++ != ':' || !read_digits(&text, &last) ||
		    *text)
			return false;
		snprintf(fixed, fixed_size, "\"%u-%u\"", first, last);
		return true;
	}
	for (const char *separator = "["; *text; separator = ", ") {
		size_t digits = strspn(text, "0123456789"), item = strspn(text, "0123456789-");
		const char *quote = item > digits ? "\"" : "";

		if (!item)
			return false;
		size += (size_t)snprintf(fixed + size, fixed_size - size, "%s%s%.*s%s", separator,
					 quote, (int)item, text, quote);
		if (size + sizeof("]") > fixed_size)
			return false;
		text += item;
		text += strspn(text, ", ");
	}
	snprintf(fixed + size, fixed_size - size, "]");
	return true;
}

static int bad_range(struct parser *parser, const struct path *path, const char *text,
		     const struct number_kind *kind)
{
	char fixed[96];
	bool is_known = respell(fixed, sizeof(fixed), text);

	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "%s must be a number or a range \"a-b\" from %u to %u, not \"%s\"%s%s",
			   kind->what, kind->first, kind->last, excerpt(text).text,
			   is_known ? ": write " : "", is_known ? fixed : "");
}

int parse_range(struct parser *parser, const struct path *path, const json_t *value,
		const struct number_kind *kind, struct range *ret_range)
{
	const char *text = json_string_value(value);
	uint32_t first = 0, last;
	int r;

	if (json_is_integer(value)) {
		r = integer_number(parser, path, value, kind, &first);
		if (r < 0)
			return r;
		*ret_range = (struct range){(uint16_t)first, (uint16_t)first};
		return 0;
	}
	if (!text)
		return parse_bad_type(parser, path, value, "a whole number or a range \"a-b\"");
	if (!read_range(text, &first, &last))
		return bad_range(parser, path, text, kind);
	if (first < kind->first || first > kind->last || last < kind->first || last > kind->last)
		return out_of_range(parser, path, kind);
	if (first > last)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "the range is reversed: write \"%u-%u\"", last, first);
	*ret_range = (struct range){(uint16_t)first, (uint16_t)last};
	return 0;
}

bool is_number_text(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && *text >= '0' && *text <= '9';
}

json_t *range_json(const struct range *range)
{
	if (range->first == range->last)
		return json_integer(range->first);
	return json_sprintf("%u-%u", (unsigned int)range->first, (unsigned int)range->last);
}

/* Lists are short and built once: the allocation grows at powers of two, which `count` tells. */
int range_list_add(struct range_list *list, struct range range)
{
	if (!(list->count & (list->count - 1))) {
		size_t capacity = list->count ? list->count * 2 : 1;
		struct range *ranges = reallocarray(list->ranges, capacity, sizeof(*list->ranges));

		if (!ranges)
			return -ENOMEM;
		list->ranges = ranges;
	}
	list->ranges[list->count++] = range;
	return 0;
}

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->first != y->first ? x->first - y->first : x->last - y->last;
}

void range_list_normalize(struct range_list *list)
{
	size_t kept = 0;

	if (list->count < 2)
		return;
	qsort(list->ranges, list->count, sizeof(*list->ranges), range_compare);
	for (size_t i = 1; i < list->count; i++) {
		if (list->ranges[i].first > list->ranges[kept].last + 1)
			list->ranges[++kept] = list->ranges[i];
		else if (list->ranges[i].last > list->ranges[kept].last)
			list->ranges[kept].last = list->ranges[i].last;
	}
	list->count = kept + 1;
}

int range_list_copy(struct range_list *ret_list, const struct range_list *list)
{
	struct range *ranges = NULL;

	if (list->count) {
		ranges = reallocarray(NULL, list->count, sizeof(*ranges));
		if (!ranges)
			return -ENOMEM;
		memcpy(ranges, list->ranges, list->count * sizeof(*ranges));
	}
	*ret_list = (struct range_list){.ranges = ranges, .count = list->count};
	return 0;
}

void range_list_fini(struct range_list *list)
{
	free(list->ranges);
	*list = (struct range_list){0};
}
