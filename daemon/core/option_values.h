/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of settings, from text. For options.c.
 */
#ifndef SECG_CORE_OPTION_VALUES_H
#define SECG_CORE_OPTION_VALUES_H

/* Writes to the field, of the type named; on failure `ret_problem` says what it would have taken. */
typedef int option_fn(void *field, const char *text, const char **ret_problem);

option_fn option_path;     /* char *, owned */
option_fn option_text;     /* char *, owned */
option_fn option_bool;     /* bool */
option_fn option_sessions; /* uint32_t */
option_fn option_memory;   /* uint64_t, bytes */
option_fn option_level;    /* enum log_level */

#endif
