/* SPDX-License-Identifier: Apache-2.0 */
/* What the differential test has tried. */
#include "tally.h"

#include <inttypes.h>
#include <stdio.h>

#include "reference.h"
#include "wire.h"

#define PROBE_EVERY 4

static const struct {
	uint32_t dimension;
	const char *name;
	const char *icmp_name;
} dimensions[TALLY_DIMENSIONS] = {
	{SECG_DIM_SRC, "source", "source"},
	{SECG_DIM_DST, "destination", "destination"},
	{SECG_DIM_PROTO, "protocol", "protocol"},
	{SECG_DIM_L4_HIGH, "source port", "ICMP type"},
	{SECG_DIM_L4_LOW, "destination port", "ICMP code"},
	{SECG_DIM_VLAN, "VLAN", NULL},
	{SECG_DIM_ETHERTYPE, "EtherType", NULL},
	{SECG_DIM_BYTES, "single bytes", NULL},
};

void tally_pair(struct tally *tally, const struct port_list *list,
		const struct compile_packet *packet, const struct compile_verdict *verdict)
{
	bool is_icmp = packet->has_l4 && !wire_has_ports(packet->protocol);

	tally->action[verdict->action]++;
	tally->family[packet->family]++;
	if (verdict->action) {
		tally->audited += !!(verdict->flags & SECG_ENTRY_AUDIT);
		tally->not_first += verdict->slot > 0;
		tally->deep += verdict->slot >= TALLY_DEEP;
	}
	if (tally->pairs++ % PROBE_EVERY)
		return;
	tally->probed++;
	for (int i = 0; i < TALLY_DIMENSIONS; i++) {
		struct compile_verdict other = reference_match_without(
			list->acls, list->acl_count, packet, dimensions[i].dimension, NULL);

		if (!other.action != !verdict->action ||
		    (other.action && other.slot != verdict->slot))
			tally->decides[i][is_icmp]++;
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void tally_print(const struct tally *t)
{
	printf("%" PRIu64 " pairs of %" PRIu64 " policies (%" PRIu64 " rules), %" PRIu64
	       " counters\n",
	       t->pairs, t->policies, t->rules, t->counters);
	printf("  decided by    allow %.1f %%, allow-stateless %.1f %%, drop %.1f %%, reject %.1f %%, "
	       "no rule %.1f %%; audited %.1f %%\n",
	       percent(t->action[SECG_ACTION_ALLOW], t->pairs),
	       percent(t->action[SECG_ACTION_ALLOW_STATELESS], t->pairs),
	       percent(t->action[SECG_ACTION_DROP], t->pairs),
	       percent(t->action[SECG_ACTION_REJECT], t->pairs),
	       percent(t->action[SECG_ACTION_NONE], t->pairs), percent(t->audited, t->pairs));
	printf("  family        IPv4 %.1f %%, IPv6 %.1f %%, not IP %.1f %%\n",
	       percent(t->family[SECG_FAMILY_IPV4], t->pairs),
	       percent(t->family[SECG_FAMILY_IPV6], t->pairs),
	       percent(t->family[SECG_FAMILY_OTHER], t->pairs));
	printf("  program       XDP %.1f %%, TC %.1f %%\n", percent(t->hook[1], t->pairs),
	       percent(t->hook[0], t->pairs));
	printf("  dimension     (without it another rule would decide)\n");
	for (int i = 0; i < TALLY_DIMENSIONS; i++) {
		uint64_t ports = t->decides[i][0], icmp = t->decides[i][1];

		if (dimensions[i].dimension & (SECG_DIM_L4_HIGH | SECG_DIM_L4_LOW))
			printf("    %-18s%.1f %%\n    %-18s%.1f %%\n", dimensions[i].name,
			       percent(ports, t->probed), dimensions[i].icmp_name,
			       percent(icmp, t->probed));
		else
			printf("    %-18s%.1f %%\n", dimensions[i].name,
			       percent(ports + icmp, t->probed));
	}
	printf("  not by the first rule %.1f %%, after %d rules %.1f %%\n",
	       percent(t->not_first, t->pairs), TALLY_DEEP, percent(t->deep, t->pairs));
}

bool tally_judge(const struct tally *t)
{
	if (t->wrong)
		printf("FAILED: %" PRIu64 " verdicts or counters differ\n", t->wrong);
	else if (percent(t->not_first, t->pairs) < 30)
		printf("FAILED: fewer than 30 %% of the pairs are decided by a rule that is not the first\n");
	else
		printf("passed\n");
	return !t->wrong && percent(t->not_first, t->pairs) >= 30;
}
