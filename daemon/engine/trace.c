/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: the packet made ready for its port, the run, the names of the answer. */
#include "engine/trace.h"

#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "dp/trace.h"
#include "engine/internal.h"

static const char *const session_names[] = {
	[SECG_TRACE_SESSION_FOUND] = "found",
	[SECG_TRACE_SESSION_RELATED] = "related",
	[SECG_TRACE_SESSION_CUT] = "cut",
};

static const char *const antispoof_names[] = {
	[SECG_TRACE_ANTISPOOF_OFF] = "off",
	[SECG_TRACE_ANTISPOOF_PASS] = "pass",
	[SECG_TRACE_ANTISPOOF_FAIL] = "fail",
};

/* ── the port ───────────────────────────────────────────────────────────────────────────────────── */

static int no_interface(const struct guard *guard, struct errors *reterr)
{
	const char *name = guard->entry->port->name;

	if (guard->state == PORT_FAILED)
		errors_add(reterr, ERROR_CONFLICT, "port",
			   "port %s does not guard interface %s: %s", name, guard->interface,
			   guard->message);
	else if (guard->state == PORT_AMBIGUOUS)
		errors_add(reterr, ERROR_CONFLICT, "port", "port %s guards no interface: %s", name,
			   guard->message);
	else
		errors_add(reterr, ERROR_CONFLICT, "port", "port %s waits for %s%s", name,
			   guard->interface[0] ? "interface " : "an interface that fits its match",
			   guard->interface);
	return -ENOLINK;
}

static int find_guard(const struct engine *engine, const char *name, const struct guard **ret_guard,
		      struct errors *reterr)
{
	const struct generation_port *entry = generation_find_port(engine->live, name);
	const struct guard *guard;

	if (!entry) {
		errors_add(reterr, ERROR_NOT_FOUND, "port", "there is no port %s", name);
		return -ENOENT;
	}
	guard = &engine->guards[entry - engine->live->ports];
	if (!port_state_is_attached(guard->state))
		return no_interface(guard, reterr);
	*ret_guard = guard;
	return 0;
}

/* ── the packet ─────────────────────────────────────────────────────────────────────────────────── */

static bool has_prefix_of(const struct macip_entry *entry, uint8_t family, addr_t address)
{
	for (size_t i = 0; i < entry->prefix_count; i++) {
		const struct prefix *prefix = &entry->prefixes[i];
		int shift = (family == 4 ? 32 : 128) - prefix->length;

		if (prefix->family == family &&
		    (!prefix->length || address >> shift == prefix->address >> shift))
			return true;
	}
	return false;
}

/* The MAC of the first entry that may send from the address, else of the first one; NULL: there is none. */
static const uint8_t *sender_mac(const struct port *port, uint8_t family, addr_t address)
{
	const struct macip_entry *lists[] = {port->addresses,
					     port->macip ? port->macip->entries : NULL};
	size_t counts[] = {port->address_count, port->macip ? port->macip->entry_count : 0};
	const uint8_t *first = NULL;

	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < counts[l]; i++) {
			const struct macip_entry *entry = &lists[l][i];

			if (has_prefix_of(entry, family, address))
				return entry->mac.value;
			first = first ? first : entry->mac.value;
		}
	return first;
}

/* On the interface's side its own address; on the other that of who may send, or somebody's. */
static void fill_macs(struct trace_request *request, const struct port *port,
		      const struct net_link *link)
{
	static const uint8_t somebody[6] = {0x02, 0, 0, 0, 0, 0x01};
	struct packet_spec *spec = &request->spec;
	bool is_from = request->direction == SECG_FROM;
	const uint8_t *sender = sender_mac(port, spec->family, spec->src);

	if (!request->has_src_mac)
		memcpy(spec->src_mac, !is_from ? link->mac : sender ? sender : somebody, 6);
	if (!request->has_dst_mac && !packet_group_mac(spec->dst_mac, spec->family, spec->dst))
		memcpy(spec->dst_mac, is_from ? link->mac : somebody, 6);
}

static int check_ethernet(const struct trace_request *request, const struct net_link *link,
			  struct errors *reterr)
{
	const char *field = request->has_src_mac       ? "src_mac"
			    : request->has_dst_mac     ? "dst_mac"
			    : request->spec.vlan_count ? "vlan"
						       : NULL;

	if (!field || net_link_has_ethernet(link))
		return 0;
	return errors_add(reterr, ERROR_BAD_VALUE, field,
			  "the packets of %s have no Ethernet header: leave it out", link->name);
}

/* The bytes of the request, made of its tuple where it gives none. */
static int make_packet(struct trace_request *request, const struct port *port,
		       const struct net_link *link, struct errors *reterr)
{
	bool has_ethernet = net_link_has_ethernet(link);
	int r;

	if (request->bytes) {
		request->size = packet_shorten(request->bytes, request->size, DP_TRACE_MAX_SIZE,
					       has_ethernet);
		return 0;
	}
	r = check_ethernet(request, link, reterr);
	if (r < 0)
		return r;
	request->bytes = malloc(PACKET_MAX_SIZE);
	if (!request->bytes)
		return -ENOMEM;
	request->spec.has_ethernet = has_ethernet;
	fill_macs(request, port, link);
	request->size = packet_build(request->bytes, &request->spec);
	return 0;
}

/* ── the answer ─────────────────────────────────────────────────────────────────────────────────── */

static int name_rule(const struct engine *engine, const struct secg_trace *told,
		     struct trace_result *result)
{
	const char *rule = rule_key(engine, told->rule);

	if (told->infra) {
		if (asprintf(&result->rule, "infra/%s", infra_bit_rows[told->infra - 1]) >= 0)
			return 0;
		result->rule = NULL;
		return -ENOMEM;
	}
	if (!rule)
		return 0;
	result->is_acl_rule = true;
	result->rule = strdup(rule);
	return result->rule ? 0 : -ENOMEM;
}

static bool is_rejected(const struct port *port, enum secg_direction direction,
			const struct secg_trace *told)
{
	return told->reason == SECG_REASON_RULE_REJECT ||
	       (told->reason == SECG_REASON_DEFAULT &&
		port->list[direction].otherwise == SECG_ACTION_REJECT);
}

static int fill_result(const struct engine *engine, const struct guard *guard,
		       enum secg_direction direction, const struct dp_trace *trace,
		       struct trace_result *result)
{
	const struct secg_trace *told = &trace->told;
	const struct dp_attachment *attachment = &guard->attachment;

	result->reason = (enum secg_reason)told->reason;
	result->is_rejected = is_rejected(guard->entry->port, direction, told);
	result->session = session_names[told->session];
	result->antispoof = antispoof_names[told->antispoof];
	result->would_create = told->would_create;
	result->generation = told->generation;
	memcpy(result->prog_tag, trace->prog_tag, DP_TAG_SIZE);
	memcpy(result->attached_tag,
	       direction == SECG_TO ? attachment->prog_tag_to : attachment->prog_tag, DP_TAG_SIZE);
	return name_rule(engine, told, result);
}

static int run_failed(int r, const struct trace_request *request, const struct guard *guard,
		      const char *message, struct errors *reterr)
{
	if (r == -ENODEV)
		return no_interface(guard, reterr);
	if (r == -EINVAL)
		return errors_add(reterr, ERROR_BAD_VALUE, "packet",
				  "%zu bytes are too few for the header that it begins",
				  request->size);
	log_error("trace: %s", message);
	return r;
}

int engine_trace(struct engine *engine, struct trace_request *request,
		 struct trace_result *ret_result, struct errors *reterr)
{
	_cleanup_(trace_result_fini) struct trace_result result = {0};
	char message[DP_MESSAGE_SIZE];
	const struct guard *guard = NULL;
	const struct net_link *link;
	struct dp_trace trace;
	int r;

	r = find_guard(engine, request->port, &guard, reterr);
	if (r < 0)
		return r;
	link = net_find_ifindex(engine->net, guard->ifindex);
	if (!link)
		return no_interface(guard, reterr);
	r = make_packet(request, guard->entry->port, link, reterr);
	if (r < 0)
		return r;
	r = dp_trace(engine->dp, guard->ifindex, request->direction, guard->attachment.is_xdp,
		     request->bytes, request->size, &trace, message);
	if (r < 0)
		return run_failed(r, request, guard, message, reterr);
	r = fill_result(engine, guard, request->direction, &trace, &result);
	if (r < 0)
		return r;
	*ret_result = result;
	result = (struct trace_result){0};
	return 0;
}

void trace_result_fini(struct trace_result *result)
{
	free(result->rule);
	*result = (struct trace_result){0};
}
