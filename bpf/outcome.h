/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What became of a packet on its way through the steps of the verdict. Numbers only, for global functions. */
#ifndef SECG_BPF_OUTCOME_H
#define SECG_BPF_OUTCOME_H

#include "event.h"
#include "session.h"

__inline __u32 watch_of_rule(__u32 word)
{
	return word & SECG_RULE_NUMBER_MASK;
}

__inline __u32 watch_of_default(__u32 port, __u32 direction)
{
	return SECG_WATCH_DEFAULT | port << 1 | (direction & 1);
}

/* A session lets the packet pass, by the rule or default that opened it. */
__inline void outcome_of_session(struct outcome *o, const struct session *found)
{
	o->rule = found->flow->s.rule;
	if (!unlikely(found->word & SECG_FLOW_WATCHED))
		return;
	o->action = SECG_ACTION_ALLOW;
	o->what |= TELL_RULE;
	o->watch = watch_of_rule(o->rule);
	if (!o->watch)
		o->watch = watch_of_default(found->flow->a.port,
					    !!(found->word & SECG_FLOW_OPENED_TO));
}

/* Rounded up, as the port's timeouts; half the range of ticks at most. */
__inline __u32 ticks_of(__u32 seconds, __u32 ticks_q8)
{
	__u64 ticks = (((__u64)seconds * ticks_q8) >> 8) + 1;

	return ticks > 0x7fffffff ? 0x7fffffff : ticks;
}

/* `watch` is 0 where nothing is told. */
__inline void keepsake_of(struct keepsake *kept, __u32 timeout_s, __u32 watch, __u32 ticks_q8)
{
	const struct secg_watch *told;

	kept->flags = timeout_s ? SECG_FLOW_OWN_TIMEOUT : 0;
	kept->timeout = timeout_s ? ticks_of(timeout_s, ticks_q8) : 0;
	told = watch ? bpf_map_lookup_elem(&secg_watch, &watch) : 0;
	if (told && (told->log_all || told->sample[1]))
		kept->flags |= SECG_FLOW_WATCHED;
}

/* A rule or the default drops it. */
__inline int is_refused(__u32 reason)
{
	return reason == SECG_REASON_DEFAULT || reason == SECG_REASON_RULE_DROP ||
	       reason == SECG_REASON_RULE_REJECT;
}

/* Tells of the packet what there is to tell: its rule's log and samples, audit, a reject, an odd drop. */
__inline void outcome_tell(const struct outcome *o, struct hook_context *ctx, const struct guard *g,
			   const struct packet *p, const struct arrival *arrival)
{
	__u32 what = o->what | (o->reason && !is_refused(o->reason) ? TELL_DROP : 0);
	struct scratch *scratch;

	if (!unlikely(what) || is_traced())
		return;
	scratch = scratch_get();
	if (!scratch)
		return;
	scratch->tell = (struct tell){
		.what = what,
		.watch = o->watch,
		.rule = o->rule,
		.ifindex = arrival->ifindex,
		.length = arrival->length,
		.now = now_ticks(),
		.second = (g->ticks_q8 >> 8) + 1,
		.port = g->id,
		.direction = g->direction,
		.reason = o->reason,
		.action = o->action,
		.flags = (o->is_known ? SECG_EVENT_ESTABLISHED : 0) |
			 (arrival->is_l3 ? SECG_EVENT_L3 : 0),
	};
	HOOK(tell)(ctx, p);
}

#endif
