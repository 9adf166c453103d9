/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal is cleared before each answer; in a pipe they follow each other. */
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "options.h"

#define INTERVAL_S     1
#define INTERVAL_S_MAX 3600

int watch_take(struct watch *watch, const struct verb *verb, int letter, const char *value)
{
	char *end;

	if (letter == 'w') {
		watch->is_on = true;
		return OPTIONS_GO;
	}
	errno = 0;
	watch->interval_s = strtol(value, &end, 10);
	if (errno || end == value || *end != '\0' || watch->interval_s < 1 ||
	    watch->interval_s > INTERVAL_S_MAX)
		return options_misuse(verb, "--interval takes seconds, 1 to %d, not '%s'",
				      INTERVAL_S_MAX, value);
	return OPTIONS_GO;
}

/* What `show` prints, as text; glibc lets stdout be set. */
static int capture(char **ret_text, struct cli *cli, int (*show)(struct cli *cli, void *data),
		   void *data)
{
	FILE *terminal = stdout;
	char *text = NULL;
	size_t size = 0;
	int r;

	stdout = memory_check(open_memstream(&text, &size));
	r = show(cli, data);
	fclose(stdout);
	stdout = terminal;
	*ret_text = memory_check(text);
	return r;
}

static void print(const struct cli *cli, const char *text, bool is_first)
{
	if (cli->output == OUTPUT_TABLE && isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
	else if (cli->output == OUTPUT_TABLE && !is_first)
		putchar('\n');
	fputs(text, stdout);
	fflush(stdout);
}

int watch_run(const struct watch *watch, struct cli *cli, int (*show)(struct cli *cli, void *data),
	      void *data)
{
	_cleanup_free_ char *last = NULL;

	if (!watch->is_on)
		return show(cli, data);
	cli->is_watching = true;
	for (;;) {
		_cleanup_free_ char *text = NULL;
		int r = capture(&text, cli, show, data);

		if (r != CLI_DONE)
			return r;
		if (!last || strcmp(last, text) != 0)
			print(cli, text, !last);
		if (ferror(stdout))
			return CLI_REFUSED;
		free(last);
		last = TAKE_PTR(text);
		sleep((unsigned int)(watch->interval_s ? watch->interval_s : INTERVAL_S));
	}
}
