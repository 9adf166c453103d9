/* SPDX-License-Identifier: Apache-2.0 */
/* Escape sequences (ECMA-48 SGR) that every terminal of today knows. */
#include "color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_on[2]; /* stdout, stderr: of the process, as they are */

static const char *const codes[] = {
	[COLOR_NONE] = "",           [COLOR_RED] = "\033[31m", [COLOR_GREEN] = "\033[32m",
	[COLOR_YELLOW] = "\033[33m", [COLOR_DIM] = "\033[2m",
};

void color_init(void)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
	bool may = (!none || none[0] == '\0') && terminal && strcmp(terminal, "dumb") != 0;

	is_on[0] = may && isatty(STDOUT_FILENO);
	is_on[1] = may && isatty(STDERR_FILENO);
}

void color_off(void)
{
	is_on[0] = is_on[1] = false;
}

bool color_is_on(const FILE *stream)
{
	return is_on[stream == stderr];
}

void color_begin(enum color color, FILE *stream)
{
	if (color != COLOR_NONE && color_is_on(stream))
		fputs(codes[color], stream);
}

void color_end(enum color color, FILE *stream)
{
	if (color != COLOR_NONE && color_is_on(stream))
		fputs("\033[0m", stream);
}
