/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of packet and reason for tests of anti-spoof, and the port that they are sent from. */
#ifndef SECG_TESTS_ANTISPOOF_H
#define SECG_TESTS_ANTISPOOF_H

#include "check.h"

#define PASSES    SECG_REASON_NONE
#define MAC       SECG_REASON_SPOOF_MAC
#define IPA       SECG_REASON_SPOOF_IP
#define ARPS      SECG_REASON_SPOOF_ARP
#define ND        SECG_REASON_SPOOF_ND
#define RA        SECG_REASON_RA_GUARD
#define DHCP      SECG_REASON_DHCP_GUARD
#define EARLY     SECG_REASON_FRAG_EARLY
#define TINY      SECG_REASON_FRAG_TINY
#define MALFORMED SECG_REASON_MALFORMED

/* M1 may use A, A6 (pairs, which need no lookup) and two prefixes; any virtual router V, V6; BARE no address;
 * M2 nothing. */
#define M1   "02:00:00:00:00:01"
#define M2   "02:00:00:00:00:07"
#define VRRP "00:00:5e:00:01:2a"
#define BARE "02:00:00:00:00:0e"
#define V    "10.0.0.100"
#define V6   "2001:db8::100"
#define SENDERS                                                                           \
	"[{'mac': '02:00:00:00:00:01', 'ips': ['10.0.0.1', '2001:db8::1', '10.0.1.0/24'," \
	" '2001:db8:1::/64']}, {'mac': '00:00:5e:00:01:00/ff:ff:ff:ff:ff:00', 'ips':"     \
	" ['10.0.0.100', '2001:db8::100']}, {'mac': '02:00:00:00:00:0e', 'ips': []}]"

/* Link-local addresses that follow from the MACs. */
#define LL1 "fe80::ff:fe00:1"
#define LL2 "fe80::ff:fe00:7"
#define LLV "fe80::200:5eff:fe00:12a"
#define LLB "fe80::ff:fe00:e"

/* Sender and target of an ARP message whose head is bent: M1, A, nobody, B. */
#define ARP_BODY "\2\0\0\0\0\1\x0a\0\0\1\0\0\0\0\0\0\x0a\0\0\2"

struct row {
	const char *name;
	enum secg_reason reason;
	struct layer layers[9];
};

/* p1 lets everything pass that anti-spoof does; `fields` as in ", 'allow_ra': true". */
static inline void port(const char *fields)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{'acls': {'a': {'rules': [{'id': 'r', 'action': 'allow-stateless'}]}},"
		 " 'ports': {'p1': {'interface': 'p1', 'infrastructure': [], 'from': ['a'],"
		 " 'to': ['a'], 'addresses': %s%s}}}",
		 SENDERS, fields);
	rig_policy(rig, text);
}

/* The row's frame behind so many tags. */
static inline void row_run(const struct row *row, int tags, const char *file, int line)
{
	static const struct layer tag[] = {VLAN(5), VLAN_AD(6)};
	struct rig_way way = {.interface = interface};
	struct layer layers[12] = {row->layers[0]};
	char what[128];

	if (tags && row->layers[0].next) {
		layers[0].next = 0;
		layers[tags] = tag[tags - 1];
		layers[tags].next = row->layers[0].next;
		for (int i = 1; i < tags; i++)
			layers[i] = tag[i - 1];
	} else {
		for (int i = 0; i < tags; i++)
			layers[1 + i] = tag[i];
	}
	memcpy(layers + 1 + tags, row->layers + 1, sizeof(row->layers) - sizeof(row->layers[0]));
	snprintf(what, sizeof(what), "%s, %d tags", row->name, tags);
	expect_same(what, row->reason, rig_judge(rig, SECG_FROM, &way, layers).reason, file, line);
}

/* acl/16: tagged frames are checked like untagged. */
#define ROWS(rows) rows_run(rows, sizeof(rows) / sizeof((rows)[0]), __FILE__, __LINE__)
static inline void rows_run(const struct row *rows, size_t count, const char *file, int line)
{
	for (size_t i = 0; i < count; i++)
		for (int tags = 0; tags < 3; tags++)
			row_run(&rows[i], tags, file, line);
}

#endif
