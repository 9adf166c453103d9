/* SPDX-License-Identifier: Apache-2.0 */
/* The list of findings. */
#include "compile/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/cleanup.h"

static const char *const code_names[] = {
	[FINDING_UNREACHABLE] = "unreachable",
	[FINDING_SHADOWED] = "shadowed",
	[FINDING_REDUNDANT] = "redundant",
	[FINDING_STATELESS_NO_RETURN] = "stateless_no_return",
	[FINDING_EMPTY_GROUP] = "empty_group",
	[FINDING_FAMILY_NEVER] = "family_never",
	[FINDING_WIDE_MEMBER] = "wide_member",
	[FINDING_UNUSED] = "unused",
	[FINDING_LINT_SKIPPED] = "lint_skipped",
};

const char *finding_code_name(enum finding_code code)
{
	return code_names[code];
}

static int grow(struct findings *findings)
{
	size_t room = findings->room ? findings->room * 2 : 16;
	struct finding *items;

	if (findings->count < findings->room)
		return 0;
	items = reallocarray(findings->items, room, sizeof(*items));
	if (!items)
		return -ENOMEM;
	findings->items = items;
	findings->room = room;
	return 0;
}

int findings_add(struct findings *findings, enum finding_code code, char *field, char *message)
{
	_cleanup_free_ char *own_field = field;
	_cleanup_free_ char *own_message = message;

	if (!field || !message)
		return -ENOMEM;
	if (findings->count == FINDINGS_MAX) {
		findings->dropped++;
		return 0;
	}
	if (grow(findings) < 0)
		return -ENOMEM;
	findings->items[findings->count++] = (struct finding){
		.code = code,
		.field = TAKE_PTR(own_field),
		.message = TAKE_PTR(own_message),
	};
	return 0;
}

char *finding_text(const char *format, ...)
{
	va_list args;
	char *text;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	return r < 0 ? NULL : text;
}

void findings_fini(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].field);
		free(findings->items[i].message);
	}
	free(findings->items);
	*findings = (struct findings){0};
}
