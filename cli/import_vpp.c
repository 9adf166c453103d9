/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VPP: interfaces with lists of ACLs. Its input is what comes from the interface into VPP, `from` here;
 * its output leaves through the interface.
 */
#include "import_vpp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "value.h"

void vpp_left(struct vpp *vpp, const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list args;

	va_start(args, format);
	message = memory_vformat(format, args);
	va_end(args);
	import_report_add(&vpp->import->left, vpp->file, vpp->line, 1, "%s", message);
}

bool vpp_error(struct vpp *vpp, const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list args;

	va_start(args, format);
	message = memory_vformat(format, args);
	va_end(args);
	problems_add(&vpp->import->errors, vpp->file, vpp->line, 1, "%s", message);
	return false;
}

/* ── what the lines are about ───────────────────────────────────────────────────────────────────── */

void vpp_begin_acl(struct vpp *vpp, json_int_t index, const char *tag)
{
	struct import_policy *policy = &vpp->import->policy;
	_cleanup_free_ char *key = memory_format("%lld", (long long)index);
	_cleanup_free_ char *otherwise = memory_format("acl-%lld", (long long)index);
	_cleanup_free_ char *name = NULL;

	vpp->macip = NULL;
	if (index >= vpp->next_index)
		vpp->next_index = index + 1;
	vpp->acl = json_object_get(vpp->acls, key);
	if (!vpp->acl) {
		name = import_name(policy->acls, tag, otherwise);
		vpp->acl = memory_check(json_pack("{s:s, s:s, s:[], s:i}", "name", name, "index",
						  key, "rules", "count", 0));
		import_put(vpp->acls, key, vpp->acl);
		if (tag[0] && strcmp(tag, name) != 0)
			import_put(policy->acls, name, json_pack("{s:s}", "description", tag));
		else
			import_put(policy->acls, name, json_object());
		import_put(json_object_get(policy->acls, name), "rules",
			   json_incref(json_object_get(vpp->acl, "rules")));
		return;
	}
	/* shown again, or replaced: the later one holds */
	json_array_clear(json_object_get(vpp->acl, "rules"));
	import_put(vpp->acl, "count", json_integer(0));
}

/* The interface that `show interface` gives this name; NULL: none. */
static json_t *find_named(const struct vpp *vpp, const char *name)
{
	json_t *interface;
	const char *key;

	json_object_foreach(vpp->interfaces, key, interface)
	{
		if (strcmp(value_member(interface, "name"), name) == 0)
			return interface;
	}
	return NULL;
}

void vpp_begin_interface(struct vpp *vpp, json_int_t index, const char *name)
{
	_cleanup_free_ char *key =
		name && index < 0 ? memory_copy(name) : memory_format("%lld", (long long)index);

	vpp->acl = vpp->macip = NULL;
	vpp->interface = json_object_get(vpp->interfaces, key);
	if (!vpp->interface && name && index < 0)
		vpp->interface = find_named(vpp, name);
	if (!vpp->interface) {
		vpp->interface = memory_check(json_object());
		import_put(vpp->interface, "file", json_integer((json_int_t)vpp->file_index));
		import_put(vpp->interface, "line", json_integer(vpp->line));
		import_put(vpp->interfaces, key, vpp->interface);
	}
	if (name)
		import_put_text(vpp->interface, "name", name);
}

void vpp_add_numbers(struct vpp *vpp, const char *list, const char *text)
{
	_cleanup_free_ char *words = memory_copy(text);
	json_t *numbers = json_object_get(vpp->interface, list);
	char *save = NULL;

	if (!numbers) {
		numbers = memory_check(json_array());
		import_put(vpp->interface, list, numbers);
	}
	for (char *word = strtok_r(words, " ,", &save); word; word = strtok_r(NULL, " ,", &save))
		import_push_once(numbers, word);
}

/* ── lines ──────────────────────────────────────────────────────────────────────────────────────── */

/* Behind a prompt: "vpp# ", "DBGvpp# ", "vat# ", "$ sudo vppctl ". *ret_is_command says if there is one. */
static const char *skip_prompt(const char *line, bool *ret_is_command)
{
	static const char *const starts[] = {"sudo ", "vppctl ", "exec "};
	const char *at = line;
	size_t word = strcspn(at, " ");

	*ret_is_command = word > 0 && (at[word - 1] == '#' || at[word - 1] == '$');
	if (*ret_is_command)
		at += word + strspn(at + word, " ");
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (strncmp(at, starts[i], strlen(starts[i])) == 0) {
			at += strlen(starts[i]);
			at += strspn(at, " ");
			*ret_is_command = true;
		}
	}
	return at;
}

static void take_line(struct vpp *vpp, const char *line)
{
	bool is_command;
	const char *command = skip_prompt(line, &is_command);

	if (command[0] == '\0' || vpp_take_command(vpp, command))
		return;
	if (is_command)
		vpp_left(vpp, "this command does not set ACLs: %s", command);
	else if (!vpp_take_output(vpp, line))
		vpp_error(vpp, "is nothing that VPP shows of ACLs or interfaces, nor a command "
			       "that sets them");
}

static void take_file(struct vpp *vpp, const struct import_file *file)
{
	char *text = file->bytes, *end = file->bytes + file->size;

	vpp->file = file->name;
	vpp->file_index = (size_t)(file - vpp->import->files);
	vpp->line = 0;
	vpp->acl = vpp->macip = vpp->interface = NULL;
	if (file->size == 0)
		problems_add(&vpp->import->errors, file->name, 0, 0, "is empty");
	while (text < end) {
		char *feed = memchr(text, '\n', (size_t)(end - text));
		size_t size = (size_t)((feed ? feed : end) - text);

		vpp->line++;
		text[size] = '\0';
		for (size_t i = 0; i < size; i++) {
			if (text[i] == '\t' || text[i] == '\r' || text[i] == '\0')
				text[i] = ' ';
			else if ((unsigned char)text[i] >= 0x80)
				text[i] = '?'; /* VPP writes ASCII; JSON takes UTF-8 only */
		}
		while (size > 0 && text[size - 1] == ' ')
			text[--size] = '\0';
		take_line(vpp, text + strspn(text, " "));
		text = feed ? feed + 1 : end;
	}
}

/* ── ports ──────────────────────────────────────────────────────────────────────────────────────── */

/* Names of ACLs by their indices. */
static json_t *names_of(struct vpp *vpp, const json_t *numbers)
{
	json_t *names = memory_check(json_array());
	const json_t *number;
	size_t i;

	json_array_foreach(numbers, i, number)
	{
		const json_t *acl = json_object_get(vpp->acls, json_string_value(number));

		if (acl)
			import_push_once(names, value_member(acl, "name"));
		else
			vpp_left(vpp, "no file shows ACL %s, which it applies here",
				 json_string_value(number));
	}
	return names;
}

/* EtherTypes that pass beside IP, as an ACL in front of the others. */
static void add_types(struct vpp *vpp, json_t *names, const json_t *types)
{
	struct import_policy *policy = &vpp->import->policy;
	json_t *list, *acl, *other;
	_cleanup_free_ char *name = NULL;
	const json_t *type;
	const char *key;
	size_t i;

	if (json_array_size(types) == 0)
		return;
	list = memory_check(json_array());
	json_array_foreach(types, i, type)
	{
		_cleanup_free_ char *text = memory_format(
			"0x%04lx", strtoul(json_string_value(type), NULL, 16) & 0xffff);

		import_push_once(list, text);
	}
	acl = memory_check(json_pack("{s:[{s:s, s:s, s:o}]}", "rules", "id", "ethertypes", "action",
				     "allow-stateless", "ethertypes", list));
	json_object_foreach(policy->acls, key, other)
	{
		if (json_equal(other, acl)) {
			json_array_insert_new(names, 0, memory_check(json_string(key)));
			json_decref(acl);
			return;
		}
	}
	name = import_name(policy->acls, "ethertypes", "ethertypes");
	import_put(policy->acls, name, acl);
	json_array_insert_new(names, 0, memory_check(json_string(name)));
}

static void put_direction(struct vpp *vpp, json_t *port, const json_t *interface, bool is_output)
{
	const json_t *shown = json_object_get(interface, is_output ? "output" : "input");
	const json_t *applied =
		json_object_get(interface, is_output ? "applied_out" : "applied_in");
	json_t *names;

	if (!shown)
		shown = applied;
	if (json_array_size(shown) == 0)
		return;
	names = names_of(vpp, shown);
	add_types(vpp, names,
		  json_object_get(interface, is_output ? "output_types" : "input_types"));
	import_put(port, is_output ? "to" : "from", names);
}

static void put_macip(struct vpp *vpp, json_t *port, const json_t *interface)
{
	const json_t *numbers = json_object_get(interface, "macip");
	const json_t *macip;

	if (!numbers)
		numbers = json_object_get(interface, "macip_applied");
	if (json_array_size(numbers) == 0)
		return;
	macip = json_object_get(vpp->macips, json_string_value(json_array_get(numbers, 0)));
	if (macip)
		import_put_text(port, "macip", value_member(macip, "name"));
	else
		vpp_left(vpp, "no file shows MACIP list %s, which it applies here",
			 json_string_value(json_array_get(numbers, 0)));
}

/* The Linux interface that takes the place of VPP's; NULL: not known. */
static const char *linux_name(const struct vpp *vpp, const char *index, const char *name)
{
	const char *mapped = import_mapped(vpp->import, index);

	if (!mapped && name[0])
		mapped = import_mapped(vpp->import, name);
	if (!mapped && strncmp(name, "host-", 5) == 0 && import_is_interface(name + 5))
		mapped = name + 5;
	return mapped;
}

static void make_port(struct vpp *vpp, const char *index, const json_t *interface)
{
	struct import_policy *policy = &vpp->import->policy;
	const char *name = value_member(interface, "name");
	const char *own_interface = linux_name(vpp, index, name);
	json_auto_t *port = memory_check(json_object());
	_cleanup_free_ char *own = NULL;

	vpp->file = vpp->import->files[value_integer(interface, "file")].name;
	vpp->line = (uint32_t)value_integer(interface, "line");
	put_direction(vpp, port, interface, false);
	put_direction(vpp, port, interface, true);
	put_macip(vpp, port, interface);
	if (json_object_size(port) == 0)
		return;
	if (!own_interface) {
		vpp_left(vpp,
			 "interface %s%s: which Linux interface takes its place is not "
			 "known; give --map %s=INTERFACE",
			 name[0] ? name : "sw_if_index ", name[0] ? "" : index,
			 name[0] ? name : index);
		return;
	}
	own = import_name(policy->ports, name[0] ? name : own_interface, own_interface);
	import_put(policy->ports, own, json_pack("{s:s}", "interface", own_interface));
	json_object_update(json_object_get(policy->ports, own), port);
}

void import_vpp(struct import *import)
{
	struct vpp vpp = {
		.import = import,
		.acls = memory_check(json_object()),
		.macips = memory_check(json_object()),
		.interfaces = memory_check(json_object()),
	};
	const json_t *interface;
	const char *index;

	for (size_t i = 0; i < import->file_count; i++)
		take_file(&vpp, &import->files[i]);
	if (import->errors.count == 0) {
		json_object_foreach(vpp.interfaces, index, interface)
			make_port(&vpp, index, interface);
	}
	json_decref(vpp.acls);
	json_decref(vpp.macips);
	json_decref(vpp.interfaces);
}
