/* SPDX-License-Identifier: Apache-2.0 */
/* What the differential test has tried, and whether that proves anything. */
#ifndef SECG_TESTS_TALLY_H
#define SECG_TESTS_TALLY_H

#include "compile/policy.h"

#define TALLY_DIMENSIONS 8
#define TALLY_DEEP       512

struct tally {
	uint64_t pairs;
	uint64_t action[SECG_ACTION_REJECT + 1];
	uint64_t family[SECG_FAMILY_COUNT];
	uint64_t audited;
	uint64_t hook[2];   /* [1]: XDP */
	uint64_t not_first; /* decided by a rule that is not the first */
	uint64_t deep;      /* by one after TALLY_DEEP others */
	uint64_t probed;
	uint64_t decides[TALLY_DIMENSIONS][2]; /* without it the verdict is another; [1]: of ICMP */
	uint64_t policies, rules, counters;
	uint64_t wrong;
};

/* Counts a packet and what the reference says of it; into every fourth it looks deeper, by asking the
 * reference again without each dimension. */
void tally_pair(struct tally *tally, const struct port_list *list,
		const struct compile_packet *packet, const struct compile_verdict *verdict);
void tally_print(const struct tally *tally);
/* Prints the closing line. False: something differed, or fewer than 30 % of the pairs were decided by a
 * rule that is not the first. */
bool tally_judge(const struct tally *tally);

#endif
