/* SPDX-License-Identifier: Apache-2.0 */
/* getopt_long, twice: up to the verb, and after it. */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "color.h"
#include "help.h"
#include "memory.h"

#define DEFAULT_SOCKET    "/run/secgd/secgd.sock"
#define DEFAULT_TIMEOUT_S 60
#define MAX_TIMEOUT_S     86400

enum {
	OPTION_SOCKET = 1000,
	OPTION_TIMEOUT,
	OPTION_NO_COLOR,
	OPTION_VERSION,
};

static const struct option shared[] = {
	{"output", required_argument, NULL, 'o'},
	{"socket", required_argument, NULL, OPTION_SOCKET},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"no-color", no_argument, NULL, OPTION_NO_COLOR},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

void options_init(struct cli *cli)
{
	const char *socket = getenv("SECG_SOCKET");

	cli->socket = socket && socket[0] != '\0' ? socket : DEFAULT_SOCKET;
	cli->timeout_s = DEFAULT_TIMEOUT_S;
}

int options_misuse(const struct verb *verb, const char *format, ...)
{
	va_list args;

	fputs("sgctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (verb)
		fprintf(stderr, "\nsgctl: see 'sgctl help %s'\n", verb->name);
	else
		fputs("\nsgctl: see 'sgctl --help'\n", stderr);
	return CLI_REFUSED;
}

static int take_timeout(struct cli *cli, const struct verb *verb, const char *value)
{
	char *end;
	long seconds;

	errno = 0;
	seconds = strtol(value, &end, 10);
	if (errno || end == value || *end != '\0' || seconds < 1 || seconds > MAX_TIMEOUT_S)
		return options_misuse(verb, "--timeout takes seconds, 1 to %d, not '%s'",
				      MAX_TIMEOUT_S, value);
	cli->timeout_s = seconds;
	return OPTIONS_GO;
}

static int take_output(struct cli *cli, const struct verb *verb, const char *value)
{
	static const char *const names[] = {
		[OUTPUT_TABLE] = "table", [OUTPUT_JSON] = "json", [OUTPUT_YAML] = "yaml"};

	for (int i = OUTPUT_TABLE; i <= OUTPUT_YAML; i++) {
		if (strcmp(value, names[i]) == 0) {
			cli->output = (enum output)i;
			return OPTIONS_GO;
		}
	}
	return options_misuse(verb, "-o takes table, json or yaml, not '%s'", value);
}

static int take_shared(struct cli *cli, const struct verb *verb, int letter, const char *value)
{
	switch (letter) {
	case 'o':
		return take_output(cli, verb, value);
	case OPTION_SOCKET:
		cli->socket = value;
		return OPTIONS_GO;
	case OPTION_TIMEOUT:
		return take_timeout(cli, verb, value);
	case OPTION_NO_COLOR:
		color_off();
		return OPTIONS_GO;
	case OPTION_VERSION:
		puts("sgctl " SECG_VERSION);
		return CLI_DONE;
	case 'h':
		if (verb)
			fputs(verb->help, stdout);
		else
			fputs(help_overview, stdout);
		return CLI_DONE;
	default: /* getopt has said what is wrong */
		return options_misuse(verb, "nothing was done");
	}
}

int options_before(int *ret_index, struct cli *cli, int argc, char **argv)
{
	int letter;

	optind = 1;
	while ((letter = getopt_long(argc, argv, "+o:h", shared, NULL)) != -1) {
		int r = take_shared(cli, NULL, letter, optarg);

		if (r != OPTIONS_GO)
			return r;
	}
	*ret_index = optind;
	return OPTIONS_GO;
}

/* Shared options, then the verb's own; the caller frees the array. */
static struct option *all_options(const struct options *own)
{
	size_t count = 0;
	struct option *all;

	while (own->longs && own->longs[count].name)
		count++;
	all = memory_check(calloc(count + sizeof(shared) / sizeof(shared[0]), sizeof(*all)));
	if (count > 0)
		memcpy(all, own->longs, count * sizeof(*all));
	memcpy(all + count, shared, sizeof(shared));
	return all;
}

static bool is_own(const struct options *own, int letter)
{
	return (letter >= OPTIONS_OWN && letter < OPTION_SOCKET) || strchr(own->letters, letter);
}

int options_after(int *ret_index, struct cli *cli, const struct verb *verb,
		  const struct options *own, int argc, char **argv)
{
	_cleanup_free_ struct option *all = all_options(own);
	_cleanup_free_ char *letters = memory_format("o:h%s", own->letters);
	static char name[] = "sgctl";
	int letter;

	argv[0] = name; /* getopt puts it before its messages */
	optind = 0;     /* tells glibc to begin anew */
	while ((letter = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		int r = is_own(own, letter) ? own->take(letter, optarg, own->data)
					    : take_shared(cli, verb, letter, optarg);

		if (r != OPTIONS_GO)
			return r;
	}
	*ret_index = optind;
	return OPTIONS_GO;
}
