/* SPDX-License-Identifier: Apache-2.0 */
/* sgctl trace: what the policy would do with a packet, without doing it. */
#include "trace.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "client.h"
#include "complete.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "ports.h"
#include "value.h"

enum {
	OPTION_PORT = OPTIONS_OWN,
	OPTION_FROM,
	OPTION_TO,
	OPTION_PACKET,
	OPTION_PCAP,
	OPTION_FIELD, /* and one more for each field */
};

/* Options that are fields of the request. */
static const struct {
	const char *option;
	const char *field;
} fields[] = {
	{"tcp-flags", "tcp_flags"}, {"icmp-type", "icmp_type"}, {"icmp-code", "icmp_code"},
	{"icmp-id", "icmp_id"},     {"src-mac", "src_mac"},     {"dst-mac", "dst_mac"},
	{"vlan", "vlan"},
};
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

struct trace {
	const char *port;
	bool is_from, is_to;
	const char *packet;
	const char *pcap;
	bool has_fields;
	json_t *request;
};

/* ── the request ────────────────────────────────────────────────────────────────────────────────── */

static int set_text(json_t *request, const char *field, const char *text)
{
	json_t *string = json_string(text);

	if (!string)
		return options_misuse(&verb_trace, "'%s' is not UTF-8", text);
	json_object_set_new(request, field, string);
	return OPTIONS_GO;
}

/* Tags come as a list: --vlan 5,6. */
static int set_vlan(json_t *request, const char *text)
{
	json_t *list = memory_check(json_array());

	json_object_set_new(request, "vlan", list);
	for (;;) {
		size_t size = strcspn(text, ",");
		json_t *item = json_stringn(text, size);

		if (!item)
			return options_misuse(&verb_trace, "'%s' is not UTF-8", text);
		json_array_append_new(list, item);
		if (text[size] == '\0')
			return OPTIONS_GO;
		text += size + 1;
	}
}

static int take(int letter, char *value, void *data)
{
	struct trace *trace = data;

	if (letter == OPTION_PORT)
		trace->port = value;
	else if (letter == OPTION_FROM)
		trace->is_from = true;
	else if (letter == OPTION_TO)
		trace->is_to = true;
	else if (letter == OPTION_PACKET)
		trace->packet = value;
	else if (letter == OPTION_PCAP)
		trace->pcap = value;
	if (letter < OPTION_FIELD)
		return OPTIONS_GO;
	trace->has_fields = true;
	if (strcmp(fields[letter - OPTION_FIELD].field, "vlan") == 0)
		return set_vlan(trace->request, value);
	if (letter == OPTION_FIELD && strpbrk(value, "+|/ "))
		return options_misuse(&verb_trace, "--tcp-flags takes commas: syn,ack");
	return set_text(trace->request, fields[letter - OPTION_FIELD].field, value);
}

/* "10.0.0.1:22", "[2001:db8::1]:22", or an address alone. */
static int set_endpoint(json_t *request, const char *text, const char *address_field,
			const char *port_field)
{
	const char *first = strchr(text, ':'), *bracket = strchr(text, ']');
	_cleanup_free_ char *address = NULL;
	const char *port = NULL;
	int r;

	if (text[0] == '[' && bracket && (bracket[1] == ':' || bracket[1] == '\0')) {
		address = memory_format("%.*s", (int)(bracket - text - 1), text + 1);
		port = bracket[1] == ':' ? bracket + 2 : NULL;
	} else if (first && !strchr(first + 1, ':')) {
		address = memory_format("%.*s", (int)(first - text), text);
		port = first + 1;
	} else {
		address = memory_copy(text);
	}
	r = set_text(request, address_field, address);
	if (r == OPTIONS_GO && port)
		r = set_text(request, port_field, port);
	return r;
}

static bool needs_port(const char *protocol)
{
	static const char *const names[] = {"tcp", "udp", "udplite", "sctp", "dccp"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(names[i], protocol) == 0)
			return true;
	}
	return false;
}

/* Says how a destination with a port is written: "fd77::1:22" is an address as a whole. */
static int refuse_destination(const char *protocol, const char *text)
{
	const char *last = strrchr(text, ':');
	_cleanup_free_ char *address = memory_format("%.*s", (int)(last ? last - text : 0), text);
	struct in6_addr ignored;

	if (!last)
		return options_misuse(&verb_trace, "%s needs a port behind DST: %s:80", protocol,
				      text);
	if (last[1] != '\0' && last[1 + strspn(last + 1, "0123456789")] == '\0' &&
	    inet_pton(AF_INET6, address, &ignored) == 1)
		return options_misuse(&verb_trace, "%s needs a port behind DST: [%s]:%s", protocol,
				      address, last + 1);
	return options_misuse(&verb_trace, "%s needs a port behind DST: [%.*s]:80", protocol,
			      (int)strcspn(text + (text[0] == '['), "]"), text + (text[0] == '['));
}

static int set_tuple(json_t *request, char **words)
{
	int r = set_text(request, "proto", words[0]);

	if (r == OPTIONS_GO)
		r = set_endpoint(request, words[1], "src", "sport");
	if (r == OPTIONS_GO)
		r = set_endpoint(request, words[2], "dst", "dport");
	if (r == OPTIONS_GO && needs_port(words[0]) && !json_object_get(request, "dport"))
		return refuse_destination(words[0], words[2]);
	return r;
}

/* Digits as people paste them: with spaces or colons between the bytes. */
static int set_packet(json_t *request, const char *text)
{
	_cleanup_free_ char *digits = memory_copy(text);
	size_t size = 0;

	for (; *text; text++)
		if (!isspace((unsigned char)*text) && *text != ':')
			digits[size++] = *text;
	digits[size] = '\0';
	return set_text(request, "packet", digits);
}

static int make_request(struct trace *trace, int count, char **words)
{
	int sources = !!trace->packet + !!trace->pcap + (count > 0);
	int r;

	if (!trace->port)
		return options_misuse(&verb_trace, "needs --port NAME");
	if (trace->is_from == trace->is_to)
		return options_misuse(&verb_trace, "needs either --from or --to");
	if (sources > 1 || (trace->has_fields && count == 0 && sources > 0))
		return options_misuse(&verb_trace,
				      "takes a packet's fields, --packet or --pcap, not both");
	if (sources == 0 || (count > 0 && count != 3))
		return options_misuse(&verb_trace,
				      "needs PROTO SRC DST, --packet HEX or --pcap FILE");
	r = set_text(trace->request, "port", trace->port);
	if (r == OPTIONS_GO)
		r = set_text(trace->request, "direction", trace->is_from ? "from" : "to");
	if (r == OPTIONS_GO && count > 0)
		r = set_tuple(trace->request, words);
	if (r == OPTIONS_GO && trace->packet)
		r = set_packet(trace->request, trace->packet);
	return r;
}

/* ── the answer ─────────────────────────────────────────────────────────────────────────────────── */

int trace_ask(json_t **ret_answer, struct cli *cli, const json_t *request)
{
	return client_call(
		ret_answer, cli,
		&(struct request){.method = "POST", .path = "/v1/trace", .body = request});
}

static void print_row(const char *name, const char *text)
{
	printf("  %-12s", name);
	value_print_safe(text, stdout);
	putchar('\n');
}

static void print_session(const json_t *answer)
{
	const char *session = value_member(answer, "session");
	bool opens = json_is_true(json_object_get(answer, "would_create"));
	const char *text = opens ? "none; the packet would open one" : "none";

	if (strcmp(session, "found") == 0)
		text = "the packet belongs to a live one";
	else if (strcmp(session, "related") == 0)
		text = "an error about a packet of a live one";
	else if (strcmp(session, "cut") == 0)
		text = opens ? "the present rules would end it; the packet would open another"
			     : "the present rules would end it";
	print_row("session", text);
}

static void print_answer(const json_t *answer)
{
	const char *reason = value_member(answer, "reason"), *rule = value_member(answer, "rule");
	const char *tag = value_member(answer, "prog_tag");
	const char *attached = value_member(answer, "attached_tag");
	_cleanup_free_ char *first = memory_format("%s%s%s%s%s", value_member(answer, "verdict"),
						   reason[0] != '\0' ? ": " : "", reason,
						   rule[0] != '\0'     ? " by rule "
						   : reason[0] != '\0' ? ""
								       : " without a rule",
						   rule);
	_cleanup_free_ char *programs =
		strcmp(tag, attached) == 0 ? memory_format("%s, as attached", tag)
					   : memory_format("%s, but %s is attached", tag, attached);
	_cleanup_free_ char *generation = value_text(json_object_get(answer, "generation"));

	value_print_safe(first, stdout);
	putchar('\n');
	print_session(answer);
	print_row("anti-spoof", value_member(answer, "antispoof"));
	print_row("generation", generation);
	print_row("program", programs);
}

/* What decided in the place of a rule: only the policy tells. */
static int print_why(struct cli *cli, const struct trace *trace, const json_t *answer)
{
	const char *reason = value_member(answer, "reason");
	_cleanup_free_ char *name = client_escape(trace->port);
	_cleanup_free_ char *path = memory_format("/v1/ports/%s", name);
	_cleanup_free_ char *why = NULL;
	json_auto_t *port = NULL;
	int r;

	if (value_member(answer, "rule")[0] || value_member(answer, "session")[0] ||
	    (reason[0] && strcmp(reason, "default") != 0))
		return CLI_DONE;
	r = client_get(&port, cli, path);
	if (r != CLI_DONE)
		return r;
	why = ports_explain(port, trace->is_from ? "from" : "to");
	print_row("why", why);
	return CLI_DONE;
}

static int show_one(struct cli *cli, const struct trace *trace)
{
	json_auto_t *answer = NULL;
	int r = trace_ask(&answer, cli, trace->request);

	if (r != CLI_DONE || output_data(cli, answer))
		return r;
	print_answer(answer);
	return print_why(cli, trace, answer);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct option longs[FIELD_COUNT + 6] = {
		{"port", required_argument, NULL, OPTION_PORT},
		{"from", no_argument, NULL, OPTION_FROM},
		{"to", no_argument, NULL, OPTION_TO},
		{"packet", required_argument, NULL, OPTION_PACKET},
		{"pcap", required_argument, NULL, OPTION_PCAP},
	};
	json_auto_t *request = memory_check(json_object());
	struct trace trace = {.request = request};
	const struct options own = {"", longs, take, &trace};
	int index, r;

	for (size_t i = 0; i < FIELD_COUNT; i++)
		longs[5 + i] = (struct option){fields[i].option, required_argument, NULL,
					       OPTION_FIELD + (int)i};
	r = options_after(&index, cli, &verb_trace, &own, argc, argv);
	if (r == OPTIONS_GO)
		r = make_request(&trace, argc - index, argv + index);
	if (r != OPTIONS_GO)
		return r;
	r = trace.pcap ? trace_pcap(cli, request, trace.pcap) : show_one(cli, &trace);
	if (r == CLI_REFUSED)
		ports_suggest(cli, trace.port);
	return r;
}

static void complete_tuple(struct cli *cli, size_t count, const char *const *words)
{
	(void)cli;
	(void)words;
	if (count != 2)
		return;
	puts("ping");
	complete_protocols();
}

const struct verb verb_trace = {
	.name = "trace",
	.summary = "what the policy would do with a packet, without doing it",
	.run = run,
	.complete = complete_tuple,
	.help = "sgctl trace --port NAME --from|--to PROTO SRC[:PORT] DST[:PORT] [FIELD…]\n"
		"sgctl trace --port NAME --from|--to --packet HEX | --pcap FILE\n"
		"\n"
		"Judges a packet as the kernel would now, with the same program and the live tables and\n"
		"sessions, and says which rule decides. Nothing is counted, opened, renewed or cut.\n"
		"\n"
		"  --port NAME       the port through which it would come\n"
		"  --from, --to      in through the port into the host, or out to it\n"
		"  PROTO SRC DST     tcp 10.0.0.1:1234 10.0.0.2:22, udp [2001:db8::1]:53 [2001:db8::2]:53,\n"
		"                    ping 10.0.0.1 10.0.0.2; a source port that is left out is 49152\n"
		"  --tcp-flags LIST  syn (default), syn,ack and so on\n"
		"  --icmp-type TYPE, --icmp-code N, --icmp-id N\n"
		"                    echo-request, 0 and 1 unless given\n"
		"  --src-mac MAC, --dst-mac MAC, --vlan N[,N]\n"
		"                    the Ethernet header; plausible MACs and no tag unless given\n"
		"  --packet HEX      the bytes of the packet, from its Ethernet header on; from the IP\n"
		"                    header on for a port without one (tun, WireGuard)\n"
		"  --pcap FILE       every packet of a capture, '-' for standard input\n"
		"\n"
		"'why' says what decided where no rule did; 'sgctl explain REASON' what a reason means.\n"
		"'found': it belongs to a live session, whose rule is shown. 'cut': its session would end\n"
		"because the rules have changed. A port that waits for its interface cannot be traced.\n",
};
