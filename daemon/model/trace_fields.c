/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a trace request. */
#include "model/trace_fields.h"

#include <string.h>

#include "model/l4_names.h"
#include "model/mac.h"
#include "model/value.h"

/* ── scalars ────────────────────────────────────────────────────────────────────────────────────── */

static int field_port(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_PORT;
	if (!json_is_string(value))
		return parse_bad_type(parser, path, value, "the name of a port");
	draft->request->port = strdup(json_string_value(value));
	return draft->request->port ? 0 : -ENOMEM;
}

static int field_direction(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	static const struct word words[] = {{"from", SECG_FROM}, {"to", SECG_TO}};
	struct trace_draft *draft = object;
	int direction = SECG_FROM;
	int r = parse_word(parser, path, value, words, ARRAY_SIZE(words), &direction);

	draft->given |= GIVEN_DIRECTION;
	draft->request->direction = (enum secg_direction)direction;
	return r;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int field_packet(struct parser *parser, const struct path *path, const json_t *value,
			void *object)
{
	struct trace_draft *draft = object;
	struct trace_request *request = draft->request;
	const char *text = json_string_value(value);
	size_t length = json_string_length(value);

	draft->given |= GIVEN_PACKET;
	if (!text)
		return parse_bad_type(parser, path, value, "hexadecimal digits");
	if (length % 2 || length / 2 < TRACE_PACKET_MIN || length / 2 > TRACE_PACKET_MAX)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must be %u to %u bytes, two hexadecimal digits each",
				   TRACE_PACKET_MIN, TRACE_PACKET_MAX);
	request->size = length / 2;
	request->bytes = malloc(request->size);
	if (!request->bytes)
		return -ENOMEM;
	for (size_t i = 0; i < request->size; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return parse_error(parser, path, ERROR_BAD_VALUE,
					   "byte %zu is not two hexadecimal digits", i);
		request->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static int number16(struct parser *parser, const struct path *path, const json_t *value,
		    const char *what, uint16_t *ret_number)
{
	const struct number_kind kind = {what, 0, UINT16_MAX};
	uint32_t number = 0;
	int r = parse_number(parser, path, value, &kind, &number);

	*ret_number = (uint16_t)number;
	return r;
}

static int field_sport(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_SPORT;
	return number16(parser, path, value, "a port", &draft->request->spec.sport);
}

static int field_dport(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_DPORT;
	return number16(parser, path, value, "a port", &draft->request->spec.dport);
}

static int field_icmp_id(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_ICMP_ID;
	return number16(parser, path, value, "an ICMP identifier", &draft->request->spec.icmp_id);
}

static int field_icmp_type(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	struct trace_draft *draft = object;

	(void)parser;
	(void)path;
	draft->given |= GIVEN_ICMP_TYPE;
	draft->icmp_type = value;
	return 0;
}

static int field_icmp_code(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	static const struct number_kind kind = {"an ICMP code", 0, UINT8_MAX};
	struct trace_draft *draft = object;
	uint32_t code = 0;
	int r = parse_number(parser, path, value, &kind, &code);

	draft->given |= GIVEN_ICMP_CODE;
	draft->request->spec.icmp_code = (uint8_t)code;
	return r;
}

/* ── protocol, addresses, MACs ──────────────────────────────────────────────────────────────────── */

static int field_proto(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	static const struct number_kind kind = {"a protocol number", 0, UINT8_MAX};
	const char *text = json_string_value(value);
	struct trace_draft *draft = object;
	uint32_t number = 0;
	int r;

	draft->given |= GIVEN_PROTO;
	if (text && !is_number_text(value)) {
		draft->protocol = strcmp(text, "ping") ? protocol_find(text) : PING;
		if (draft->protocol >= 0 || !strcmp(text, "ping"))
			return 0;
		draft->protocol = NO_PROTOCOL;
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must be 0 to 255, tcp, udp, udplite, sctp, dccp, icmp, icmpv6, "
				   "gre, esp, ah, igmp, vrrp or ping, not \"%s\"",
				   excerpt(text).text);
	}
	r = parse_number(parser, path, value, &kind, &number);
	if (!r)
		draft->protocol = (int)number;
	return r;
}

static int address(struct parser *parser, const struct path *path, const json_t *value,
		   struct prefix *ret_host)
{
	const char *text = json_string_value(value);
	struct prefix prefix = {0};

	if (!text)
		return parse_bad_type(parser, path, value, "an IP address");
	if (strchr(text, '/') || prefix_parse(&prefix, text) < 0)
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must be one IP address, not \"%s\"", excerpt(text).text);
	*ret_host = prefix;
	return 0;
}

static int field_src(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_SRC;
	return address(parser, path, value, &draft->src);
}

static int field_dst(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_DST;
	return address(parser, path, value, &draft->dst);
}

static int mac(struct parser *parser, const struct path *path, const json_t *value,
	       uint8_t ret_mac[6])
{
	const char *text = json_string_value(value);
	struct mac_match mac;

	if (!text)
		return parse_bad_type(parser, path, value, "a MAC address");
	if (mac_parse(&mac, text) < 0 || !mac_is_exact(&mac))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "must be a MAC such as 52:54:00:12:34:56, not \"%s\"",
				   excerpt(text).text);
	memcpy(ret_mac, mac.value, sizeof(mac.value));
	return 0;
}

static int field_src_mac(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_SRC_MAC;
	draft->request->has_src_mac = true;
	return mac(parser, path, value, draft->request->spec.src_mac);
}

static int field_dst_mac(struct parser *parser, const struct path *path, const json_t *value,
			 void *object)
{
	struct trace_draft *draft = object;

	draft->given |= GIVEN_DST_MAC;
	draft->request->has_dst_mac = true;
	return mac(parser, path, value, draft->request->spec.dst_mac);
}

/* ── lists ──────────────────────────────────────────────────────────────────────────────────────── */

static int field_vlan(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	static const struct number_kind kind = {"a VLAN", 0, 4095};
	struct trace_draft *draft = object;
	struct packet_spec *spec = &draft->request->spec;
	int result = 0;

	draft->given |= GIVEN_VLAN;
	if (list_count(value) > PACKET_MAX_TAGS)
		return parse_error(parser, path, ERROR_LIMIT, "has more than %d tags",
				   PACKET_MAX_TAGS);
	spec->vlan_count = list_count(value);
	for (size_t i = 0; i < spec->vlan_count; i++) {
		struct path item = list_path(path, value, i);
		uint32_t number = 0;

		result_add(&result,
			   parse_number(parser, &item, list_item(value, i), &kind, &number));
		spec->vlan[i] = (uint16_t)number;
	}
	return result;
}

/* "syn,ack" or ["syn", "ack"]. */
static int field_tcp_flags(struct parser *parser, const struct path *path, const json_t *value,
			   void *object)
{
	static const struct word words[] = {
		{"syn", PACKET_TCP_SYN}, {"ack", PACKET_TCP_ACK}, {"fin", PACKET_TCP_FIN},
		{"rst", PACKET_TCP_RST}, {"psh", PACKET_TCP_PSH}, {"urg", PACKET_TCP_URG},
		{"ece", PACKET_TCP_ECE}, {"cwr", PACKET_TCP_CWR},
	};
	struct trace_draft *draft = object;
	int result = 0;

	draft->given |= GIVEN_TCP_FLAGS;
	for (size_t i = 0; i < list_count(value); i++) {
		struct path item = list_path(path, value, i);
		const char *text = json_string_value(list_item(value, i));

		if (!text)
			result_add(&result, parse_bad_type(parser, &item, list_item(value, i),
							   "flags such as \"syn,ack\""));
		while (text) {
			size_t size = strcspn(text, ",");
			json_auto_t *word = json_stringn(text, size);
			int flag = 0;

			if (!word)
				return -ENOMEM;
			result_add(&result, parse_word(parser, &item, word, words,
						       ARRAY_SIZE(words), &flag));
			draft->request->spec.tcp_flags |= (uint8_t)flag;
			text = text[size] ? text + size + 1 : NULL;
		}
	}
	return result;
}

static const struct field fields[] = {
	{"port", field_port},
	{"direction", field_direction},
	{"packet", field_packet},
	{"proto", field_proto},
	{"src", field_src},
	{"dst", field_dst},
	{"sport", field_sport},
	{"dport", field_dport},
	{"tcp_flags", field_tcp_flags},
	{"icmp_type", field_icmp_type},
	{"icmp_code", field_icmp_code},
	{"icmp_id", field_icmp_id},
	{"src_mac", field_src_mac},
	{"dst_mac", field_dst_mac},
	{"vlan", field_vlan},
};
const struct schema trace_schema = {"a trace", fields, ARRAY_SIZE(fields)};
