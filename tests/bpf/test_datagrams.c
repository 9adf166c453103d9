/* SPDX-License-Identifier: Apache-2.0 */
/* Whole datagrams of every size around a multiple of the MTU, cut into fragments as a sender cuts them. */
#include "check.h"
#include "flows.h"

#define MTU 1500

struct datagram {
	uint32_t id;
	uint32_t size; /* of the UDP datagram, header included */
	uint32_t room; /* of its bytes in a fragment but the last */
};

static void fragment_layers(struct layer layers[8], const struct datagram *d, uint32_t at,
			    bool is_reply)
{
	bool more = at + d->room < d->size;
	uint32_t bytes = more ? d->room : d->size - at;
	struct layer ip4 = IP4(is_reply ? B : A, is_reply ? A : B, .id = d->id,
			       .offset = (uint16_t)(at / 8), .more = more);
	struct layer ip6 = IP6(is_reply ? B6 : A6, is_reply ? A6 : B6);
	struct layer fragment =
		FRAG6(.id = d->id, .offset = (uint16_t)(at / 8), .more = more, .next = at ? 17 : 0);
	struct layer udp = UDP(1000, 53, .length = (uint16_t)d->size);
	size_t n = 0;

	if (is_reply) {
		udp.sport = 53;
		udp.dport = 1000;
	}
	if (at && family == 4)
		ip4.next = 17;
	layers[n++] = (struct layer)ETH;
	layers[n++] = family == 4 ? ip4 : ip6;
	if (family == 6)
		layers[n++] = fragment;
	if (!at) {
		layers[n++] = udp;
		bytes -= 8;
	}
	layers[n++] = (struct layer)RAW((uint16_t)bytes);
	layers[n] = (struct layer)END;
}

/* All fragments of a datagram meet the same reason, but the later ones of a refused one their own. */
static void send_datagram(uint32_t size, bool is_reply, enum secg_reason reason)
{
	static uint32_t id;
	struct datagram d = {
		.id = ++id & 0xffff,
		.size = size + 8,
		.room = (MTU - (family == 4 ? 20 : 48)) / 8 * 8,
	};
	struct rig_way way = {0};
	char what[64];

	/* What fits is not cut. */
	if (d.size <= MTU - (family == 4 ? 20u : 40u))
		return;
	for (uint32_t at = 0; at < d.size; at += d.room) {
		enum secg_reason expected = at && reason ? SECG_REASON_FRAG_VERDICT : reason;
		struct layer layers[8];

		fragment_layers(layers, &d, at, is_reply);
		snprintf(what, sizeof(what), "IPv%d, %u bytes, fragment at %u%s", family, size, at,
			 is_reply ? " of a reply" : "");
		expect_same(what, expected,
			    rig_judge(rig, is_reply ? back : out, &way, layers).reason, __FILE__,
			    __LINE__);
	}
}

/* acl/05: in steps of one byte; a last fragment of one byte as well. */
FOR_ALL(test_every_size)
{
	uint32_t room = (MTU - (family == 4 ? 20 : 48)) / 8 * 8;

	policy("{'id': 'r', 'action': 'allow', 'protocol': 'udp', 'dst_ports': 53}", "");
	for (uint32_t size = MTU - 120; size < MTU + 120; size++) {
		send_datagram(size, false, SECG_REASON_NONE);
		send_datagram(size, true, SECG_REASON_NONE);
	}
	for (uint32_t multiple = 2; multiple < 6; multiple++)
		for (uint32_t size = multiple * room - 40; size < multiple * room + 40; size++) {
			send_datagram(size, false, SECG_REASON_NONE);
			send_datagram(size, true, SECG_REASON_NONE);
		}
}

/* Nothing of a datagram passes whose first fragment is refused. */
FOR_ALL(test_no_size_of_a_refused_one)
{
	policy("{'id': 'r', 'action': 'allow', 'protocol': 'udp', 'dst_ports': 54}", "");
	for (uint32_t size = MTU - 60; size < MTU + 60; size++)
		send_datagram(size, false, SECG_REASON_DEFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_size),
		TEST(test_no_size_of_a_refused_one),
	};

	return RUN("datagrams", tests);
}
