/* SPDX-License-Identifier: Apache-2.0 */
/* An event as a line: time, type, port and direction, what became of it, the packet, why. */
#include <string.h>
#include <time.h>

#include "color.h"
#include "memory.h"
#include "monitor.h"
#include "value.h"

static const struct {
	const char *word; /* a type, or a verdict */
	enum color color;
} colors[] = {
	{"pass", COLOR_GREEN},        {"drop", COLOR_RED},    {"reject", COLOR_RED},
	{"session_full", COLOR_RED},  {"lost", COLOR_YELLOW}, {"session_80", COLOR_YELLOW},
	{"port_state", COLOR_YELLOW}, {"commit", COLOR_DIM},
};

static void print_word(const char *word, int width, FILE *stream)
{
	enum color color = COLOR_NONE;

	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
		if (strcmp(colors[i].word, word) == 0)
			color = colors[i].color;
	}
	color_begin(color, stream);
	fprintf(stream, "%-*s", width, word);
	color_end(color, stream);
}

/* The daemon's clock in the time zone of the reader; as it came where it is not understood. */
static void print_time(const char *text, FILE *stream)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	char local[32];
	time_t seconds;

	if (!rest || rest[0] != '.' || strlen(rest) < 4) {
		value_print_safe(text, stream);
		return;
	}
	seconds = timegm(&tm);
	localtime_r(&seconds, &tm);
	strftime(local, sizeof(local), "%H:%M:%S", &tm);
	fprintf(stream, "%s%.4s", local, rest);
}

static void print_endpoint(const json_t *event, const char *address_field, const char *port_field,
			   FILE *stream)
{
	const char *address = value_member(event, address_field);
	const json_t *port = json_object_get(event, port_field);

	if (!port)
		value_print_safe(address, stream);
	else if (strchr(address, ':'))
		fprintf(stream, "[%s]:%" JSON_INTEGER_FORMAT, address, json_integer_value(port));
	else
		fprintf(stream, "%s:%" JSON_INTEGER_FORMAT, address, json_integer_value(port));
}

static void print_l4(const json_t *event, FILE *stream)
{
	const char *flags = value_member(event, "tcp_flags");

	if (flags[0] != '\0')
		fprintf(stream, " %s", flags);
	if (json_object_get(event, "icmp_type"))
		fprintf(stream, " type %" JSON_INTEGER_FORMAT " code %" JSON_INTEGER_FORMAT,
			value_integer(event, "icmp_type"), value_integer(event, "icmp_code"));
}

static void print_packet(const json_t *event, FILE *stream)
{
	if (json_object_get(event, "vlan"))
		fprintf(stream, " vlan %" JSON_INTEGER_FORMAT, value_integer(event, "vlan"));
	if (json_object_get(event, "src")) {
		fprintf(stream, " %s ", value_member(event, "proto"));
		print_endpoint(event, "src", "sport", stream);
		fputs(" > ", stream);
		print_endpoint(event, "dst", "dport", stream);
		print_l4(event, stream);
	} else if (json_object_get(event, "src_mac")) {
		fprintf(stream, " %s %s > %s", value_member(event, "ethertype"),
			value_member(event, "src_mac"), value_member(event, "dst_mac"));
	}
}

/* What no packet has. */
static void print_rest(const json_t *event, FILE *stream)
{
	static const char *const numbers[] = {"generation", "count", "used", "max"};
	const char *message = value_member(event, "message");

	if (json_object_get(event, "state"))
		fprintf(stream, " %s", value_member(event, "state"));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (json_object_get(event, numbers[i]))
			fprintf(stream, " %s %" JSON_INTEGER_FORMAT, numbers[i],
				value_integer(event, numbers[i]));
	}
	if (message[0] != '\0') {
		fputs(": ", stream);
		value_print_safe(message, stream);
	}
}

static void print_why(const json_t *event, FILE *stream)
{
	const char *rule = value_member(event, "rule"), *reason = value_member(event, "reason");

	if (rule[0] != '\0')
		fprintf(stream, " by %s", rule);
	else if (reason[0] != '\0')
		fprintf(stream, " by %s", reason);
	if (json_object_get(event, "suppressed"))
		fprintf(stream, " (and %" JSON_INTEGER_FORMAT " more)",
			value_integer(event, "suppressed"));
}

void monitor_print(const json_t *event, FILE *stream)
{
	const char *port = value_member(event, "port");
	const char *direction = value_member(event, "direction");
	const char *verdict = value_member(event, "verdict");
	_cleanup_free_ char *place =
		memory_format("%s%s%s", port, direction[0] != '\0' ? " " : "", direction);

	print_time(value_member(event, "time"), stream);
	fputc(' ', stream);
	print_word(value_member(event, "type"), 12, stream);
	fprintf(stream, " %-16s", place);
	if (verdict[0] != '\0') {
		fputc(' ', stream);
		print_word(verdict, 6, stream);
	}
	print_packet(event, stream);
	print_why(event, stream);
	print_rest(event, stream);
	fputc('\n', stream);
}
