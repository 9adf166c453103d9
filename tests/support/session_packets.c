/* SPDX-License-Identifier: Apache-2.0 */
/* Random packets: new ones, and such as may belong to the flows that there are. */
#include <string.h>

#include "session_random.h"

#define PICK(rng, list) ((list)[rng_below((rng), sizeof(list) / sizeof((list)[0]))])

/* ── what a packet can be ───────────────────────────────────────────────────────────────────────── */

static enum ref_kind kind_of(uint8_t family, uint8_t type)
{
	switch (family << 8 | type) {
	case 4 << 8 | 8:
	case 4 << 8 | 13:
	case 6 << 8 | 128:
		return REF_QUERY;
	case 4 << 8 | 0:
	case 4 << 8 | 14:
	case 6 << 8 | 129:
		return REF_ANSWER;
	case 4 << 8 | 3:
	case 4 << 8 | 11:
	case 6 << 8 | 1:
	case 6 << 8 | 3:
		return REF_ERROR;
	default:
		return REF_ICMP_OTHER;
	}
}

static void make_icmp(struct rng *rng, struct ref_packet *packet)
{
	static const uint8_t types4[] = {8, 8, 13, 0, 14, 40}, types6[] = {128, 128, 129, 200};
	/* The second two look like the type and code of an echo request. */
	static const uint16_t ids[] = {7, 8 << 8, 128 << 8};

	packet->type = packet->family == 4 ? PICK(rng, types4) : PICK(rng, types6);
	packet->code = rng_chance(rng, 90) ? 0 : 1;
	packet->id = PICK(rng, ids);
	packet->kind = kind_of(packet->family, packet->type);
}

static uint8_t random_flags(struct rng *rng)
{
	static const uint8_t usual[] = {REF_SYN,           REF_SYN,        REF_SYN | REF_ACK,
					REF_SYN | REF_ACK, REF_ACK,        REF_ACK,
					REF_ACK,           REF_ACK | 0x08, REF_FIN | REF_ACK,
					REF_FIN | REF_ACK, REF_RST,        REF_RST | REF_ACK};

	return rng_chance(rng, 88) ? PICK(rng, usual) : (uint8_t)rng_below(rng, 64);
}

/* A number around one that is expected. */
static uint32_t around(struct rng *rng, uint32_t number)
{
	static const uint32_t steps[] = {
		0, 0, 0, 0, 1, 1000, (uint32_t)-1, (uint32_t)-5000, (64u << 20) - 1, 64u << 20};

	return rng_chance(rng, 90) ? number + PICK(rng, steps) : rng_next(rng);
}

static void make_packet(struct rng *rng, struct ref_packet *ret_packet)
{
	static const uint8_t protocols[] = {6, 6, 6, 6, 6, 6, 6, 17, 17, 1, 58, 1, 58, 132, 47, 99};
	static const uint16_t ports[] = {53, 80, 1000};
	struct ref_packet packet = {
		.family = rng_chance(rng, 50) ? 6 : 4,
		.proto = PICK(rng, protocols),
		.src = (int)rng_below(rng, REF_HOSTS),
	};

	packet.dst = (packet.src + 1 + (int)rng_below(rng, REF_HOSTS - 1)) % REF_HOSTS;
	if (secg_has_ports(packet.proto)) {
		packet.kind = REF_WITH_PORTS;
		packet.sport = PICK(rng, ports);
		packet.dport = PICK(rng, ports);
	}
	if (packet.proto == 6) {
		packet.flags = rng_chance(rng, 60) ? REF_SYN : random_flags(rng);
		packet.seq = rng_next(rng);
		packet.ack = rng_next(rng);
	}
	if (packet.proto == (packet.family == 4 ? 1 : 58))
		make_icmp(rng, &packet);
	*ret_packet = packet;
}

/* ── of a flow ──────────────────────────────────────────────────────────────────────────────────── */

static void turn(struct ref_packet *packet)
{
	struct ref_packet opener = *packet;

	packet->src = opener.dst;
	packet->dst = opener.src;
	packet->sport = opener.dport;
	packet->dport = opener.sport;
	if (packet->kind != REF_QUERY)
		return;
	packet->type = packet->type == 8 ? 0 : packet->type + 1;
	packet->kind = REF_ANSWER;
}

static void make_numbers(struct rng *rng, const struct ref_flow *flow, enum secg_side side,
			 struct ref_packet *packet)
{
	packet->flags = random_flags(rng);
	packet->seq = around(rng, flow->acked[side == SECG_ORIG ? SECG_REPLY : SECG_ORIG]);
	packet->ack = around(rng, flow->acked[side]);
	if (flow->again >= 0 && rng_chance(rng, 50))
		packet->ack = (rng_next(rng) & 0xffff0000) | flow->again_ack;
}

static int other_of_domain(const struct ref *ref, int port)
{
	for (int i = 0; i < REF_PORTS; i++)
		if (i != port && ref->ports[i].domain == ref->ports[port].domain)
			return i;
	return port;
}

static void packet_of_flow(struct rng *rng, const struct ref *ref, struct session_step *step)
{
	const struct ref_flow *flow = &ref->flows[rng_below(rng, (uint32_t)ref->count)];
	enum secg_side side = rng_chance(rng, 50) ? SECG_ORIG : SECG_REPLY;

	step->packet = flow->opener;
	step->port = rng_chance(rng, 80) ? flow->port : other_of_domain(ref, flow->port);
	step->direction = side == SECG_ORIG ? flow->opened : !flow->opened;
	if (side == SECG_REPLY)
		turn(&step->packet);
	if (flow->opener.proto == 6)
		make_numbers(rng, flow, side, &step->packet);
	/* Seldom as it should not come. */
	if (rng_chance(rng, 3))
		step->direction = !step->direction;
	if (rng_chance(rng, 3))
		turn(&step->packet);
}

/* An error about a packet that may have gone the other way. */
static void error_about(struct rng *rng, struct session_step *step)
{
	static const uint8_t types[2][2] = {{3, 11}, {1, 3}};
	struct ref_packet error = {
		.family = step->packet.family,
		.proto = step->packet.family == 4 ? 1 : 58,
		.kind = REF_ERROR,
		.type = PICK(rng, types[step->packet.family == 6]),
		.src = (int)rng_below(rng, REF_HOSTS),
		.dst = rng_chance(rng, 85) ? step->packet.src : step->packet.dst,
		.inner = &step->inner,
	};

	if (error.src == error.dst)
		error.src = (error.src + 1) % REF_HOSTS;
	step->inner = step->packet;
	step->packet = error;
	if (rng_chance(rng, 90))
		step->direction = !step->direction;
}

void session_random_step(struct session_random *random, const struct ref *ref,
			 struct session_step *ret_step)
{
	struct rng *rng = &random->rng;

	memset(ret_step, 0, sizeof(*ret_step));
	if (ref->count && rng_chance(rng, 75)) {
		packet_of_flow(rng, ref, ret_step);
	} else {
		make_packet(rng, &ret_step->packet);
		ret_step->port = (int)rng_below(rng, REF_PORTS);
		ret_step->direction = rng_chance(rng, 50) ? SECG_TO : SECG_FROM;
	}
	if (rng_chance(rng, 10))
		error_about(rng, ret_step);
}

/* ── as a frame ─────────────────────────────────────────────────────────────────────────────────── */

static size_t put_headers(const struct ref_packet *p, bool is_cut, struct layer *layer)
{
	layer[0] = (struct layer){
		.kind = p->family == 6 ? LAYER_IP6 : LAYER_IP4,
		.src = session_host(p->family, p->src),
		.dst = session_host(p->family, p->dst),
	};
	if (p->kind == REF_PLAIN)
		layer[1] = (struct layer)PROTO(p->proto);
	else if (p->kind != REF_WITH_PORTS)
		layer[1] = (struct layer){
			.kind = LAYER_ICMP,
			.type = p->proto,
			.icmp_type = p->type,
			.icmp_code = p->code,
			.id = p->id,
		};
	else if (p->proto == 6 && !is_cut)
		layer[1] = (struct layer)TCP(p->sport, p->dport, p->flags, .seq = p->seq,
					     .ack = p->ack);
	else
		layer[1] = (struct layer)PORTS(p->proto, !is_cut && p->proto == 132 ? 12 : 8,
					       p->sport, p->dport);
	return 2;
}

void session_layers(const struct ref_packet *packet, struct layer ret_layers[SESSION_LAYERS_MAX])
{
	size_t used = 1;

	ret_layers[0] = (struct layer)ETH;
	used += put_headers(packet, false, &ret_layers[used]);
	if (packet->inner)
		used += put_headers(packet->inner, true, &ret_layers[used]);
	ret_layers[used] = (struct layer)END;
}
