/* SPDX-License-Identifier: Apache-2.0 */
/* From struct secg_event to JSON. */
#include "engine/record.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <secg/policy.h>
#include <secg/reason.h>

#include "model/addrset.h"
#include "model/l4_names.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define PROTOCOL_TCP   6

static const char *const reasons[SECG_REASON_COUNT] = {
#define REASON_LABEL(name, label, text) [SECG_REASON_##name] = label,
	SECG_REASONS(REASON_LABEL)
#undef REASON_LABEL
};

static const int types[SECG_EVENT_KINDS] = {
	-1,
	[SECG_EVENT_LOG] = EVENT_RULE_LOG,
	[SECG_EVENT_DROP] = EVENT_DROP,
	[SECG_EVENT_SAMPLE] = EVENT_SAMPLE,
	[SECG_EVENT_AUDIT] = EVENT_AUDIT,
	[SECG_EVENT_SESSION_FULL] = EVENT_SESSION_FULL,
	[SECG_EVENT_REJECT] = -1,
};

int record_type(const struct secg_event *event)
{
	return event->kind < SECG_EVENT_KINDS ? types[event->kind] : -1;
}

const char *record_reason(unsigned int reason)
{
	return reason < SECG_REASON_COUNT && reasons[reason] ? reasons[reason] : "unknown";
}

/* What is audited passes, whatever its reason would have been. */
static const char *verdict_of(const struct secg_event *event)
{
	if (event->kind == SECG_EVENT_AUDIT || event->reason == SECG_REASON_NONE)
		return "pass";
	return event->reason == SECG_REASON_RULE_REJECT || event->action == SECG_ACTION_REJECT
		       ? "reject"
		       : "drop";
}

static json_t *address_json(const __be32 word[4], bool is_ipv6)
{
	struct prefix host = {.family = is_ipv6 ? 6 : 4, .length = is_ipv6 ? 128 : 32};
	char text[PREFIX_STRING_SIZE];

	for (int i = 0; i < (is_ipv6 ? 4 : 1); i++)
		host.address = host.address << 32 | ntohl(word[i]);
	prefix_format(text, &host);
	return json_string(text);
}

static json_t *mac_json(const uint8_t mac[6])
{
	char text[18];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return json_string(text);
}

static json_t *protocol_json(uint8_t protocol)
{
	const char *name = protocol_name(protocol);
	char text[4];

	snprintf(text, sizeof(text), "%u", protocol);
	return json_string(name ? name : text);
}

static json_t *tcp_flags_json(uint8_t flags)
{
	char text[40] = "";
	size_t size = 0;

	for (int bit = 0; bit < TCP_FLAG_COUNT; bit++)
		if (flags & 1 << bit)
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s",
						 size ? "," : "", tcp_flag_names[bit]);
	return json_string(text);
}

static int add_number(json_t *fields, const char *name, uint64_t number)
{
	return json_object_set_new(fields, name, json_integer((json_int_t)number));
}

/* ── parts ──────────────────────────────────────────────────────────────────────────────────────── */

int record_add_rule(json_t *fields, const char *rule)
{
	int r = 0;

	if (!rule)
		return 0;
	r |= json_object_set_new(fields, "acl", json_stringn(rule, strcspn(rule, "/")));
	r |= json_object_set_new(fields, "rule", json_string(rule));
	return r;
}

static int add_frame(json_t *fields, const struct secg_event *event)
{
	char text[8];
	int r = 0;

	if (!(event->flags & SECG_EVENT_L3)) {
		r |= json_object_set_new(fields, "src_mac", mac_json(event->src_mac));
		r |= json_object_set_new(fields, "dst_mac", mac_json(event->dst_mac));
	}
	if (event->vlan)
		r |= add_number(fields, "vlan", event->vlan);
	if (event->ethertype != ETHERTYPE_IPV4 && event->ethertype != ETHERTYPE_IPV6) {
		snprintf(text, sizeof(text), "0x%04x", event->ethertype);
		r |= json_object_set_new(fields, "ethertype", json_string(text));
	}
	return r;
}

/* A later fragment has no ports, and what is malformed may have no addresses. */
static int add_packet(json_t *fields, const struct secg_event *event)
{
	bool is_ipv6 = event->ethertype == ETHERTYPE_IPV6;
	static const __be32 none[4];
	int r = 0;

	if (!is_ipv6 && event->ethertype != ETHERTYPE_IPV4)
		return 0;
	if (!memcmp(event->src, none, sizeof(none)) && !memcmp(event->dst, none, sizeof(none)))
		return 0;
	r |= json_object_set_new(fields, "proto", protocol_json(event->proto));
	r |= json_object_set_new(fields, "src", address_json(event->src, is_ipv6));
	r |= json_object_set_new(fields, "dst", address_json(event->dst, is_ipv6));
	if (protocol_has_ports(event->proto) && (event->sport || event->dport)) {
		r |= add_number(fields, "sport", ntohs(event->sport));
		r |= add_number(fields, "dport", ntohs(event->dport));
	}
	if (event->proto == PROTOCOL_TCP)
		r |= json_object_set_new(fields, "tcp_flags", tcp_flags_json(event->tcp_flags));
	if (event->proto == (is_ipv6 ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP)) {
		r |= add_number(fields, "icmp_type", event->icmp_type);
		r |= add_number(fields, "icmp_code", event->icmp_code);
	}
	return r;
}

json_t *record_fields(const struct secg_event *event, const char *port, const char *rule)
{
	json_t *fields = json_object();
	int r = 0;

	if (port)
		r |= json_object_set_new(fields, "port", json_string(port));
	r |= json_object_set_new(fields, "direction",
				 json_string(event->direction == SECG_TO ? "to" : "from"));
	r |= json_object_set_new(fields, "verdict", json_string(verdict_of(event)));
	if (event->reason)
		r |= json_object_set_new(fields, "reason",
					 json_string(record_reason(event->reason)));
	r |= record_add_rule(fields, rule);
	r |= add_packet(fields, event);
	r |= add_frame(fields, event);
	r |= add_number(fields, "length", event->length);
	r |= json_object_set_new(fields, "session",
				 json_boolean(event->flags & SECG_EVENT_ESTABLISHED));
	if (event->suppressed)
		r |= add_number(fields, "suppressed", event->suppressed);
	if (!r)
		return fields;
	json_decref(fields);
	return NULL;
}
