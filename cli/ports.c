/* SPDX-License-Identifier: Apache-2.0 */
/* Ports as GET /v1/ports gives them. */
#include "ports.h"

#include <stdio.h>
#include <string.h>

#include "client.h"
#include "memory.h"
#include "value.h"

static bool is_default_allow(const json_t *port, const char *direction)
{
	const json_t *defaults = json_object_get(port, "default");
	const json_t *own = json_object_get(defaults, direction);

	return strcmp(value_member(own, "action"), "allow") == 0;
}

bool ports_is_open(const json_t *port, const char *direction)
{
	return !json_object_get(port, direction) || is_default_allow(port, direction);
}

char *ports_explain(const json_t *port, const char *direction)
{
	const json_t *acls = json_object_get(port, direction);
	_cleanup_free_ char *names = value_text(acls);

	if (!acls)
		return memory_format("'%s' is open: the port has no list of ACLs there", direction);
	if (is_default_allow(port, direction))
		return memory_format("no rule decides, and the default of '%s' is allow",
				     direction);
	if (json_array_size(acls) == 0 && names[0] == '\0')
		return memory_format("'%s' is closed: its list of ACLs is empty", direction);
	return memory_format("no rule of %s decides", names);
}

void ports_suggest(struct cli *cli, const char *name)
{
	json_auto_t *ports = NULL;
	const char *key;
	json_t *port;

	if (client_get(&ports, cli, "/v1/ports") != CLI_DONE || json_object_get(ports, name))
		return;
	json_object_foreach(ports, key, port)
	{
		if (strcmp(value_member(port, "interface"), name) != 0)
			continue;
		fputs("sgctl: the interface ", stderr);
		value_print_safe(name, stderr);
		fputs(" is guarded by port ", stderr);
		value_print_safe(key, stderr);
		fputc('\n', stderr);
	}
}
