/* SPDX-License-Identifier: Apache-2.0 */
/* What VPP was told: commands of vppctl and of its API test tool that make ACLs and apply them. */
#include <stdio.h>
#include <string.h>

#include "import_vpp.h"
#include "memory.h"

/* Behind the words, if the command begins with them; NULL if not. */
static const char *behind(const char *command, const char *words)
{
	size_t size = strlen(words);

	if (strncmp(command, words, size) != 0 || (command[size] && command[size] != ' '))
		return NULL;
	return command + size + strspn(command + size, " ");
}

static char *trimmed(const char *text, size_t size)
{
	while (size > 0 && *text == ' ') {
		text++;
		size--;
	}
	while (size > 0 && text[size - 1] == ' ')
		size--;
	return memory_format("%.*s", (int)size, text);
}

/* The last rule may end in "tag NAME". */
static char *take_tag(char *text)
{
	char *tag = strncmp(text, "tag ", 4) == 0 ? text : strstr(text, " tag ");
	char *name;

	if (!tag)
		return memory_copy("");
	name = trimmed(strstr(tag, "tag ") + 4, strlen(strstr(tag, "tag ") + 4));
	*tag = '\0';
	return name;
}

static void add_rules(struct vpp *vpp, const char *text)
{
	_cleanup_free_ char *rest = memory_copy(text);
	_cleanup_free_ char *tag = take_tag(rest);
	int index = -1, end = 0;
	const char *at = rest;

	if (sscanf(at, "index %d%n", &index, &end) == 1 || sscanf(at, "%d%n", &index, &end) == 1)
		at += end;
	vpp_begin_acl(vpp, index >= 0 ? index : vpp->next_index, tag);
	while (*at) {
		size_t size = strcspn(at, ",");
		_cleanup_free_ char *rule = trimmed(at, size);

		if (rule[0] && !vpp_add_rule(vpp, rule))
			return;
		at += size + (at[size] == ',');
	}
	vpp->acl = NULL;
}

/* "sw_if_index 2 input 0 1 output 2", "host-veth0 input acl 0", "… add input acl 0" */
static void apply(struct vpp *vpp, const char *text)
{
	_cleanup_free_ char *words = memory_copy(text);
	char *save = NULL, *word = strtok_r(words, " ", &save);
	const char *list = NULL;

	if (word && strcmp(word, "sw_if_index") == 0) {
		word = strtok_r(NULL, " ", &save);
		vpp_begin_interface(vpp, word ? atoi(word) : 0, NULL);
	} else if (word) {
		vpp_begin_interface(vpp, -1, word);
	}
	while (word && (word = strtok_r(NULL, " ", &save))) {
		if (strcmp(word, "input") == 0 || strcmp(word, "output") == 0)
			list = word;
		else if (strcmp(word, "del") == 0)
			vpp_left(vpp, "takes an ACL away again: import what VPP shows instead");
		else if (strspn(word, "0123456789") == strlen(word) && list)
			vpp_add_numbers(vpp, list, word);
		else if (strcmp(word, "add") != 0 && strcmp(word, "acl") != 0)
			vpp_error(vpp, "'%s' is not a word of this command", word);
	}
	vpp->interface = NULL;
}

bool vpp_take_command(struct vpp *vpp, const char *command)
{
	static const struct {
		const char *words;
		void (*take)(struct vpp *vpp, const char *rest);
	} commands[] = {
		{"acl_add_replace", add_rules},        {"set acl-plugin acl", add_rules},
		{"acl_interface_set_acl_list", apply}, {"acl_interface_add_del", apply},
		{"set acl-plugin interface", apply},
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *rest = behind(command, commands[i].words);

		if (rest) {
			commands[i].take(vpp, rest);
			return true;
		}
	}
	/* shows what the lines below it say */
	return behind(command, "show") || behind(command, "sh") || behind(command, "exec") ||
	       behind(command, "acl_dump") || behind(command, "acl_interface_list_dump");
}
