/* SPDX-License-Identifier: Apache-2.0 */
/* Judging the sessions of a policy that has changed. */
#include "engine/recheck.h"

#include <string.h>

#include "engine/internal.h"
#include "engine/member_delta.h"
#include "engine/table.h"
#include "engine/view.h"

#define CUT_CHUNK 4096 /* sessions noted before the array grows */

struct recheck {
	struct engine *engine;
	const struct generation *next;
	struct addrset members; /* that came or went */
	struct recheck_counts counts;
	struct dp_session *cut; /* to be ended: ending while listing would lose the place */
	size_t cut_count;
	size_t cut_capacity;
	bool is_trial;
	int r;
};

static void recheck_fini(struct recheck *recheck)
{
	addrset_fini(&recheck->members);
	free(recheck->cut);
}

/* The opener's packet as rules see it. */
static struct compile_packet packet_of(const struct dp_session *session)
{
	struct session_view view;
	struct compile_packet packet;

	view_set_tuple(&view, session);
	packet = (struct compile_packet){
		.family = view.family == 4 ? SECG_FAMILY_IPV4 : SECG_FAMILY_IPV6,
		.src = view.src,
		.dst = view.dst,
		.protocol = view.protocol,
		.has_l4 = view.has_ports || view.has_icmp_id,
		.high = view.has_icmp_id ? view.icmp_type : view.sport,
		.low = view.has_icmp_id ? view.icmp_code : view.dport,
	};
	return packet;
}

bool recheck_admits(const struct generation_port *entry, const struct dp_session *session)
{
	enum secg_direction opened =
		session->flow.s.state & SECG_FLOW_OPENED_TO ? SECG_TO : SECG_FROM;
	const struct block *policy = entry->policy[opened];
	const struct block *own = entry->own[opened];
	struct compile_verdict verdict = {.action = SECG_ACTION_NONE};
	struct compile_packet packet;

	if (entry->port->on_change != ON_CHANGE_RECHECK)
		return entry->port->on_change == ON_CHANGE_KEEP;
	if (policy) {
		packet = packet_of(session);
		verdict = compiled_recheck(policy->compiled, &packet,
					   own ? own_find(&own->tree, session->flow.s.rule) : 0);
	}
	if (verdict.action == SECG_ACTION_NONE)
		verdict.action = table_otherwise(entry, opened);
	return verdict.action == SECG_ACTION_ALLOW;
}

static int note_cut(struct recheck *recheck, const struct dp_session *session)
{
	if (recheck->cut_count == recheck->cut_capacity) {
		size_t capacity = recheck->cut_capacity ? recheck->cut_capacity * 2 : CUT_CHUNK;
		struct dp_session *grown =
			reallocarray(recheck->cut, capacity, sizeof(*recheck->cut));

		if (!grown)
			return -ENOMEM;
		recheck->cut = grown;
		recheck->cut_capacity = capacity;
	}
	recheck->cut[recheck->cut_count++] = *session;
	return 0;
}

/* Only members have changed, and the session is none of theirs. */
static bool is_spared(const struct recheck *recheck, const struct generation_port *entry,
		      const struct dp_session *session)
{
	struct compile_packet packet;
	uint8_t family;

	if (!entry->spares_others)
		return false;
	packet = packet_of(session);
	family = packet.family == SECG_FAMILY_IPV4 ? 4 : 6;
	return !addrset_has(&recheck->members, family, packet.src) &&
	       !addrset_has(&recheck->members, family, packet.dst);
}

static bool judge_one(const struct dp_session *session, void *data)
{
	struct recheck *recheck = data;
	const struct generation_port *entry =
		generation_find_id(recheck->next, session->flow.a.port);

	/* its port looks in another domain from now on, whatever the policy says */
	bool is_stranded = entry && session->key.domain != entry->domain;

	if (entry && !is_stranded &&
	    (entry->changed != recheck->next->number || is_spared(recheck, entry, session)))
		return true;
	if (entry && !is_stranded && recheck_admits(entry, session)) {
		recheck->counts.kept++;
		return true;
	}
	recheck->counts.cut++;
	if (!recheck->is_trial)
		recheck->r = note_cut(recheck, session);
	return recheck->r == 0;
}

static bool has_changed(const struct generation *next, const struct generation *live)
{
	const struct generation_port *entry;

	for (size_t i = 0; i < next->port_count; i++)
		if (next->ports[i].changed == next->number)
			return true;
	for (size_t i = 0; i < live->port_count; i++) {
		entry = generation_find_id(next, live->ports[i].id);
		if (!entry || entry->domain != live->ports[i].domain)
			return true;
	}
	return false;
}

int recheck_sessions(struct engine *engine, const struct generation *before,
		     const struct generation *next, bool is_trial,
		     struct recheck_counts *ret_counts)
{
	_cleanup_(recheck_fini) struct recheck recheck = {
		.engine = engine, .next = next, .is_trial = is_trial};
	int r;

	*ret_counts = (struct recheck_counts){0};
	if (!has_changed(next, before))
		return 0;
	r = member_delta_find(&recheck.members, before->config, next->config);
	if (r == 0)
		r = dp_sessions_each(engine->dp, 0, judge_one, &recheck);
	if (r == 0)
		r = recheck.r;
	for (size_t i = 0; i < recheck.cut_count; i++) {
		int deleted = dp_session_delete(engine->dp, &recheck.cut[i]);

		/* Gone by itself meanwhile: it has ended all the same. */
		if (deleted < 0 && deleted != -ENOENT && r == 0)
			r = deleted;
	}
	*ret_counts = recheck.counts;
	return r;
}
