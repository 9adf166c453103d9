/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of the generator: a complete one for each size, those parts zero that its program writes. */
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "generate.h"

#define TPID_OUTER      0x88a8
#define ESP_HEADER_SIZE 8 /* SPI, sequence number */
#define LOW32           ((addr_t)UINT32_MAX)

static uint32_t transport_size(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? 20 : 8;
}

static struct generate_layout layout_of(const struct wire *wire)
{
	uint32_t ip = ETH_HLEN + 4 * wire->tags, l4 = ip + (wire->family == 4 ? 20 : 40);
	struct generate_layout layout = {
		.ip_sum = wire->family == 4 ? ip + 10 : 0,
		.src = wire->family == 4 ? ip + 12 : ip + 20,
		.dst = wire->family == 4 ? ip + 16 : ip + 36,
		.number = l4 + transport_size(wire->protocol),
	};

	switch (wire->protocol) {
	case IPPROTO_ESP:
		layout.spi = l4;
		layout.sequence = l4 + 4;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		layout.sport = l4 + 4;
		layout.sequence = l4 + 6;
		layout.sum = l4 + 2;
		break;
	default:
		layout.sport = l4;
		layout.dport = l4 + 2;
		layout.sum = l4 + (wire->protocol == IPPROTO_TCP ? 16 : 6);
		break;
	}
	return layout;
}

/* What the checksum at `at` was made from, as the program goes on adding to it. */
static uint16_t sum_at(const uint8_t *bytes, uint32_t at)
{
	uint16_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return at ? (uint16_t)~word : 0;
}

static void put_tags(uint8_t *bytes, const struct generate_options *options)
{
	for (unsigned int i = 0; i < options->wire.tags; i++) {
		uint8_t *tag = bytes + 12 + 4 * i;

		if (i + 1 < options->wire.tags) {
			tag[0] = TPID_OUTER >> 8;
			tag[1] = TPID_OUTER & 0xff;
		}
		tag[2] = (uint8_t)(options->vids[i] >> 8);
		tag[3] = (uint8_t)options->vids[i];
	}
}

static void build_shape(struct generate_shape *shape, const struct generate_options *options,
			const struct generate_layout *layout, uint32_t payload_size)
{
	uint8_t bytes[WIRE_MAX_SIZE], body[WIRE_MAX_SIZE] = {0};
	uint32_t head = options->wire.protocol == IPPROTO_ESP ? ESP_HEADER_SIZE : 0;
	struct wire wire = options->wire;

	/* Behind the number something that is not all alike. */
	for (uint32_t i = GENERATE_NUMBER; i < payload_size; i++)
		body[head + i] = (uint8_t)i;
	if (payload_size < GENERATE_NUMBER)
		memset(body + head, 0xa5, payload_size);
	wire.payload = body;
	wire.payload_size = head + payload_size;
	wire.src &= ~LOW32;
	wire.dst &= ~LOW32;
	wire.sport = 0;
	wire.dport = 0;
	wire.icmp_type = wire.family == 4 ? 8 : 128; /* echo request */
	shape->size = (uint32_t)wire_build(bytes, &wire);
	shape->sum = sum_at(bytes, layout->sum);
	shape->ip_sum = sum_at(bytes, layout->ip_sum);
	shape->has_room = payload_size >= GENERATE_NUMBER;
	put_tags(bytes, options);
	memcpy(shape->bytes, bytes, shape->size);
}

uint32_t generate_build(struct generate_shape shapes[GENERATE_SHAPES_MAX],
			struct generate_layout *ret_layout, const struct generate_options *options)
{
	struct generate_layout layout = layout_of(&options->wire);
	uint32_t max = 0;

	for (size_t i = 0; i < options->size_count; i++) {
		uint32_t payload = options->sizes[i].bytes;

		if (!options->is_payload)
			payload = payload > layout.number ? payload - layout.number : 0;
		if (layout.number + payload > GENERATE_SIZE_MAX)
			generate_die("--payload", "a frame would be longer than 3400 bytes");
		build_shape(&shapes[i], options, &layout, payload);
		if (shapes[i].size > max)
			max = shapes[i].size;
	}
	*ret_layout = layout;
	return max;
}
