/* SPDX-License-Identifier: Apache-2.0 */
/* Which way an answer goes. */
#include "engine/reject.h"

#include <netinet/in.h>
#include <string.h>

#include "engine/answer.h"
#include "engine/internal.h"

#define LATE_NS 1000000000ull /* who has waited longer has asked again */

/* Own address of the bridge: what it sends itself it does not forward to itself. */
static bool is_for_bridge(const struct net_link *bridge, const struct answer *answer)
{
	return answer->ip_at && !memcmp(bridge->mac, answer->bytes, sizeof(bridge->mac));
}

static const struct net_link *find_bridge(const struct engine *engine, int ifindex)
{
	const struct net_link *link = net_find_ifindex(engine->net, ifindex);
	const struct net_link *master =
		link && link->master ? net_find_ifindex(engine->net, link->master) : NULL;

	return master && !strcmp(master->kind, "bridge") ? master : NULL;
}

/* `is_beyond`: the receiver is on the far side of the port's interface. */
static int deliver(const struct engine *engine, int ifindex, bool is_beyond,
		   const struct answer *answer)
{
	const struct net_link *bridge;

	if (is_beyond)
		return inject_frame(engine->inject, ifindex, answer->ethertype, answer->bytes,
				    answer->size);
	bridge = find_bridge(engine, ifindex);
	if (bridge && answer->ip_at && !is_for_bridge(bridge, answer))
		return inject_frame(engine->inject, bridge->ifindex, answer->ethertype,
				    answer->bytes, answer->size);
	return inject_packet(engine->inject, ifindex, answer->bytes + answer->ip_at,
			     answer->size - answer->ip_at);
}

void reject_answer(struct engine *engine, const struct secg_event_reject *record, uint64_t now_ns)
{
	const struct secg_event *event = &record->event;
	struct answer answer;

	if (!engine->inject)
		return;
	if (event->time_ns + LATE_NS < now_ns || answer_reject(&answer, record) < 0)
		engine->answers.skipped++;
	else if (deliver(engine, (int)event->ifindex, event->direction == SECG_FROM, &answer) < 0)
		engine->answers.failed++;
	else
		engine->answers.sent++;
}

/* ── sessions ───────────────────────────────────────────────────────────────────────────────────── */

static void reset_end(struct engine *engine, const struct dp_session *session,
		      const struct net_link *link, enum secg_side side)
{
	const struct secg_flow *flow = &session->flow;
	bool is_opened_to = flow->s.state & SECG_FLOW_OPENED_TO;
	/* Who opens a session in direction from is beyond the port, and so is who answers the other kind. */
	bool is_beyond = (side == SECG_ORIG) == !is_opened_to;
	struct answer answer;

	if (answer_reset(&answer, &session->key, flow, side, net_link_has_ethernet(link)) < 0)
		return;
	if (deliver(engine, link->ifindex, is_beyond, &answer) < 0)
		engine->answers.failed++;
	else
		engine->answers.resets++;
}

void reject_reset(const struct dp_session *session, void *data)
{
	struct engine *engine = data;
	const struct secg_flow *flow = &session->flow;
	const struct net_link *link = NULL;

	if (!engine->inject || session->key.proto != IPPROTO_TCP ||
	    (flow->s.state & SECG_FLOW_PHASE_MASK) != SECG_FLOW_ESTABLISHED)
		return;
	if (flow->a.port >= engine->live->table_count ||
	    !(engine->live->table[flow->a.port].flags & SECG_PORT_RESET))
		return;
	for (size_t i = 0; i < engine->guard_count && !link; i++)
		if (engine->guards[i].entry->id == flow->a.port)
			link = net_find_ifindex(engine->net, engine->guards[i].ifindex);
	if (!link)
		return;
	reset_end(engine, session, link, SECG_ORIG);
	reset_end(engine, session, link, SECG_REPLY);
}
