/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines on stderr: "<3>text" for the journal (sd-daemon(3) prefixes), "error: text" on a terminal.
 * Only main, engine, api and worker threads log; everything below returns its errors. Thread-safe.
 */
#ifndef SECG_CORE_LOG_H
#define SECG_CORE_LOG_H

enum log_level {
	LOG_ERROR,
	LOG_WARNING,
	LOG_INFO,
	LOG_DEBUG,
};

/* Lines above the level are not written. Default LOG_INFO. Call before threads start. */
void log_set_level(enum log_level level);
/* "error", "warning", "info", "debug"; -EINVAL for another word. */
int log_level_parse(enum log_level *ret_level, const char *word);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_DEBUG, __VA_ARGS__)

#endif
