/* SPDX-License-Identifier: Apache-2.0 */
/* Connections, the ports they come through, what the rules say. */
#include "engine/ssh.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* ── one connection and one port ────────────────────────────────────────────────────────────────── */

static enum secg_action judge(const struct generation *generation,
			      const struct generation_port *entry, enum secg_direction direction,
			      const struct compile_packet *packet)
{
	const struct block *policy = entry->policy[direction];
	struct compile_verdict verdict = {.action = SECG_ACTION_NONE};

	if (policy)
		verdict = compiled_lookup(policy->compiled, packet);
	return verdict.action == SECG_ACTION_NONE
		       ? generation->table[entry->id].rules.otherwise[direction]
		       : verdict.action;
}

bool ssh_is_admitted(const struct generation *generation, const struct generation_port *entry,
		     const struct net_tcp *connection, enum secg_direction *ret_direction)
{
	struct compile_packet packet = {
		.family = connection->family == 4 ? SECG_FAMILY_IPV4 : SECG_FAMILY_IPV6,
		.src = connection->peer,
		.dst = connection->local,
		.protocol = IPPROTO_TCP,
		.has_l4 = true,
		.high = connection->peer_port,
		.low = connection->local_port,
	};
	enum secg_action in = judge(generation, entry, SECG_FROM, &packet);

	if (in == SECG_ACTION_DROP) {
		*ret_direction = SECG_FROM;
		return false;
	}
	/* A tracked connection brings its answers. */
	if (in == SECG_ACTION_ALLOW)
		return true;
	packet.src = connection->local;
	packet.dst = connection->peer;
	packet.high = connection->local_port;
	packet.low = connection->peer_port;
	if (judge(generation, entry, SECG_TO, &packet) != SECG_ACTION_DROP)
		return true;
	*ret_direction = SECG_TO;
	return false;
}

/* ── words ──────────────────────────────────────────────────────────────────────────────────────── */

static void find_free_name(struct ssh_cut *cut, const struct config *config)
{
	const char *base = cut->direction == SECG_FROM ? "ssh-in" : "ssh-out";

	snprintf(cut->acl, sizeof(cut->acl), "%s", base);
	for (unsigned int i = 2; config_find_acl(config, cut->acl); i++)
		snprintf(cut->acl, sizeof(cut->acl), "%s-%u", base, i);
}

static void describe(struct ssh_cut *cut, const struct generation_port *entry,
		     const struct net_tcp *connection)
{
	const struct prefix prefix = {
		.family = connection->family,
		.length = connection->family == 4 ? 32 : 128,
		.address = connection->peer,
	};
	const struct port_list *list = &entry->port->list[cut->direction];
	size_t length = 0;

	snprintf(cut->port, sizeof(cut->port), "%s", entry->port->name);
	prefix_format(cut->address, &prefix);
	snprintf(cut->peer, sizeof(cut->peer), connection->family == 4 ? "%.45s:%u" : "[%.45s]:%u",
		 cut->address, connection->peer_port);
	for (size_t i = 0; i < list->acl_count && length < sizeof(cut->lists); i++)
		length += (size_t)snprintf(cut->lists + length, sizeof(cut->lists) - length,
					   ",\"%s\"", list->acls[i]->name);
	if (length >= sizeof(cut->lists))
		cut->acl[0] = '\0';
}

void ssh_explain(char *text, size_t size, const struct ssh_cut *cut)
{
	snprintf(
		text, size,
		"the policy does not admit the SSH connection from %s%s: it is cut, or kept only "
		"until it is opened anew",
		cut->peer,
		cut->is_certain
			? ""
			: ", which may come in through this port or another of its bridge or bond");
}

int ssh_warn(json_t *warnings, const struct ssh_report *report)
{
	for (size_t i = 0; i < report->cut_count && i < SSH_CUT_MAX; i++) {
		char text[256];

		ssh_explain(text, sizeof(text), &report->cut[i]);
		if (json_array_append_new(warnings,
					  json_pack("{s:s, s:s+, s:s}", "code", "ssh_cut", "field",
						    "ports.", report->cut[i].port, "message",
						    text)) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ── all of them ────────────────────────────────────────────────────────────────────────────────── */

struct look {
	struct ssh_report *report;
	const struct generation *generation;
	const struct claims *claims;
	const struct net_devices *devices;
};

static void judge_at(const struct look *look, const struct net_tcp *connection,
		     const struct net_device *device, bool is_certain)
{
	struct ssh_report *report = look->report;

	for (size_t i = 0; i < look->generation->port_count; i++) {
		const struct generation_port *entry = &look->generation->ports[i];
		struct claim claim = claims_find(look->claims, entry->port);
		enum secg_direction direction;
		struct ssh_cut *cut;

		if (claim.state != CLAIM_ONE || claim.ifindex != device->link.ifindex ||
		    ssh_is_admitted(look->generation, entry, connection, &direction) ||
		    report->cut_count++ >= SSH_CUT_MAX)
			continue;
		cut = &report->cut[report->cut_count - 1];
		cut->is_certain = is_certain;
		cut->direction = direction;
		find_free_name(cut, look->generation->config);
		describe(cut, entry, connection);
	}
}

#define DEPTH_MAX 8 /* devices one on another; more is a circle */

/*
 * Packets for a device come in through what is below it: the one device under a VLAN, one of the members
 * of a bridge or bond, of which it is not known which.
 */
static void judge_below(const struct look *look, const struct net_tcp *connection, int ifindex,
			bool is_certain, int depth)
{
	const struct net_device *device = net_devices_find(look->devices, ifindex);

	if (!device || depth == DEPTH_MAX)
		return;
	judge_at(look, connection, device, is_certain);
	/* The lower device of a veth is its peer: not below, but behind. */
	if (device->lower && strcmp(device->link.kind, "veth") != 0)
		judge_below(look, connection, device->lower, is_certain, depth + 1);
	for (size_t i = 0; i < look->devices->count; i++)
		if (look->devices->items[i].link.master == ifindex)
			judge_below(look, connection, look->devices->items[i].link.ifindex, false,
				    depth + 1);
}

void ssh_look(struct ssh_report *ret_report, const struct generation *generation,
	      const struct claims *claims)
{
	_cleanup_free_ struct net_tcp *connections = NULL;
	_cleanup_(net_devices_fini) struct net_devices devices = {0};
	const struct look look = {ret_report, generation, claims, &devices};

	*ret_report = (struct ssh_report){0};
	connections = calloc(SSH_MAX, sizeof(*connections));
	if (!connections) {
		ret_report->error = -ENOMEM;
		return;
	}
	ret_report->error = net_tcp_established(SSH_PORT, connections, SSH_MAX, &ret_report->count);
	if (ret_report->error < 0 || ret_report->count == 0)
		return;
	ret_report->error = net_devices_read(&devices);
	if (ret_report->error < 0)
		return;
	for (size_t i = 0; i < ret_report->count && i < SSH_MAX; i++) {
		int ifindex = 0;

		if (net_tcp_interface(&connections[i], &ifindex) < 0)
			ret_report->unrouted++;
		else
			judge_below(&look, &connections[i], ifindex, true, 0);
	}
}
