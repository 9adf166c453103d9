/* SPDX-License-Identifier: Apache-2.0 */
/* What the fields of a trace request must and must not say together. */
#include "model/trace_request.h"

#include <string.h>

#include "model/l4_names.h"
#include "model/trace_fields.h"
#include "model/value.h"

#define SPORT_DEFAULT   49152 /* the first of the ephemeral ports (RFC 6335 §6) */
#define ICMP_ID_DEFAULT 1

static int blame(struct parser *parser, const char *field, const char *text)
{
	const struct path path = path_key(NULL, field);

	return parse_error(parser, &path, ERROR_BAD_VALUE, "%s", text);
}

/* A mistake for every field of the mask that was given. */
static int blame_given(struct parser *parser, const struct trace_draft *draft, unsigned int mask,
		       const char *text)
{
	int result = 0;

	for (size_t i = 0; i < trace_schema.field_count; i++) {
		if (!(draft->given & mask & 1u << i))
			continue;
		result_add(&result, blame(parser, trace_schema.fields[i].name, text));
	}
	return result;
}

static int check_missing(struct parser *parser, const struct trace_draft *draft)
{
	int result = 0;

	if (!(draft->given & GIVEN_PORT))
		result_add(&result, blame(parser, "port", "is missing: which port?"));
	if (!(draft->given & GIVEN_DIRECTION))
		result_add(&result, blame(parser, "direction", "is missing: write from or to"));
	if (draft->given & GIVEN_PACKET)
		return result;
	if (!(draft->given & GIVEN_TUPLE)) {
		result_add(&result, blame(parser, "packet",
					  "is missing: give the bytes of a packet, or proto, src "
					  "and dst"));
		return result;
	}
	if (!(draft->given & GIVEN_PROTO))
		result_add(&result, blame(parser, "proto", "is missing: write tcp, udp, ping, …"));
	if (!(draft->given & GIVEN_SRC))
		result_add(&result, blame(parser, "src", "is missing: an IP address"));
	if (!(draft->given & GIVEN_DST))
		result_add(&result, blame(parser, "dst", "is missing: an IP address"));
	return result;
}

static int check_icmp_type(struct parser *parser, struct trace_draft *draft)
{
	static const struct number_kind kind = {"an ICMP type", 0, UINT8_MAX};
	struct packet_spec *spec = &draft->request->spec;
	enum icmp_version version = spec->family == 4 ? ICMP_V4 : ICMP_V6;
	const struct path path = path_key(NULL, "icmp_type");
	const char *name = json_string_value(draft->icmp_type);
	uint32_t number = 0;
	int type, r;

	if (!draft->icmp_type) {
		spec->icmp_type = (uint8_t)icmp_type_find(version, "echo-request");
		return 0;
	}
	if (!name || is_number_text(draft->icmp_type)) {
		r = parse_number(parser, &path, draft->icmp_type, &kind, &number);
		spec->icmp_type = (uint8_t)number;
		return r;
	}
	type = icmp_type_find(version, name);
	if (type < 0)
		return parse_error(parser, &path, ERROR_BAD_VALUE,
				   "is no type of %s: write its number, or a name such as "
				   "echo-request, not \"%s\"",
				   version == ICMP_V4 ? "icmp" : "icmpv6", excerpt(name).text);
	spec->icmp_type = (uint8_t)type;
	return 0;
}

/* The protocol is known, and the family. */
static int check_transport(struct parser *parser, struct trace_draft *draft)
{
	struct packet_spec *spec = &draft->request->spec;
	bool has_icmp = packet_has_icmp(spec->family, spec->protocol);
	bool has_ports = protocol_has_ports(spec->protocol);
	int result = 0;

	if (!has_ports)
		result_add(&result, blame_given(parser, draft, GIVEN_SPORT | GIVEN_DPORT,
						"this protocol has no ports"));
	else if (!(draft->given & GIVEN_DPORT))
		result_add(&result,
			   blame(parser, "dport", "is missing: the port that is asked for"));
	if (!(draft->given & GIVEN_SPORT))
		spec->sport = SPORT_DEFAULT;
	if (protocol_find("tcp") != spec->protocol)
		result_add(&result,
			   blame_given(parser, draft, GIVEN_TCP_FLAGS, "only tcp has flags"));
	else if (!(draft->given & GIVEN_TCP_FLAGS))
		spec->tcp_flags = PACKET_TCP_SYN;
	if (!has_icmp)
		result_add(&result, blame_given(parser, draft, GIVEN_ICMP,
						"only icmp (IPv4) and icmpv6 (IPv6) have it"));
	else if (draft->protocol == PING)
		result_add(&result, blame_given(parser, draft, GIVEN_ICMP_TYPE | GIVEN_ICMP_CODE,
						"ping is a type already: write icmp or icmpv6"));
	if (has_icmp)
		result_add(&result, check_icmp_type(parser, draft));
	if (!(draft->given & GIVEN_ICMP_ID))
		spec->icmp_id = ICMP_ID_DEFAULT;
	return result;
}

static int check_tuple(struct parser *parser, struct trace_draft *draft)
{
	struct packet_spec *spec = &draft->request->spec;

	if (!draft->src.family || !draft->dst.family)
		return 0; /* said already */
	if (draft->src.family != draft->dst.family)
		return blame(parser, "dst", "is not of the address family of src");
	spec->family = draft->src.family;
	spec->src = draft->src.address;
	spec->dst = draft->dst.address;
	if (draft->protocol == NO_PROTOCOL)
		return 0;
	if (draft->protocol == PROTOCOL_ICMP && spec->family == 6)
		return blame(parser, "proto", "icmp is IPv4 only: write icmpv6");
	if (draft->protocol == PROTOCOL_ICMPV6 && spec->family == 4)
		return blame(parser, "proto", "icmpv6 is IPv6 only: write icmp");
	spec->protocol = (uint8_t)(draft->protocol != PING ? draft->protocol
				   : spec->family == 4     ? PROTOCOL_ICMP
							   : PROTOCOL_ICMPV6);
	return check_transport(parser, draft);
}

int trace_request_parse(struct trace_request *ret_request, const json_t *document,
			struct errors *reterr)
{
	struct parser parser = {.errors = reterr};
	struct trace_draft draft = {.request = ret_request, .protocol = NO_PROTOCOL};
	int result;

	*ret_request = (struct trace_request){0};
	result = parse_object(&parser, NULL, document, &trace_schema, &draft);
	if (!json_is_object(document))
		return result;
	result_add(&result, check_missing(&parser, &draft));
	if (draft.given & GIVEN_PACKET)
		result_add(&result,
			   blame_given(&parser, &draft, GIVEN_TUPLE,
				       "cannot stand beside `packet`, which says it itself"));
	else
		result_add(&result, check_tuple(&parser, &draft));
	return result;
}

void trace_request_fini(struct trace_request *request)
{
	free(request->port);
	free(request->bytes);
	*request = (struct trace_request){0};
}
