/* SPDX-License-Identifier: Apache-2.0 */
/* Layers to bytes: headers are written in order, lengths when the end is known. */
#include "packets.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LAYERS 32

struct builder {
	struct frame *frame;
	uint32_t start[MAX_LAYERS]; /* of each layer's header */
	uint32_t type_at;           /* where the layer before names what follows; 0: nowhere */
	uint32_t type_size;         /* 2: EtherType, 1: protocol */
	uint32_t end;               /* of what lengths count; 0: that of the frame */
};

static void die(const char *what)
{
	fprintf(stderr, "packets: %s\n", what);
	abort();
}

static uint8_t *append(struct builder *b, uint32_t size)
{
	uint8_t *at = b->frame->data + b->frame->size;

	if (b->frame->size + size > FRAME_MAX)
		die("the frame is too long");
	memset(at, 0, size);
	b->frame->size += size;
	return at;
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static void put_address(int family, const char *text, uint8_t *at)
{
	if (inet_pton(family, text, at) != 1)
		die(text);
}

static void put_mac(const char *text, uint8_t *at)
{
	unsigned int value[6];

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", &value[0], &value[1], &value[2], &value[3],
		   &value[4], &value[5]) != 6)
		die(text);
	for (int i = 0; i < 6; i++)
		at[i] = (uint8_t)value[i];
}

/* Number of a layer in an EtherType field, or in a protocol field. */
static uint32_t number_of(const struct layer *layer, uint32_t field_size)
{
	switch (layer->kind) {
	case LAYER_IP4:
		return field_size == 2 ? 0x0800 : 4;
	case LAYER_IP6:
		return field_size == 2 ? 0x86dd : 41;
	case LAYER_ARP:
		return layer->type ? layer->type : 0x0806;
	default:
		return layer->type;
	}
}

/* Tells the layer before what follows, and remembers where this one, about to be appended, says it:
 * `size` bytes at `field`; size 0: nowhere. */
static void chain(struct builder *b, const struct layer *layer, uint32_t field, uint32_t size)
{
	uint8_t *at = b->frame->data + b->type_at;

	if (b->type_at && b->type_size == 2)
		put16(at, number_of(layer, 2));
	else if (b->type_at)
		*at = (uint8_t)number_of(layer, 1);
	/* A field that is set by hand stays. */
	b->type_at = size && !layer->next ? b->frame->size + field : 0;
	b->type_size = size;
}

static void add_eth(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 12, 2);
	at = append(b, 14);
	put_mac(layer->to_mac ? layer->to_mac : "02:00:00:00:00:02", at);
	put_mac(layer->mac ? layer->mac : "02:00:00:00:00:01", at + 6);
	put16(at + 12, layer->next);
}

static void add_vlan(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 2, 2);
	at = append(b, 4);
	put16(at, layer->vid);
	put16(at + 2, layer->next);
}

static void add_arp(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 0, 0);
	at = append(b, 28);
	memcpy(at, "\x00\x01\x08\x00\x06\x04\x00\x01", 8);
	if (!layer->mac)
		return;
	at[7] = layer->flags;
	put_mac(layer->mac, at + 8);
	put_address(AF_INET, layer->src, at + 14);
	put_address(AF_INET, layer->dst, at + 24);
}

static void add_ip4(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 9, 1);
	at = append(b, 20u + layer->options);
	at[0] = (uint8_t)((layer->version ? layer->version : 4) << 4 |
			  (layer->ihl ? layer->ihl : 5 + layer->options / 4));
	at[1] = layer->tos;
	put16(at + 4, layer->id);
	put16(at + 6, layer->offset | (layer->more ? 0x2000u : 0));
	at[8] = layer->ttl ? layer->ttl : 64;
	at[9] = (uint8_t)layer->next;
	put_address(AF_INET, layer->src, at + 12);
	put_address(AF_INET, layer->dst, at + 16);
	memset(at + 20, 1, layer->options);
}

static void add_ip6(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 6, 1);
	at = append(b, 40);
	at[0] = (uint8_t)((layer->version ? layer->version : 6) << 4 | layer->tos >> 4);
	at[1] = (uint8_t)(layer->tos << 4);
	at[6] = (uint8_t)layer->next;
	at[7] = layer->ttl ? layer->ttl : 64;
	put_address(AF_INET6, layer->src, at + 8);
	put_address(AF_INET6, layer->dst, at + 24);
}

static void add_extension(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 0, 1);
	at = append(b, 8u + 8u * layer->options);
	at[0] = (uint8_t)layer->next;
	at[1] = layer->options;
	if (layer->kind == LAYER_AH)
		at[1] = (uint8_t)(2 * layer->options); /* units of 4, less 2 */
	if (layer->kind == LAYER_FRAGMENT) {
		at[1] = 0;
		put16(at + 2, layer->offset * 8u | layer->more);
		put32(at + 4, layer->id);
	}
}

static void add_tcp(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 0, 0);
	at = append(b, 20u + layer->options);
	put16(at, layer->sport);
	put16(at + 2, layer->dport);
	put32(at + 4, layer->seq);
	put32(at + 8, layer->ack);
	at[12] = (uint8_t)((layer->doff ? layer->doff : 5 + layer->options / 4) << 4);
	at[13] = layer->flags;
	put16(at + 14, 65535);
}

static void add_ports(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 0, 0);
	at = append(b, layer->size);
	put16(at, layer->sport);
	put16(at + 2, layer->dport);
}

static void add_icmp(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	chain(b, layer, 0, 0);
	at = append(b, 8);
	at[0] = layer->icmp_type;
	at[1] = layer->icmp_code;
	put16(at + 4, layer->id);
}

/* Type, length in units of 8, a MAC. */
static void add_option(struct builder *b, const struct layer *layer)
{
	uint8_t *at = append(b, layer->size ? layer->size : 8);

	at[0] = layer->icmp_type;
	at[1] = layer->no_length ? 0 : (uint8_t)(layer->length ? layer->length : 1);
	put_mac(layer->mac, at + 2);
}

static void add_raw(struct builder *b, const struct layer *layer)
{
	uint8_t *at;

	if (layer->type)
		chain(b, layer, 0, 0);
	at = append(b, layer->size);
	if (layer->bytes)
		memcpy(at, layer->bytes, layer->size);
	else
		memset(at, 0xa5, layer->size);
}

static void add_layer(struct builder *b, const struct layer *layer)
{
	switch (layer->kind) {
	case LAYER_ETH:
		add_eth(b, layer);
		break;
	case LAYER_VLAN:
		add_vlan(b, layer);
		break;
	case LAYER_ARP:
		add_arp(b, layer);
		break;
	case LAYER_LLC:
		b->type_at = 0;
		memcpy(append(b, 3), layer->bytes, 3);
		break;
	case LAYER_IP4:
		add_ip4(b, layer);
		break;
	case LAYER_IP6:
		add_ip6(b, layer);
		break;
	case LAYER_EXTENSION:
	case LAYER_AH:
	case LAYER_FRAGMENT:
		add_extension(b, layer);
		break;
	case LAYER_TCP:
		add_tcp(b, layer);
		break;
	case LAYER_PORTS:
		add_ports(b, layer);
		break;
	case LAYER_ICMP:
		add_icmp(b, layer);
		break;
	case LAYER_ADDRESS:
		put_address(AF_INET6, layer->src, append(b, 16));
		break;
	case LAYER_OPTION:
		add_option(b, layer);
		break;
	case LAYER_RAW:
		add_raw(b, layer);
		break;
	case LAYER_PAD:
		b->end = b->frame->size;
		append(b, layer->size);
		break;
	case LAYER_CUT:
		if (layer->size > b->frame->size)
			die("less than nothing is left");
		b->end = b->frame->size;
		b->frame->size -= layer->size;
		break;
	case LAYER_END:
		break;
	}
}

/* The length field of a layer whose header starts at `start` and whose contents end at `end`. */
static void set_length(struct builder *b, const struct layer *layer, uint32_t start, uint32_t end)
{
	uint8_t *at = b->frame->data + start;
	uint32_t length = end - start;

	if (layer->kind == LAYER_IP6)
		length -= 40;
	length += (uint32_t)layer->adjust;
	if (layer->length)
		length = layer->length;
	if (layer->no_length)
		length = 0;
	if (layer->kind == LAYER_IP4)
		put16(at + 2, length);
	else if (layer->kind == LAYER_IP6)
		put16(at + 4, length);
	else if (layer->kind == LAYER_PORTS && (layer->type == 17 || layer->type == 136))
		put16(at + 4, length);
	else if (layer->kind == LAYER_LLC)
		put16(at - 2, length);
}

void frame_build(struct frame *ret_frame, const struct layer *layers)
{
	struct builder b = {.frame = ret_frame};
	size_t count = 0;

	ret_frame->size = 0;
	for (; layers[count].kind != LAYER_END; count++) {
		if (count == MAX_LAYERS)
			die("too many layers");
		b.start[count] = ret_frame->size;
		add_layer(&b, &layers[count]);
	}
	for (size_t i = 0; i < count; i++)
		set_length(&b, &layers[i], b.start[i], b.end ? b.end : ret_frame->size);
}
