/* SPDX-License-Identifier: Apache-2.0 */
/* White space and comments out, one token at a time. */
#include "ovn_token.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include <jansson.h>

#include "memory.h"

static void skip_space(struct ovn_lexer *lexer)
{
	for (;;) {
		while (isspace((unsigned char)*lexer->at))
			lexer->at++;
		if (strncmp(lexer->at, "//", 2) == 0) {
			lexer->at += strcspn(lexer->at, "\n");
		} else if (strncmp(lexer->at, "/*", 2) == 0) {
			const char *end = strstr(lexer->at + 2, "*/");

			lexer->is_bad = lexer->is_bad || !end;
			lexer->at = end ? end + 2 : lexer->at + strlen(lexer->at);
		} else {
			return;
		}
	}
}

/* Strings are JSON's. */
static char *take_string(struct ovn_lexer *lexer)
{
	const char *start = lexer->at++;
	json_auto_t *value = NULL;

	while (*lexer->at && *lexer->at != '"')
		lexer->at += lexer->at[0] == '\\' && lexer->at[1] ? 2 : 1;
	if (*lexer->at == '"')
		lexer->at++;
	value = json_loadb(start, (size_t)(lexer->at - start), JSON_DECODE_ANY, NULL);
	lexer->is_bad = lexer->is_bad || !json_is_string(value);
	return memory_copy(json_is_string(value) ? json_string_value(value) : "");
}

/* A field with its bits, or a number, address or name with its mask. */
static size_t word_size(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.:";
	size_t size = text[0] == '$' || text[0] == '@' ? 1 : 0;

	size += strspn(text + size, letters);
	if (size > 0 && text[size] == '[')
		size += strcspn(text + size, "]") + (strchr(text + size, ']') ? 1 : 0);
	if (size > 0 && text[size] == '/' && isxdigit((unsigned char)text[size + 1]))
		size += 1 + strspn(text + size + 1, letters);
	return size;
}

void ovn_lexer_next(struct ovn_lexer *lexer)
{
	static const char *const pairs[] = {"==", "!=", "<=", ">=", "&&", "||"};
	size_t size;

	free(lexer->token);
	lexer->is_string = false;
	skip_space(lexer);
	if (*lexer->at == '"') {
		lexer->token = take_string(lexer);
		lexer->is_string = true;
		return;
	}
	size = word_size(lexer->at);
	for (size_t i = 0; size == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (strncmp(lexer->at, pairs[i], 2) == 0)
			size = 2;
	}
	if (size == 0 && *lexer->at)
		size = 1;
	lexer->token = memory_format("%.*s", (int)size, lexer->at);
	lexer->at += size;
}

void ovn_lexer_init(struct ovn_lexer *lexer, const char *text)
{
	*lexer = (struct ovn_lexer){.at = text};
	ovn_lexer_next(lexer);
}

void ovn_lexer_fini(struct ovn_lexer *lexer)
{
	free(lexer->token);
	lexer->token = NULL;
}
