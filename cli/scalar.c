/* SPDX-License-Identifier: Apache-2.0 */
/* The core schema's regular expressions, written out. */
#include "scalar.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (strcmp(text, *words) == 0)
			return true;
	}
	return false;
}

/* Skips digits of a base; the digits of JSON and YAML are ASCII whatever the locale. */
static const char *skip_digits(const char *p, const char *digits)
{
	return p + strspn(p, digits);
}

static bool is_int(const char *text)
{
	const char *p = text;

	if (p[0] == '0' && (p[1] == 'o' || p[1] == 'x')) {
		const char *digits = p[1] == 'o' ? "01234567" : "0123456789abcdefABCDEF";

		return p[2] != '\0' && *skip_digits(p + 2, digits) == '\0';
	}
	if (*p == '-' || *p == '+')
		p++;
	return *p != '\0' && *skip_digits(p, "0123456789") == '\0';
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? and the spellings of infinity and not-a-number */
static bool is_float(const char *text)
{
	static const char *const words[] = {".inf", ".Inf", ".INF", NULL};
	static const char *const nans[] = {".nan", ".NaN", ".NAN", NULL};
	const char *p = text, *start;
	bool has_digits;

	if (*p == '-' || *p == '+')
		p++;
	if (is_one_of(p, words) || is_one_of(text, nans))
		return true;
	start = p;
	p = skip_digits(p, "0123456789");
	has_digits = p > start;
	if (*p == '.') {
		start = ++p;
		p = skip_digits(p, "0123456789");
		has_digits = has_digits || p > start;
	}
	if (!has_digits)
		return false;
	if (*p == 'e' || *p == 'E') {
		p++;
		if (*p == '-' || *p == '+')
			p++;
		start = p;
		p = skip_digits(p, "0123456789");
		if (p == start)
			return false;
	}
	return *p == '\0';
}

enum scalar_kind scalar_kind(const char *text)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const bools[] = {"true",  "True",  "TRUE", "false",
					    "False", "FALSE", NULL};

	if (is_one_of(text, nulls))
		return SCALAR_NULL;
	if (is_one_of(text, bools))
		return SCALAR_BOOL;
	if (is_int(text))
		return SCALAR_INT;
	if (is_float(text))
		return SCALAR_FLOAT;
	return SCALAR_STRING;
}

static json_t *int_value(const char *text)
{
	bool has_base = text[0] == '0' && (text[1] == 'o' || text[1] == 'x');
	int base = !has_base ? 10 : text[1] == 'o' ? 8 : 16;
	long long number;

	errno = 0;
	number = strtoll(text + (has_base ? 2 : 0), NULL, base);
	return errno != 0 ? NULL : json_integer(number);
}

json_t *scalar_value(const char *text, enum scalar_kind kind)
{
	switch (kind) {
	case SCALAR_NULL:
		return json_null();
	case SCALAR_BOOL:
		return json_boolean(text[0] == 't' || text[0] == 'T');
	case SCALAR_INT:
		return int_value(text);
	case SCALAR_FLOAT:
		/* the program never leaves the C locale, so the point is a point; ".inf" ends at the
		 * point for strtod, hence the look at its letters */
		if (strpbrk(text, "iInN"))
			return NULL;
		return isfinite(strtod(text, NULL)) ? json_real(strtod(text, NULL)) : NULL;
	case SCALAR_STRING:
		break;
	}
	return json_string(text);
}
