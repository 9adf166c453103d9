/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions and fragments in the maps: listed, aged, written back, forgotten. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "rig_internal.h"
#include "secg.skel.h"

static int hash_fd(const struct rig *rig, enum rig_where where)
{
	return bpf_map__fd(where == RIG_NEW ? rig->skel->maps.secg_new
					    : rig->skel->maps.secg_overflow);
}

static void delete_all(int fd, void *key)
{
	while (bpf_map_get_next_key(fd, NULL, key) == 0)
		if (bpf_map_delete_elem(fd, key) < 0 && errno != ENOENT)
			rig_die("delete: %m");
}

void rig_clear_sessions(struct rig *rig)
{
	struct secg_fragment_key fragment;
	struct secg_flow_key key;

	memset(rig->slots, 0, RIG_BUCKETS * SECG_WAYS * sizeof(*rig->slots));
	delete_all(hash_fd(rig, RIG_NEW), &key);
	delete_all(hash_fd(rig, RIG_OVERFLOWN), &key);
	delete_all(bpf_map__fd(rig->skel->maps.secg_fragments), &fragment);
}

/* ── listing ────────────────────────────────────────────────────────────────────────────────────── */

struct listing {
	struct rig_session *sessions;
	size_t count;
	size_t max;
};

static void list_add(struct listing *list, const struct rig_session *session)
{
	if ((session->flow.s.state & SECG_FLOW_PHASE_MASK) == SECG_FLOW_FREE)
		return;
	if (list->count < list->max)
		list->sessions[list->count] = *session;
	list->count++;
}

static void list_hash(struct rig *rig, struct listing *list, enum rig_where where)
{
	struct rig_session session = {.where = where};
	struct secg_flow_key key, *before = NULL;
	int fd = hash_fd(rig, where);

	while (bpf_map_get_next_key(fd, before, &key) == 0) {
		session.key = key;
		if (bpf_map_lookup_elem(fd, &key, &session.flow) == 0)
			list_add(list, &session);
		before = &key;
	}
}

size_t rig_sessions(struct rig *rig, struct rig_session *ret_sessions, size_t max)
{
	struct listing list = {.sessions = ret_sessions, .max = max};

	for (uint32_t i = 0; i < RIG_BUCKETS * SECG_WAYS; i++) {
		struct rig_session session = {
			.where = RIG_ESTABLISHED,
			.slot = i,
			.key = rig->slots[i].key,
			.flow = {.s = rig->slots[i].s, .a = rig->slots[i].a},
		};

		list_add(&list, &session);
	}
	list_hash(rig, &list, RIG_OVERFLOWN);
	list_hash(rig, &list, RIG_NEW);
	return list.count;
}

void rig_session_put(struct rig *rig, const struct rig_session *session)
{
	if (session->where == RIG_ESTABLISHED) {
		rig->slots[session->slot].s = session->flow.s;
		rig->slots[session->slot].a = session->flow.a;
	} else if (bpf_map_update_elem(hash_fd(rig, session->where), &session->key, &session->flow,
				       BPF_EXIST) < 0) {
		rig_die("write a session: %m");
	}
}

void rig_overflow_put(struct rig *rig, const struct secg_flow_key *key,
		      const struct secg_flow *flow)
{
	if (bpf_map_update_elem(hash_fd(rig, RIG_OVERFLOWN), key, flow, BPF_NOEXIST) < 0)
		rig_die("secg_overflow: %m");
}

void rig_age(struct rig *rig, int32_t ticks)
{
	static struct rig_session sessions[512];
	int fd = bpf_map__fd(rig->skel->maps.secg_fragments);
	size_t count = rig_sessions(rig, sessions, 512);
	static struct secg_fragment_key keys[512];
	struct secg_fragment_key *before = NULL;
	struct secg_fragment fragment;
	size_t fragments = 0;

	for (size_t i = 0; i < count && i < 512; i++) {
		sessions[i].flow.s.seen -= (uint32_t)ticks;
		rig_session_put(rig, &sessions[i]);
	}
	/* An update moves an entry to the front: whoever updates as he walks meets it again. */
	while (fragments < 512 && bpf_map_get_next_key(fd, before, &keys[fragments]) == 0)
		before = &keys[fragments++];
	for (size_t i = 0; i < fragments; i++) {
		if (bpf_map_lookup_elem(fd, &keys[i], &fragment) < 0)
			continue;
		fragment.seen -= (uint32_t)ticks;
		bpf_map_update_elem(fd, &keys[i], &fragment, BPF_EXIST);
	}
}

/* ── keys ───────────────────────────────────────────────────────────────────────────────────────── */

/* The order of endpoints as secg/flow.h defines it: words as stored, then the port as stored. */
static int compare_endpoints(const uint32_t a[4], uint16_t a_port, const uint32_t b[4],
			     uint16_t b_port)
{
	for (int i = 0; i < 4; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return a_port < b_port ? -1 : a_port > b_port;
}

struct secg_flow_key rig_key(struct rig *rig, const char *port, enum secg_direction direction,
			     uint8_t proto, const char *src, uint16_t sport, const char *dst,
			     uint16_t dport)
{
	struct secg_flow_key key = {.domain = (uint16_t)rig_port_id(rig, port), .proto = proto};
	int family = strchr(src, ':') ? AF_INET6 : AF_INET;
	uint32_t address[2][4] = {{0}};
	bool opener_is_1;

	if (inet_pton(family, src, address[0]) != 1 || inet_pton(family, dst, address[1]) != 1)
		rig_die("no addresses: %s, %s", src, dst);
	sport = htons(sport);
	dport = htons(dport);
	opener_is_1 = compare_endpoints(address[0], sport, address[1], dport) > 0;
	memcpy(key.addr[opener_is_1], address[0], 16);
	memcpy(key.addr[!opener_is_1], address[1], 16);
	key.port[opener_is_1] = sport;
	key.port[!opener_is_1] = dport;
	if ((direction == SECG_TO) != opener_is_1)
		key.flags |= SECG_KEY_PARITY;
	if (family == AF_INET6)
		key.flags |= SECG_KEY_IPV6;
	return key;
}

uint32_t rig_bucket(const struct rig *rig, const struct secg_flow_key *key)
{
	return secg_flow_hash(key, rig->selector[SECG_SELECTOR_SEED]) & (RIG_BUCKETS - 1);
}
