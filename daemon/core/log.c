/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on stderr. */
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/cleanup.h"

static enum log_level max_level = LOG_INFO;

static const struct {
	const char *word;
	int priority; /* syslog(3) */
} levels[] = {
	[LOG_ERROR] = {"error", 3},
	[LOG_WARNING] = {"warning", 4},
	[LOG_INFO] = {"info", 6},
	[LOG_DEBUG] = {"debug", 7},
};

void log_set_level(enum log_level level)
{
	max_level = level;
}

int log_level_parse(enum log_level *ret_level, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(levels[i].word, word)) {
			*ret_level = (enum log_level)i;
			return 0;
		}
	return -EINVAL;
}

void log_line(enum log_level level, const char *format, ...)
{
	char line[1024];
	va_list args;
	int size;

	if (level > max_level)
		return;
	va_start(args, format);
	size = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (size < 0)
		return;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%s: %s\n", levels[level].word, line);
	else
		fprintf(stderr, "<%d>%s\n", levels[level].priority, line);
}
