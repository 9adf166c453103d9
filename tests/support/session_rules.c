/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of sessions: what rules match, which packets are of one flow. */
#include "session_reference.h"

bool ref_is_trackable(const struct ref_packet *packet)
{
	return packet->kind == REF_PLAIN || packet->kind == REF_WITH_PORTS ||
	       packet->kind == REF_QUERY;
}

static uint8_t type_of_query(const struct ref_packet *answer)
{
	if (answer->family == 6)
		return 128;
	return answer->type == 0 ? 8 : answer->type - 1;
}

bool ref_opens_same(const struct ref_packet *opener, const struct ref_packet *packet)
{
	if (opener->family != packet->family || opener->proto != packet->proto ||
	    opener->kind != packet->kind || opener->src != packet->src ||
	    opener->dst != packet->dst)
		return false;
	if (opener->kind == REF_WITH_PORTS)
		return opener->sport == packet->sport && opener->dport == packet->dport;
	if (opener->kind == REF_QUERY)
		return opener->id == packet->id && opener->type == packet->type &&
		       opener->code == packet->code;
	return true;
}

bool ref_turn_round(struct ref_packet *ret_opener, const struct ref_packet *packet)
{
	*ret_opener = *packet;
	ret_opener->src = packet->dst;
	ret_opener->dst = packet->src;
	ret_opener->sport = packet->dport;
	ret_opener->dport = packet->sport;
	if (packet->kind == REF_ANSWER) {
		ret_opener->kind = REF_QUERY;
		ret_opener->type = type_of_query(packet);
	}
	return packet->kind == REF_PLAIN || packet->kind == REF_WITH_PORTS ||
	       packet->kind == REF_ANSWER;
}

static bool shows(const struct ref_rule *rule, const struct ref_packet *packet)
{
	if (rule->proto >= 0 && rule->proto != packet->proto)
		return false;
	/* `icmp` is of IPv4, `icmpv6` of IPv6. */
	if ((rule->proto == 1 && packet->family != 4) || (rule->proto == 58 && packet->family != 6))
		return false;
	if (rule->src >= 0 && rule->src != packet->src)
		return false;
	if (rule->dst >= 0 && rule->dst != packet->dst)
		return false;
	if (rule->dport >= 0 && (packet->kind != REF_WITH_PORTS || rule->dport != packet->dport))
		return false;
	return rule->type < 0 || (packet->kind > REF_WITH_PORTS && rule->type == packet->type);
}

int ref_match(const struct ref_list *list, const struct ref_packet *packet)
{
	for (int i = 0; i < list->count; i++)
		if (shows(&list->rules[i], packet) &&
		    (!list->rules[i].is_syn ||
		     (packet->proto == SECG_PROTO_TCP && ref_tcp_opens(packet->flags))))
			return i;
	return -1;
}

int ref_match_session(const struct ref_list *list, const struct ref_packet *opener, int rule,
		      uint32_t birth)
{
	for (int i = 0; i < list->count; i++)
		if (shows(&list->rules[i], opener) &&
		    (!list->rules[i].is_syn || (i == rule && list->rules[i].birth == birth)))
			return i;
	return -1;
}

bool ref_tracks(const struct ref_list *list)
{
	for (int i = 0; i < list->count; i++)
		if (list->rules[i].action == SECG_ACTION_ALLOW)
			return true;
	return list->is_given && list->otherwise == SECG_ACTION_ALLOW;
}

enum secg_action ref_otherwise(const struct ref_port *port, enum secg_direction direction)
{
	if (port->list[direction].is_given)
		return port->list[direction].otherwise;
	return ref_tracks(&port->list[!direction]) ? SECG_ACTION_ALLOW
						   : SECG_ACTION_ALLOW_STATELESS;
}
