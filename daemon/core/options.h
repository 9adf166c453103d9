/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the daemon: from flags, environment (SECGD_MAX_SESSIONS) and a file of `key = value`
 * lines, in this order of precedence. Each has one name: --max-sessions, SECGD_MAX_SESSIONS,
 * max-sessions. Reads the file and nothing else.
 */
#ifndef SECG_CORE_OPTIONS_H
#define SECG_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/log.h"

struct options {
	char *socket; /* default: secgd.sock in run_directory */
	char *state_directory;
	char *run_directory;
	char *bpffs;
	char *without; /* list of kernel features, as written; "" none */
	char *config;  /* the file that was read, or would have been */
	bool is_ephemeral;
	bool detaches_all;
	bool shows_version;
	bool shows_help;
	uint32_t max_sessions;
	uint64_t table_memory_bytes;
	enum log_level log_level;
};

#define OPTIONS_MESSAGE_SIZE 256
#define OPTIONS_CONFIG_FILE  "/etc/secgd/secgd.conf"

/*
 * `environment` is a NULL-terminated list of NAME=value. A file that is not there is an error only when
 * it was asked for. -EINVAL or the file's errno, and a message that names flag, variable or line.
 */
int options_parse(struct options *ret_options, int argc, char *const *argv,
		  char *const *environment, char message[OPTIONS_MESSAGE_SIZE]);
void options_fini(struct options *options);
/* Text of --help, to be printed as it is. */
extern const char options_help[];

/* "64M" and the like: bytes, or K, M, G of 1024. -EINVAL. */
int options_parse_size(uint64_t *ret_bytes, const char *text);
/* Mask of 1 << index for a list of words with commas between them. -EINVAL and a message. */
int options_parse_words(uint32_t *ret_mask, const char *list, const char *const *words,
			size_t count, char message[OPTIONS_MESSAGE_SIZE]);

#endif
