/* SPDX-License-Identifier: Apache-2.0 */
/* What VPP shows: `show acl-plugin …`, `show interface`, and the dumps of its API test tool. */
#include <stdio.h>
#include <string.h>

#include "import_vpp.h"
#include "memory.h"

static bool begins(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

/* "acl-index 0 count 2 tag {web}", "MACIP acl_index: 0, count: 1 (true len 1) tag {l2} is free …" */
static char *tag_of(const char *line)
{
	const char *start = strstr(line, "tag {"), *end;

	if (!start)
		return memory_copy("");
	start += strlen("tag {");
	end = strrchr(start, '}');
	return memory_format("%.*s", (int)(end ? (size_t)(end - start) : strlen(start)), start);
}

static void begin_macip(struct vpp *vpp, int index, const char *line)
{
	_cleanup_free_ char *tag = tag_of(line);
	_cleanup_free_ char *key = memory_format("%d", index);
	_cleanup_free_ char *otherwise = memory_format("macip-%d", index);
	_cleanup_free_ char *name = NULL;

	vpp->acl = vpp->interface = NULL;
	if (!json_object_get(vpp->macips, key)) {
		name = import_name(vpp->import->policy.macip, tag, otherwise);
		import_put(vpp->macips, key,
			   json_pack("{s:s, s:s, s:[]}", "name", name, "index", key, "entries"));
	}
	vpp->macip = json_object_get(vpp->macips, key);
	import_put(vpp->import->policy.macip,
		   json_string_value(json_object_get(vpp->macip, "name")),
		   json_pack("{s:O}", "entries", json_object_get(vpp->macip, "entries")));
}

static bool take_acl(struct vpp *vpp, const char *line)
{
	const char *dump = strstr(line, "acl_index: ");
	_cleanup_free_ char *tag = tag_of(line);
	int index;

	if (sscanf(line, "acl-index %d count", &index) == 1) {
		vpp_begin_acl(vpp, index, tag);
	} else if (sscanf(line, "MACIP acl_index: %d", &index) == 1) {
		if (!strstr(line, "is free pool slot: 1"))
			begin_macip(vpp, index, line);
	} else if (begins(line, "vl_api_acl_details_t_handler:") && dump &&
		   sscanf(dump, "acl_index: %d", &index) == 1) {
		vpp_begin_acl(vpp, index, "");
	} else if (!begins(line, "tag {") || !vpp->acl) {
		return false;
	}
	return true;
}

static bool take_rule(struct vpp *vpp, const char *line)
{
	int number, end = 0;

	if (vpp->macip && sscanf(line, "rule %d: %n", &number, &end) == 1 && end > 0) {
		vpp_add_entry(vpp, line + end);
		return true;
	}
	if (!vpp->acl)
		return false;
	if (sscanf(line, "%d: ip%n", &number, &end) == 1 && end > 0) {
		vpp_add_rule(vpp, line + end - 2);
		return true;
	}
	if (begins(line, "ipv4 action ") || begins(line, "ipv6 action ")) {
		vpp_add_rule(vpp, line);
		return true;
	}
	return false;
}

/* "applied inbound on sw_if_index: 1, 2": only where the interfaces themselves are not shown. */
static bool take_applied(struct vpp *vpp, const char *line)
{
	bool is_output = begins(line, "applied outbound on sw_if_index:");
	bool is_macip = begins(line, "applied on sw_if_index(s):");
	const char *list = is_macip ? "macip_applied" : is_output ? "applied_out" : "applied_in";
	json_t *object = is_macip ? vpp->macip : vpp->acl;
	_cleanup_free_ char *numbers = NULL;
	char *save = NULL;

	if (!object ||
	    (!is_macip && !is_output && !begins(line, "applied inbound on sw_if_index:")))
		return false;
	numbers = memory_copy(strchr(line, ':') + 1);
	for (char *word = strtok_r(numbers, " ,", &save); word;
	     word = strtok_r(NULL, " ,", &save)) {
		json_t *acl = vpp->acl, *macip = vpp->macip;

		vpp_begin_interface(vpp, atoi(word), NULL);
		vpp_add_numbers(vpp, list, json_string_value(json_object_get(object, "index")));
		vpp->acl = acl;
		vpp->macip = macip;
	}
	return true;
}

static bool take_lists(struct vpp *vpp, const char *line)
{
	static const struct {
		const char *word, *list;
	} lists[] = {
		{"input acl(s):", "input"},
		{"output acl(s):", "output"},
		{"input etype whitelist:", "input_types"},
		{"output etype whitelist:", "output_types"},
		{"input ", "input"},
		{"output ", "output"},
	};

	if (strstr(line, "policy epoch:") || strstr(line, "lookup context index:"))
		return true;
	for (size_t i = 0; vpp->interface && i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (begins(line, lists[i].word)) {
			vpp_add_numbers(vpp, lists[i].list, line + strlen(lists[i].word));
			return true;
		}
	}
	return false;
}

/* "sw_if_index 1:" of ACLs, "sw_if_index 2: 0" of MACIP, "sw_if_index: 1, count: 1, n_input: 1". */
static bool take_interface(struct vpp *vpp, const char *line)
{
	const char *dump = strstr(line, "sw_if_index: ");
	int index, list, end = 0;

	if (sscanf(line, "sw_if_index %d: %d%n", &index, &list, &end) == 2 && line[end] == '\0') {
		_cleanup_free_ char *text = memory_format("%d", list);

		vpp_begin_interface(vpp, index, NULL);
		if (list >= 0)
			vpp_add_numbers(vpp, "macip", text);
		return true;
	}
	if (sscanf(line, "sw_if_index %d:%n", &index, &end) == 1 && end > 0 && line[end] == '\0') {
		vpp_begin_interface(vpp, index, NULL);
		return true;
	}
	if (begins(line, "vl_api_acl_interface_list_details_t_handler:") && dump &&
	    sscanf(dump, "sw_if_index: %d", &index) == 1) {
		vpp_begin_interface(vpp, index, NULL);
		return true;
	}
	return false;
}

/* "GigabitEthernet0/8/0  1  up  9000/0/0/0 …", with counters in the lines below. */
static bool take_shown_interface(struct vpp *vpp, const char *line)
{
	char name[128], state[8];
	int index;

	if (begins(line, "Name ") && strstr(line, " Idx "))
		return true;
	if (sscanf(line, "%127s %d %7s", name, &index, state) == 3 &&
	    (strcmp(state, "up") == 0 || strcmp(state, "down") == 0)) {
		vpp_begin_interface(vpp, index, name);
		return true;
	}
	return begins(line, "rx ") || begins(line, "tx ") || begins(line, "drops ") ||
	       begins(line, "punt ") || begins(line, "ip4 ") || begins(line, "ip6 ");
}

/* Numbers of tables, which say nothing of the policy. */
static bool is_internal(const char *line)
{
	return strstr(line, "table_index ") || begins(line, "used in lookup context index:") ||
	       begins(line, "vl_api_acl_add_replace_reply_t_handler:");
}

bool vpp_take_output(struct vpp *vpp, const char *line)
{
	return is_internal(line) || take_acl(vpp, line) || take_rule(vpp, line) ||
	       take_applied(vpp, line) || take_lists(vpp, line) || take_interface(vpp, line) ||
	       take_shown_interface(vpp, line);
}
