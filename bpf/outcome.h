/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What became of a packet on its way through the steps of the verdict. */
#ifndef SECG_BPF_OUTCOME_H
#define SECG_BPF_OUTCOME_H

#include "event.h"

struct outcome {
	__u32 reason;
	__u32 rule;     /* word of the rule that decided or opened its session; 0: none */
	__u32 is_known; /* a session has decided */
	__u32 is_cut;   /* its session fell to a policy change: what drops it now is that */
	__u32 action;   /* enum secg_action of the rule or default that decided */
	__u32 what;     /* TELL_* */
};

/* Whether a drop is for another reason than a rule or the default. */
__inline int is_extraordinary(__u32 reason)
{
	return reason != SECG_REASON_NONE && reason != SECG_REASON_DEFAULT &&
	       reason != SECG_REASON_RULE_DROP && reason != SECG_REASON_RULE_REJECT;
}

/* Tells of the packet what there is to tell: its rule's log and samples, audit, an odd drop. */
__inline void outcome_tell(const struct outcome *o, struct hook_context *ctx, const struct guard *g,
			   const struct packet *p, const struct arrival *arrival)
{
	__u32 what = o->what | (is_extraordinary(o->reason) ? TELL_DROP : 0);
	struct scratch *scratch;

	if (!what || is_traced())
		return;
	scratch = scratch_get();
	if (!scratch)
		return;
	scratch->tell = (struct tell){
		.what = what,
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
