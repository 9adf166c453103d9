/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Fills a live frame and redirects it. Run by `generate` through BPF_PROG_RUN with
 * BPF_F_TEST_XDP_LIVE_FRAMES, never attached. The kernel hands the same pages again and again, with what
 * their last receiver wrote into them (a TTL, a tag): so every frame is written whole.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "generate.bpf.h"

#define AT_NONE 0xffff

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GENERATE_SHAPES_MAX);
	__type(key, __u32);
	__type(value, struct generate_shape);
} generate_shapes SEC(".maps");

/* What is asked for; set before the program is loaded. */
const volatile __u32 target_ifindex;
const volatile __u32 size_max; /* of the frame that the kernel is given */
const volatile __u32 slot_count = 1;
const volatile __u8 slots
	[GENERATE_SLOTS_MAX]; /* the shape of each slot: a size comes as often as it has slots */
const volatile __u8 is_random;
const volatile __u64 seed;
const volatile __u32 src, dst, sport, dport; /* of the first flow; addresses: lower 32 bits */
const volatile __u32 srcs = 1, dsts = 1, sports = 1, dports = 1; /* how many of each */

/* Where it stands in the frame, AT_NONE: nowhere. Identifiers are source ports (ICMP) or SPIs (ESP). */
const volatile __u32 at_ip_sum = AT_NONE, at_src, at_dst, at_sport = AT_NONE, at_dport = AT_NONE,
		     at_spi = AT_NONE, at_sequence = AT_NONE, at_sum = AT_NONE, at_number;

/* What was sent. */
__u64 sent;
__u64 sent_bytes;

static __always_inline __u32 put16(__u8 *at, __u32 value)
{
	__u16 word = bpf_htons(value);

	*(__u16 *)at = word;
	return word;
}

static __always_inline __u32 put32(__u8 *at, __u32 value)
{
	__u32 word = bpf_htonl(value);

	*(__u32 *)at = word;
	return (word & 0xffff) + (word >> 16);
}

static __always_inline __u16 fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* splitmix64: a number that looks like chance, the same for the same seed. */
static __always_inline __u64 mix(__u64 value)
{
	value = (value + seed) * 0x9e3779b97f4a7c15;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/* Destination ports vary fastest, sources slowest. Returns the sum of the addresses and of all. */
static __always_inline __u32 put_flow(__u8 *bytes, __u32 flow, __u32 *ret_addresses)
{
	__u32 sum = 0;

	if (at_dport != AT_NONE)
		sum += put16(bytes + at_dport, dport + flow % dports);
	flow /= dports;
	if (at_sport != AT_NONE)
		sum += put16(bytes + at_sport, sport + flow % sports);
	if (at_spi != AT_NONE)
		put32(bytes + at_spi, sport + flow % sports);
	flow /= sports;
	*ret_addresses = put32(bytes + at_dst, dst + flow % dsts);
	*ret_addresses += put32(bytes + at_src, src + flow / dsts % srcs);
	return sum + *ret_addresses;
}

static __always_inline void put_frame(struct generate_shape *shape, __u64 number, __u32 flow)
{
	__u8 *bytes = shape->bytes;
	__u32 addresses, sum = put_flow(bytes, flow, &addresses);

	if (at_ip_sum != AT_NONE)
		*(__u16 *)(bytes + at_ip_sum) = fold(shape->ip_sum + addresses);
	if (at_spi != AT_NONE && at_sequence != AT_NONE)
		put32(bytes + at_sequence, number + 1);
	else if (at_sequence != AT_NONE)
		sum += put16(bytes + at_sequence,
			     number); /* ICMP: not over the addresses in IPv4 */
	if (shape->has_room) {
		sum += put32(bytes + at_number, number >> 32);
		sum += put32(bytes + at_number + 4, number);
	}
	if (at_sum != AT_NONE) {
		__u16 checksum;

		if (at_sequence != AT_NONE && at_ip_sum != AT_NONE)
			sum -= addresses;
		checksum = fold(shape->sum + sum);
		*(__u16 *)(bytes + at_sum) = checksum ? checksum : 0xffff; /* UDP: zero is none */
	}
}

SEC("xdp")
int generate(struct xdp_md *ctx)
{
	__u64 number = sent, chance = is_random ? mix(number) : 0;
	__u32 flows = srcs * dsts * sports * dports, flow, slot, index, size;
	struct generate_shape *shape;

	/* In order, every flow meets every size in time, whatever their numbers have in common. */
	flow = is_random ? (__u32)chance % flows : number % flows;
	slot = (is_random ? chance >> 32 : number % flows + number / flows) % slot_count;
	index = slots[slot % GENERATE_SLOTS_MAX];
	shape = bpf_map_lookup_elem(&generate_shapes, &index);
	if (!shape)
		return XDP_ABORTED;
	put_frame(shape, number, flow);
	size = shape->size;
	if (size < 14 || size > GENERATE_SIZE_MAX)
		return XDP_ABORTED;
	if (size != size_max && bpf_xdp_adjust_tail(ctx, (int)size - (int)size_max))
		return XDP_ABORTED;
	if (bpf_xdp_store_bytes(ctx, 0, shape->bytes, size))
		return XDP_ABORTED;
	sent++;
	sent_bytes += size;
	return bpf_redirect(target_ifindex, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
