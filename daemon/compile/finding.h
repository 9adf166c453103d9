/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy says that its author hardly means: code, path of the field, one sentence.
 */
#ifndef SECG_COMPILE_FINDING_H
#define SECG_COMPILE_FINDING_H

#include <stdbool.h>
#include <stddef.h>

enum finding_code {
	FINDING_UNREACHABLE,
	FINDING_SHADOWED,
	FINDING_REDUNDANT,
	FINDING_STATELESS_NO_RETURN,
	FINDING_EMPTY_GROUP,
	FINDING_FAMILY_NEVER,
	FINDING_WIDE_MEMBER,
	FINDING_UNUSED,
	FINDING_LINT_SKIPPED,
};

struct finding {
	enum finding_code code;
	char *field; /* "acls.web.rules[2]" */
	char *message;
};

#define FINDINGS_MAX 1000 /* kept at most; later ones are only counted */

struct findings {
	struct finding *items;
	size_t count;
	size_t room;
	size_t dropped;
};

/* Takes both texts, NULL of which are -ENOMEM; made with finding_text. */
int findings_add(struct findings *findings, enum finding_code code, char *field, char *message);
/* printf; NULL: no memory. */
char *finding_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
void findings_fini(struct findings *findings);
/* The API's spelling. */
const char *finding_code_name(enum finding_code code);

#endif
