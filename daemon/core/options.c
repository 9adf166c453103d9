/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the daemon. */
#include "core/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/cleanup.h"
#include "core/option_values.h"

const char options_help[] =
	"usage: secgd [options]\n"
	"\n"
	"  --socket PATH        REST socket (secgd.sock in the run directory)\n"
	"  --state-dir DIR      desired state, mode 0700 (/var/lib/secgd)\n"
	"  --run-dir DIR        runtime files (/run/secgd)\n"
	"  --bpffs DIR          folder of the pins (/sys/fs/bpf/secgd)\n"
	"  --ephemeral          pin nothing: filtering ends with the daemon\n"
	"  --max-sessions N     established sessions (262144)\n"
	"  --table-memory SIZE  memory of compiled policies, like 64M (64M)\n"
	"  --log-level LEVEL    error, warning, info or debug (info)\n"
	"  --without LIST       kernel features not to use: tcx, xdp_frags, xdp_link\n"
	"  --config FILE        lines of `key = value` (" OPTIONS_CONFIG_FILE ")\n"
	"  --detach-all         detach every program and remove every pin, then exit\n"
	"  --version            print the version\n"
	"  --help               print this\n"
	"\n"
	"Each option is also an environment variable (SECGD_MAX_SESSIONS) and a line of the file\n"
	"(max-sessions = 1000000). A flag beats the environment, which beats the file.\n";

/* ── settings ───────────────────────────────────────────────────────────────────────────────────── */

struct setting {
	const char *name;
	option_fn *parse;
	size_t offset;
	bool is_switch; /* as a flag it needs no value */
	bool is_flag;   /* only a flag: it asks for something else than running */
};

static const struct setting settings[] = {
	{"socket", option_path, offsetof(struct options, socket), false, false},
	{"state-dir", option_path, offsetof(struct options, state_directory), false, false},
	{"run-dir", option_path, offsetof(struct options, run_directory), false, false},
	{"bpffs", option_path, offsetof(struct options, bpffs), false, false},
	{"ephemeral", option_bool, offsetof(struct options, is_ephemeral), true, false},
	{"max-sessions", option_sessions, offsetof(struct options, max_sessions), false, false},
	{"table-memory", option_memory, offsetof(struct options, table_memory_bytes), false, false},
	{"log-level", option_level, offsetof(struct options, log_level), false, false},
	{"without", option_text, offsetof(struct options, without), false, false},
	{"detach-all", option_bool, offsetof(struct options, detaches_all), true, true},
	{"version", option_bool, offsetof(struct options, shows_version), true, true},
	{"help", option_bool, offsetof(struct options, shows_help), true, true},
};
/* Not in the table: it says which file the others are read from. */
static const struct setting config_setting = {"config", option_path,
					      offsetof(struct options, config), false, true};

static const struct setting *find_setting(const char *name, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (strlen(settings[i].name) == size && !strncmp(settings[i].name, name, size))
			return &settings[i];
	return NULL;
}

/* `where` is the flag, variable or line to blame. */
static int set(struct options *options, const struct setting *setting, const char *text,
	       const char *where, char message[OPTIONS_MESSAGE_SIZE])
{
	const char *problem = NULL;
	int r;

	r = setting->parse((char *)options + setting->offset, text, &problem);
	if (r < 0)
		snprintf(message, OPTIONS_MESSAGE_SIZE, "%.128s: %s", where,
			 r == -ENOMEM ? strerror(ENOMEM) : problem);
	return r;
}

/* ── file ───────────────────────────────────────────────────────────────────────────────────────── */

static char *strip(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static int read_line(struct options *options, char *line, const char *where,
		     char message[OPTIONS_MESSAGE_SIZE])
{
	const struct setting *setting;
	char *equals;
	char *key;

	line = strip(line);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals) {
		snprintf(message, OPTIONS_MESSAGE_SIZE, "%.128s: must read key = value", where);
		return -EINVAL;
	}
	*equals = '\0';
	key = strip(line);
	setting = find_setting(key, strlen(key));
	if (!setting || setting->is_flag) {
		snprintf(message, OPTIONS_MESSAGE_SIZE, "%.128s: there is no setting %.64s", where,
			 key);
		return -EINVAL;
	}
	return set(options, setting, strip(equals + 1), where, message);
}

static void closefilep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static int read_file(struct options *options, bool is_required, char message[OPTIONS_MESSAGE_SIZE])
{
	_cleanup_(closefilep) FILE *file = fopen(options->config, "re");
	_cleanup_free_ char *line = NULL;
	char where[OPTIONS_MESSAGE_SIZE];
	size_t capacity = 0;
	int number = 0;

	if (!file && errno == ENOENT && !is_required)
		return 0;
	if (!file) {
		int r = -errno;

		snprintf(message, OPTIONS_MESSAGE_SIZE, "%.128s: %s", options->config,
			 strerror(-r));
		return r;
	}
	while (getline(&line, &capacity, file) >= 0) {
		int r;

		snprintf(where, sizeof(where), "%.100s:%d", options->config, ++number);
		r = read_line(options, line, where, message);
		if (r < 0)
			return r;
	}
	if (!ferror(file))
		return 0;
	snprintf(message, OPTIONS_MESSAGE_SIZE, "%.128s: cannot be read", options->config);
	return -EIO;
}

/* ── environment and flags ──────────────────────────────────────────────────────────────────────── */

/* Value of SECGD_<NAME>; NULL: not there. */
static const char *find_variable(char *const *environment, const char *name, char ret_variable[64])
{
	size_t length = (size_t)snprintf(ret_variable, 64, "SECGD_%s", name);

	for (char *c = ret_variable; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	for (; *environment; environment++)
		if (!strncmp(*environment, ret_variable, length) && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static int read_environment(struct options *options, char *const *environment,
			    char message[OPTIONS_MESSAGE_SIZE])
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		char variable[64];
		const char *text = find_variable(environment, settings[i].name, variable);
		int r;

		if (!text || settings[i].is_flag)
			continue;
		r = set(options, &settings[i], text, variable, message);
		if (r < 0)
			return r;
	}
	return 0;
}

/* One flag, its value in the same word or the next. Sets *value NULL for a switch without one. */
static int split_flag(int argc, char *const *argv, int *index, size_t *ret_name_size,
		      const char **ret_value, char message[OPTIONS_MESSAGE_SIZE])
{
	const char *word = argv[*index];
	const struct setting *setting;
	size_t size;

	if (strncmp(word, "--", 2) || !word[2]) {
		snprintf(message, OPTIONS_MESSAGE_SIZE, "%.64s: is no flag, see --help", word);
		return -EINVAL;
	}
	size = strcspn(word + 2, "=");
	setting = find_setting(word + 2, size);
	if (!setting &&
	    (size != strlen(config_setting.name) || strncmp(word + 2, config_setting.name, size))) {
		snprintf(message, OPTIONS_MESSAGE_SIZE, "%.64s: there is no such flag, see --help",
			 word);
		return -EINVAL;
	}
	*ret_name_size = size;
	*ret_value = NULL;
	if (word[2 + size]) {
		*ret_value = word + 2 + size + 1;
	} else if (!setting || !setting->is_switch) {
		if (*index + 1 >= argc) {
			snprintf(message, OPTIONS_MESSAGE_SIZE, "%.64s: needs a value", word);
			return -EINVAL;
		}
		*ret_value = argv[++*index];
	}
	return 0;
}

/* With `only_config` looks for --config alone, which must be known before the file is read. */
static int read_flags(struct options *options, int argc, char *const *argv, bool only_config,
		      bool *has_config, char message[OPTIONS_MESSAGE_SIZE])
{
	for (int i = 1; i < argc; i++) {
		const struct setting *setting;
		char where[80];
		const char *word = argv[i];
		const char *value;
		size_t size;
		int r;

		r = split_flag(argc, argv, &i, &size, &value, message);
		if (r < 0)
			return r;
		setting = find_setting(word + 2, size);
		if (only_config != !setting)
			continue;
		snprintf(where, sizeof(where), "%.*s", (int)(2 + (size > 64 ? 64 : size)), word);
		r = set(options, setting ? setting : &config_setting, value ? value : "true", where,
			message);
		if (r < 0)
			return r;
		*has_config |= !setting;
	}
	return 0;
}

/* ── all together ───────────────────────────────────────────────────────────────────────────────── */

static int set_defaults(struct options *options)
{
	options->state_directory = strdup("/var/lib/secgd");
	options->run_directory = strdup("/run/secgd");
	options->bpffs = strdup("/sys/fs/bpf/secgd");
	options->without = strdup("");
	options->config = strdup(OPTIONS_CONFIG_FILE);
	options->max_sessions = 262144;
	options->table_memory_bytes = (uint64_t)64 << 20;
	options->log_level = LOG_INFO;
	if (!options->state_directory || !options->run_directory || !options->bpffs ||
	    !options->without || !options->config)
		return -ENOMEM;
	return 0;
}

/* Help is given whatever the file says. */
static bool asks(int argc, char *const *argv, const char *flag)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], flag))
			return true;
	return false;
}

static int read_all(struct options *options, int argc, char *const *argv, char *const *environment,
		    char message[OPTIONS_MESSAGE_SIZE])
{
	bool has_config = false;
	char variable[64];
	const char *text;
	int r;

	text = find_variable(environment, config_setting.name, variable);
	if (text) {
		r = set(options, &config_setting, text, variable, message);
		if (r < 0)
			return r;
		has_config = true;
	}
	r = read_flags(options, argc, argv, true, &has_config, message);
	if (r < 0 || asks(argc, argv, "--help") || asks(argc, argv, "--version"))
		return r < 0 ? r : read_flags(options, argc, argv, false, &has_config, message);
	r = read_file(options, has_config, message);
	if (r < 0)
		return r;
	r = read_environment(options, environment, message);
	if (r < 0)
		return r;
	return read_flags(options, argc, argv, false, &has_config, message);
}

int options_parse(struct options *ret_options, int argc, char *const *argv,
		  char *const *environment, char message[OPTIONS_MESSAGE_SIZE])
{
	_cleanup_(options_fini) struct options options = {0};
	int r;

	r = set_defaults(&options);
	if (r < 0) {
		snprintf(message, OPTIONS_MESSAGE_SIZE, "%s", strerror(-r));
		return r;
	}
	r = read_all(&options, argc, argv, environment, message);
	if (r < 0)
		return r;
	if (!options.socket &&
	    asprintf(&options.socket, "%s/secgd.sock", options.run_directory) < 0) {
		options.socket = NULL;
		snprintf(message, OPTIONS_MESSAGE_SIZE, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	*ret_options = options;
	options = (struct options){0};
	return 0;
}

void options_fini(struct options *options)
{
	free(options->socket);
	free(options->state_directory);
	free(options->run_directory);
	free(options->bpffs);
	free(options->without);
	free(options->config);
	*options = (struct options){0};
}
