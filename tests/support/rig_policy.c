/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy document to table memory: parsed and compiled by the daemon's own code, laid out as
 * include/secg/policy.h says. Two halves of the table take turns; no program runs meanwhile.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <jansson.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/ids.h"
#include "compile/policy.h"
#include "model/config.h"
#include "rig_internal.h"
#include "secg.skel.h"

#define LINES_OF(bytes) (((bytes) + sizeof(struct secg_line) - 1) / sizeof(struct secg_line))
#define PORT_LINES      LINES_OF(sizeof(struct secg_port))

/* Room for one generation, from `next` on. */
struct half {
	struct secg_line *lines;
	uint32_t next;
	uint32_t limit;
};

static uint32_t place(struct half *half, const void *from, size_t bytes)
{
	uint32_t line = half->next;

	if (LINES_OF(bytes) > half->limit - line)
		rig_die("the policy does not fit into half the table");
	half->next += (uint32_t)LINES_OF(bytes);
	if (from)
		memcpy(&half->lines[line], from, bytes);
	else
		memset(&half->lines[line], 0, bytes);
	return line;
}

static struct config *parse(const char *document)
{
	_cleanup_(errors_fini) struct errors errs = {0};
	_cleanup_free_ char *text = strdup(document);
	struct config *config;
	json_error_t error;
	json_t *json;

	if (!text)
		rig_die("no memory");
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		rig_die("%s at %d: %s", error.text, error.position, text);
	if (config_parse(&config, json, NULL, &errs) < 0)
		rig_die("%s: %s", errs.count ? errs.items[0].field : "?",
			errs.count ? errs.items[0].message : "config_parse failed");
	json_decref(json);
	return config;
}

static struct compiled *compile(const struct port *port, const struct port_list *list)
{
	_cleanup_(errors_fini) struct errors errs = {0};
	struct compiled *compiled;

	if (!list->is_given || !list->acl_count)
		return NULL;
	if (compile_policy(&compiled, (const struct acl *const *)list->acls, list->acl_count,
			   port->is_audited, "port", &errs) < 0)
		rig_die("%s", errs.count ? errs.items[0].message : "compile_policy failed");
	return compiled;
}

/* An absent direction passes everything, tracked where replies of the other one hang on it. */
static void fill(struct rig_port *ret_port, const struct port *port)
{
	bool is_stateful[SECG_DIRECTIONS];

	*ret_port = (struct rig_port){.flags = SECG_PORT_VALID};
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		ret_port->policy[d] = compile(port, &port->list[d]);
		is_stateful[d] = ret_port->policy[d] && ret_port->policy[d]->is_stateful;
	}
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		enum secg_action action = port->list[d].otherwise;

		if (!port->list[d].is_given)
			action = is_stateful[!d] ? SECG_ACTION_ALLOW : SECG_ACTION_ALLOW_STATELESS;
		ret_port->otherwise[d] = (uint8_t)action;
		if (is_stateful[d] || action == SECG_ACTION_ALLOW)
			ret_port->flags |= SECG_PORT_STATEFUL;
	}
	if (port->is_tcp_strict)
		ret_port->flags |= SECG_PORT_TCP_STRICT;
	/* Kept sessions are looked up even where no rule tracks any more. */
	if (port->on_change == ON_CHANGE_KEEP)
		ret_port->flags |= SECG_PORT_KEEP | SECG_PORT_STATEFUL;
}

static bool is_same_policy(const struct compiled *a, const struct compiled *b)
{
	if (!a || !b)
		return a == b;
	if (a->line_count != b->line_count || a->rule_count != b->rule_count ||
	    memcmp(a->lines, b->lines, a->line_count * sizeof(*a->lines)) != 0)
		return false;
	for (size_t i = 0; i < a->rule_count; i++)
		if (strcmp(a->rule_keys[i], b->rule_keys[i]) != 0)
			return false;
	return true;
}

static bool is_same(const struct rig_port *a, const struct rig_port *b)
{
	return a->flags == b->flags &&
	       memcmp(a->otherwise, b->otherwise, sizeof(a->otherwise)) == 0 &&
	       is_same_policy(a->policy[SECG_FROM], b->policy[SECG_FROM]) &&
	       is_same_policy(a->policy[SECG_TO], b->policy[SECG_TO]);
}

/* Line of the counter indices of a direction's rules. */
static uint32_t place_counters(struct rig *rig, struct half *half, const char *port,
			       const struct compiled *compiled)
{
	uint32_t line = place(half, NULL, compiled->rule_count * sizeof(uint32_t));
	uint32_t *indices = half->lines[line].w;

	for (size_t i = 0; i < compiled->rule_count; i++) {
		_cleanup_free_ char *name = NULL;

		if (asprintf(&name, "%s\n%s", port, compiled->rule_keys[i]) < 0 ||
		    ids_get(rig->counter_ids, name, &indices[i]) < 0)
			rig_die("no counters are left");
	}
	return line;
}

static void place_port(struct rig *rig, struct half *half, uint32_t ports, uint32_t id,
		       const struct port *port)
{
	struct secg_port *to = (struct secg_port *)&half->lines[ports] + id;
	const struct rig_port *from = &rig->ports[id];

	to->flags = from->flags;
	to->policy_generation = from->generation;
	to->domain = (uint16_t)id;
	port_infra_masks(to->infra, port,
			 port->side == PORT_SIDE_HOST ? PORT_SIDE_HOST : PORT_SIDE_WORKLOAD);
	for (int i = 0; i < SECG_TIMEOUT_COUNT; i++)
		to->timeout[i] = RIG_TICKS_PER_SECOND *
				 (port->timeout_s[i] ? port->timeout_s[i] : timeout_default_s[i]);
	for (int d = 0; d < SECG_DIRECTIONS; d++) {
		const struct compiled *policy = from->policy[d];

		to->rules.otherwise[d] = from->otherwise[d];
		if (!policy)
			continue;
		to->rules.policy[d] =
			place(half, policy->lines, policy->line_count * sizeof(*policy->lines));
		to->rules.counters[d] = place_counters(rig, half, port->name, policy);
	}
}

static void drop_port(struct rig_port *port)
{
	for (int d = 0; d < SECG_DIRECTIONS; d++)
		if (port->policy[d])
			compiled_free(port->policy[d]);
	*port = (struct rig_port){0};
}

/* The port's new rules in place of its old ones; the generation moves when they differ. */
static uint32_t renew(struct rig *rig, const struct port *port)
{
	struct rig_port fresh;
	uint32_t id;

	if (ids_get(rig->port_ids, port->name, &id) < 0)
		rig_die("no port ids are left");
	fill(&fresh, port);
	fresh.generation = (uint32_t)rig->generation;
	if (rig->ports[id].generation && is_same(&rig->ports[id], &fresh))
		fresh.generation = rig->ports[id].generation;
	drop_port(&rig->ports[id]);
	rig->ports[id] = fresh;
	return id;
}

static void clear_ifindex(struct rig *rig)
{
	int far = bpf_map__fd(rig->skel->maps.secg_ifindex_far);
	uint32_t key;

	memset(rig->ifindex, 0, SECG_IFINDEX_SLOTS * sizeof(*rig->ifindex));
	while (bpf_map_get_next_key(far, NULL, &key) == 0)
		bpf_map_delete_elem(far, &key);
}

static void place_ifindex(struct rig *rig, uint32_t id, const struct port *port)
{
	uint32_t ifindex = if_nametoindex(port->interface);

	if (!ifindex)
		rig_die("no interface %s", port->interface);
	rig->ifindex[ifindex % SECG_IFINDEX_SLOTS] =
		(struct secg_ifindex){.ifindex = ifindex, .port = (uint16_t)id};
}

void rig_policy(struct rig *rig, const char *document)
{
	uint32_t half_lines =
		(bpf_map__max_entries(rig->skel->maps.secg_table) - SECG_ONES_LINES) / 2;
	struct config *config = parse(document);
	struct secg_root root = {
		.magic = SECG_MAGIC, .layout = SECG_LAYOUT, .port_count = RIG_PORTS};
	struct half half = {.lines = rig->lines};
	uint32_t ids[RIG_PORTS];

	root.generation = ++rig->generation;
	half.next = SECG_ONES_LINES + (uint32_t)(rig->generation & 1) * half_lines;
	half.limit = half.next + half_lines;
	root.ports = place(&half, NULL, RIG_PORTS * PORT_LINES * sizeof(struct secg_line));
	for (size_t i = 0; i < config->port_count; i++)
		ids[i] = renew(rig, &config->ports[i]);
	clear_ifindex(rig);
	for (size_t i = 0; i < config->port_count; i++) {
		place_port(rig, &half, root.ports, ids[i], &config->ports[i]);
		place_ifindex(rig, ids[i], &config->ports[i]);
	}
	if (rig->config)
		config_free(rig->config);
	rig->config = config;
	rig->selector[SECG_SELECTOR_ROOT] = place(&half, &root, sizeof(root));
}

void rig_clear(struct rig *rig)
{
	rig_clear_sessions(rig);
	rig_clear_counters(rig);
	rig->selector[SECG_SELECTOR_ROOT] = 0;
	clear_ifindex(rig);
	for (int i = 0; i < RIG_PORTS; i++)
		drop_port(&rig->ports[i]);
	if (rig->config)
		config_free(rig->config);
	rig->config = NULL;
}

uint32_t rig_port_id(struct rig *rig, const char *port)
{
	uint32_t id;

	if (ids_find(rig->port_ids, port, &id) < 0)
		rig_die("no port %s", port);
	return id;
}

struct secg_port *rig_port(struct rig *rig, const char *port)
{
	const struct secg_root *root = (const void *)&rig->lines[rig->selector[SECG_SELECTOR_ROOT]];

	return (struct secg_port *)&rig->lines[root->ports] + rig_port_id(rig, port);
}

void rig_set_l3(struct rig *rig, const char *interface)
{
	rig->ifindex[if_nametoindex(interface) % SECG_IFINDEX_SLOTS].flags |= SECG_IFINDEX_L3;
}

void rig_move_ifindex(struct rig *rig, const char *interface)
{
	uint32_t ifindex = if_nametoindex(interface);
	struct secg_ifindex *slot = &rig->ifindex[ifindex % SECG_IFINDEX_SLOTS];

	if (bpf_map_update_elem(bpf_map__fd(rig->skel->maps.secg_ifindex_far), &ifindex, slot,
				BPF_ANY) < 0)
		rig_die("secg_ifindex_far: %m");
	*slot = (struct secg_ifindex){.ifindex = ifindex + SECG_IFINDEX_SLOTS};
}
