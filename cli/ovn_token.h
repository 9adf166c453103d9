/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of OVN's match expressions. Pure.
 */
#ifndef CLI_OVN_TOKEN_H
#define CLI_OVN_TOKEN_H

#include <stdbool.h>

struct ovn_lexer {
	const char *at;
	char *token;    /* the current one; "" at the end */
	bool is_string; /* was in quotes */
	bool is_bad;
};

/* Stands on the first token. */
void ovn_lexer_init(struct ovn_lexer *lexer, const char *text);
void ovn_lexer_next(struct ovn_lexer *lexer);
void ovn_lexer_fini(struct ovn_lexer *lexer);

#endif
