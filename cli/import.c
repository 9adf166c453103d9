/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl import: what another tool enforces as a policy file, and a list of what it cannot be. */
#include "import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "memory.h"
#include "options.h"
#include "slurp.h"
#include "value.h"
#include "yaml_print.h"

#define OPTION_MAP  OPTIONS_OWN
#define OPTION_HOST (OPTIONS_OWN + 1)

static const struct {
	const char *name;
	void (*run)(struct import *import);
} kinds[] = {
	{"neutron", import_neutron},
	{"ovn", import_ovn},
	{"vpp", import_vpp},
};
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

const char *import_mapped(const struct import *import, const char *name)
{
	return json_string_value(json_object_get(import->interfaces, name));
}

static int take_map(struct import *import, const char *value)
{
	const char *interface = strrchr(value, '=');
	_cleanup_free_ char *name = NULL;
	json_auto_t *utf8 = json_string(value);

	if (!utf8 || !interface || interface == value || !import_is_interface(interface + 1))
		return options_misuse(&verb_import,
				      "--map takes NAME=INTERFACE, such as vm1=tap0, not '%s'",
				      value);
	name = memory_format("%.*s", (int)(interface - value), value);
	import_put_text(import->interfaces, name, interface + 1);
	return OPTIONS_GO;
}

static int take(int letter, char *value, void *data)
{
	struct import *import = data;

	if (letter == OPTION_MAP)
		return take_map(import, value);
	import->host = value;
	return OPTIONS_GO;
}

static void add_file(struct import *import, const char *path, bool is_stdin)
{
	FILE *stream = is_stdin ? stdin : fopen(path, "re");
	struct import_file file = {.name = is_stdin ? "<stdin>" : path};

	if (!stream) {
		problems_add(&import->errors, path, 0, 0, "%s", strerror(errno));
		return;
	}
	file.bytes = slurp(stream, file.name, &import->errors, &file.size);
	if (!is_stdin)
		fclose(stream);
	if (!file.bytes)
		return;
	file.bytes = memory_check(realloc(file.bytes, file.size + 1));
	file.bytes[file.size] = '\0';
	import->files = memory_grow(import->files, import->file_count, &import->file_room,
				    sizeof(*import->files));
	import->files[import->file_count++] = file;
}

static void add_files(struct import *import, int count, char **paths)
{
	bool has_stdin = false;

	for (int i = 0; i < count; i++) {
		bool is_stdin = strcmp(paths[i], "-") == 0;

		if (is_stdin && has_stdin)
			problems_add(&import->errors, "-", 0, 0, "stdin can be read only once");
		else
			add_file(import, paths[i], is_stdin);
		has_stdin = has_stdin || is_stdin;
	}
	if (count == 0)
		add_file(import, "-", true);
}

static void print_document(const struct cli *cli, const struct import *import)
{
	json_auto_t *document = import_policy_document(&import->policy);

	if (cli->output == OUTPUT_JSON)
		value_print_json(document, stdout);
	else
		yaml_print(document, YAML_AS_IS, stdout);
}

static int run_kind(struct cli *cli, struct import *import, const char *name)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			if (import->errors.count == 0)
				kinds[i].run(import);
			if (import->errors.count > 0)
				break;
			print_document(cli, import);
			import_report_print(&import->left, stderr);
			return import->left.count > 0 ? CLI_DIFFERENCE : CLI_DONE;
		}
	}
	problems_print(&import->errors, import->positions, "sgctl: ", stderr);
	return CLI_REFUSED;
}

static bool is_kind(const char *name)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return true;
	}
	return false;
}

static void fini(struct import *import)
{
	for (size_t i = 0; i < import->file_count; i++)
		free(import->files[i].bytes);
	free(import->files);
	problems_fini(&import->errors);
	import_report_fini(&import->left);
	import_policy_fini(&import->policy);
	positions_free(import->positions);
	json_decref(import->interfaces);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option longs[] = {
		{"map", required_argument, NULL, OPTION_MAP},
		{"host", required_argument, NULL, OPTION_HOST},
		{0},
	};
	struct import import = {
		.positions = positions_new(),
		.interfaces = memory_check(json_object()),
	};
	const struct options own = {"", longs, take, &import};
	int index, r;

	import_policy_init(&import.policy);
	r = options_after(&index, cli, &verb_import, &own, argc, argv);
	if (r == OPTIONS_GO && index == argc)
		r = options_misuse(&verb_import, "import what? neutron, ovn or vpp");
	else if (r == OPTIONS_GO && !is_kind(argv[index]))
		r = options_misuse(&verb_import, "cannot import '%s'; neutron, ovn and vpp can be",
				   argv[index]);
	if (r == OPTIONS_GO) {
		add_files(&import, argc - index - 1, argv + index + 1);
		r = run_kind(cli, &import, argv[index]);
	}
	fini(&import);
	return r;
}

static void complete_import(struct cli *cli, size_t count, const char *const *words)
{
	(void)cli;
	(void)words;
	for (size_t i = 0; count == 2 && i < KIND_COUNT; i++)
		puts(kinds[i].name);
	if (count > 2)
		puts(":files");
}

const struct verb verb_import = {
	.name = "import",
	.summary = "turn the policy of Neutron, OVN or VPP into a policy file",
	.run = run,
	.complete = complete_import,
	.help = "sgctl import neutron|ovn|vpp [FILE…|-] [--map NAME=INTERFACE] [--host HOST] [-o yaml|json]\n"
		"\n"
		"Reads what another tool says of its own policy and writes a policy file to stdout; 'sgctl\n"
		"apply -f' takes it. Needs no daemon and changes nothing. Several files, or several outputs\n"
		"one after the other in one file, are one policy; what each of them is shows in its content.\n"
		"\n"
		"What the policy cannot say is listed on stderr, as FILE:LINE:COLUMN: what, and why; a rule\n"
		"that is listed is left out. Read that list: where a rule that drops is missing, more passes.\n"
		"Exits 0 if all is in the policy, 1 if something is listed, 2 if the files cannot be read.\n"
		"\n"
		"  --map NAME=INTERFACE  the interface of this host for a port of the source; repeatable\n"
		"  --host HOST           neutron: only ports bound to this host; the others are addresses\n"
		"\n"
		"neutron  answers of GET /v2.0/security-groups, /v2.0/security-group-rules, /v2.0/ports and\n"
		"         /v2.0/address-groups; or 'openstack security group rule list -f json' with\n"
		"         'openstack security group list -f json'. The interface of a port is tap and the\n"
		"         first 11 characters of its id.\n"
		"ovn      'ovn-nbctl --format=json --pretty list T' for the tables ACL, Logical_Switch,\n"
		"         Logical_Switch_Port, Port_Group, Address_Set, Meter, Meter_Band and NB_Global, or\n"
		"         'ovsdb-client -f json --pretty dump' of the northbound database; and 'ovs-vsctl\n"
		"         --format=json --pretty list Interface' of the host for the names of its interfaces.\n"
		"vpp      'vppctl show acl-plugin acl', '… interface', '… macip acl', '… macip interface' and\n"
		"         'vppctl show interface', or the commands that set them. --map gives the Linux\n"
		"         interface that takes the place of a VPP one, by its name or sw_if_index.\n"
		"\n"
		"docs/migrating.md says what the words of each tool become and what differs.\n",
};
