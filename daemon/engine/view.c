/* SPDX-License-Identifier: Apache-2.0 */
/* From struct dp_session to struct session_view, and the filters on it. */
#include "engine/view.h"

#include <arpa/inet.h>
#include <string.h>

static const char *state_name(uint8_t protocol, uint32_t state)
{
	bool is_tcp = protocol == IPPROTO_TCP;

	switch (state & SECG_FLOW_PHASE_MASK) {
	case SECG_FLOW_NEW:
		return is_tcp ? "half_open" : "one_way";
	case SECG_FLOW_CLOSING:
		return "closing";
	default:
		return is_tcp ? "established" : "two_way";
	}
}

static addr_t address_of(const struct secg_flow_key *key, int endpoint)
{
	addr_t address = 0;

	if (!(key->flags & SECG_KEY_IPV6))
		return ntohl(key->addr[endpoint][0]);
	for (int i = 0; i < 4; i++)
		address = address << 32 | ntohl(key->addr[endpoint][i]);
	return address;
}

static struct secg_counter counter_of(const struct secg_flow_account *account, enum secg_side side)
{
	return (struct secg_counter){.packets = account->packets[side],
				     .bytes = account->bytes[side]};
}

/* Ticks wrap; a packet of this very moment may carry a later one. */
static double seconds_since(uint32_t tick, const struct view_context *context)
{
	int32_t ticks = (int32_t)(context->now - tick);

	return ticks > 0 ? ticks / context->ticks_per_second : 0;
}

int view_opener(const struct dp_session *session)
{
	bool is_opened_to = session->flow.s.state & SECG_FLOW_OPENED_TO;

	/* parity = direction XOR endpoint of the opener (include/secg/flow.h) */
	return ((session->key.flags & SECG_KEY_PARITY) != 0) ^ is_opened_to;
}

void view_set_tuple(struct session_view *view, const struct dp_session *session)
{
	const struct secg_flow_key *key = &session->key;
	bool is_opened_to = session->flow.s.state & SECG_FLOW_OPENED_TO;
	int opener = view_opener(session);

	view->opened = is_opened_to ? SECG_TO : SECG_FROM;
	view->protocol = key->proto;
	view->family = key->flags & SECG_KEY_IPV6 ? 6 : 4;
	view->src = address_of(key, opener);
	view->dst = address_of(key, !opener);
	view->has_ports = secg_has_ports(key->proto);
	view->has_icmp_id = key->proto == IPPROTO_ICMP || key->proto == IPPROTO_ICMPV6;
	if (view->has_ports) {
		view->sport = ntohs(key->port[opener]);
		view->dport = ntohs(key->port[!opener]);
	}
	if (view->has_icmp_id) {
		view->icmp_id = ntohs(key->port[opener]);
		view->icmp_type = (uint8_t)(ntohs(key->port[!opener]) >> 8);
		view->icmp_code = (uint8_t)ntohs(key->port[!opener]);
	}
}

void view_fill(struct session_view *ret_view, const struct dp_session *session,
	       const struct view_context *context)
{
	const struct secg_flow_key *key = &session->key;
	const struct secg_flow *flow = &session->flow;
	uint32_t timeout = dp_flow_timeout(key, flow, context->timeout);
	struct session_view view = {
		.port = context->port,
		.domain = key->domain,
		.state = state_name(key->proto, flow->s.state),
		.rule = context->rule,
		.age_s = seconds_since(flow->a.created, context),
		.idle_s = seconds_since(flow->s.seen, context),
		.orig = counter_of(&flow->a, SECG_ORIG),
		.reply = counter_of(&flow->a, SECG_REPLY),
		.position = session->position,
	};

	view_set_tuple(&view, session);
	view.expires_s = timeout / context->ticks_per_second - view.idle_s;
	if (view.expires_s < 0)
		view.expires_s = 0;
	*ret_view = view;
}

/* ── filters ────────────────────────────────────────────────────────────────────────────────────── */

static bool is_in_prefix(const struct session_view *view, addr_t address,
			 const struct prefix *prefix)
{
	unsigned int bits = prefix->family == 4 ? 32 : 128;

	if (prefix->family == 0)
		return true;
	if (prefix->family != view->family)
		return false;
	/* A shift by all the bits of the type is undefined. */
	return prefix->length == 0 || (address ^ prefix->address) >> (bits - prefix->length) == 0;
}

static bool is_text(const char *wanted, const char *have)
{
	return !wanted || (have && strcmp(wanted, have) == 0);
}

/* "acl/rule", or the rule's id alone. */
static bool is_rule(const char *wanted, const char *rule)
{
	if (!wanted || !rule || strchr(wanted, '/'))
		return is_text(wanted, rule);
	return strcmp(wanted, strchr(rule, '/') + 1) == 0;
}

static bool is_acl(const char *wanted, const char *rule)
{
	size_t length = wanted ? strlen(wanted) : 0;

	if (!wanted)
		return true;
	return rule && strncmp(rule, wanted, length) == 0 && rule[length] == '/';
}

static bool is_number(int wanted, bool has, uint32_t have)
{
	return wanted < 0 || (has && (uint32_t)wanted == have);
}

bool view_matches(const struct session_view *view, const struct session_filter *filter)
{
	return is_text(filter->port, view->port) && is_rule(filter->rule, view->rule) &&
	       is_acl(filter->acl, view->rule) && is_text(filter->state, view->state) &&
	       is_number(filter->domain, true, view->domain) &&
	       is_number(filter->protocol, true, view->protocol) &&
	       is_number(filter->sport, view->has_ports, view->sport) &&
	       is_number(filter->dport, view->has_ports, view->dport) &&
	       is_in_prefix(view, view->src, &filter->src) &&
	       is_in_prefix(view, view->dst, &filter->dst);
}
