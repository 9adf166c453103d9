/* SPDX-License-Identifier: Apache-2.0 */
/* Every packet of a capture traced, in the order of the file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "packet_text.h"
#include "pcap.h"
#include "table.h"
#include "trace.h"
#include "value.h"

#define PACKET_MIN 14u    /* shorter ones are no frame */
#define PACKET_MAX 65549u /* the daemon takes no longer ones */

static const char *const headers[] = {">#", "VERDICT", "REASON", "RULE", "SESSION", "PACKET", NULL};

struct replay {
	struct cli *cli;
	const json_t *request;
	struct table *table; /* NULL: data */
	json_t *packets;     /* answers, where there is no table */
	uint64_t passed, dropped, refused;
};

/* What a capture left away at a packet's end is taken as zeros: rules do not look there. */
static char *packet_hex(const struct pcap *pcap)
{
	size_t length = pcap->length < PACKET_MAX ? pcap->length : PACKET_MAX;
	char *hex = memory_check(malloc(2 * length + 1));

	for (size_t i = 0; i < length; i++)
		snprintf(hex + 2 * i, 3, "%02x", i < pcap->size ? pcap->bytes[i] : 0);
	hex[2 * length] = '\0';
	return hex;
}

static void add_row(struct replay *replay, const struct pcap *pcap, const json_t *answer)
{
	bool opens = json_is_true(json_object_get(answer, "would_create"));
	const char *session = value_member(answer, "session");

	table_format(replay->table, "%llu", (unsigned long long)pcap->number);
	table_add(replay->table, answer ? value_member(answer, "verdict") : "not traced");
	table_add(replay->table, value_member(answer, "reason"));
	table_add(replay->table, value_member(answer, "rule"));
	table_format(replay->table, "%s%s%s", session, session[0] != '\0' && opens ? ", " : "",
		     opens ? "would open" : "");
	table_take(replay->table, packet_text(pcap->bytes, pcap->size, pcap->is_raw));
}

static void add_answer(struct replay *replay, const struct pcap *pcap, json_t *answer)
{
	json_object_set_new(answer, "number", json_integer((json_int_t)pcap->number));
	json_array_append(replay->packets, answer);
}

/* One that the daemon refuses is told on stderr; where the first one is, the port is to blame. */
static int trace_packet(struct replay *replay, const struct pcap *pcap)
{
	json_auto_t *request = memory_check(json_copy((json_t *)replay->request));
	_cleanup_free_ char *hex = packet_hex(pcap);
	json_auto_t *answer = NULL;
	int r;

	json_object_set_new(request, "packet", json_string(hex));
	r = pcap->length < PACKET_MIN ? CLI_REFUSED : trace_ask(&answer, replay->cli, request);
	if (r != CLI_DONE &&
	    (r != CLI_REFUSED || (pcap->number == 1 && pcap->length >= PACKET_MIN)))
		return r;
	if (!answer)
		replay->refused++;
	else if (strcmp(value_member(answer, "verdict"), "pass") == 0)
		replay->passed++;
	else
		replay->dropped++;
	if (replay->table)
		add_row(replay, pcap, answer);
	else if (answer)
		add_answer(replay, pcap, answer);
	return CLI_DONE;
}

static void print_summary(const struct replay *replay)
{
	uint64_t all = replay->passed + replay->dropped + replay->refused;

	if (!replay->table) {
		json_auto_t *answer = json_pack("{s:O, s:I, s:I, s:I}", "packets", replay->packets,
						"passed", (json_int_t)replay->passed, "dropped",
						(json_int_t)replay->dropped, "not_traced",
						(json_int_t)replay->refused);

		output_data(replay->cli, memory_check(answer));
		return;
	}
	table_print(replay->table, stdout);
	printf("%llu packet%s: %llu pass, %llu drop", (unsigned long long)all, all == 1 ? "" : "s",
	       (unsigned long long)replay->passed, (unsigned long long)replay->dropped);
	if (replay->refused)
		printf(", %llu not traced", (unsigned long long)replay->refused);
	putchar('\n');
}

static int replay_file(struct replay *replay, FILE *file, const char *name)
{
	_cleanup_(pcap_fini) struct pcap pcap = {0};
	char message[PCAP_MESSAGE_SIZE];
	int has_packet, r = CLI_DONE;

	if (pcap_open(&pcap, file, message) < 0) {
		fprintf(stderr, "sgctl: %s: %s\n", name, message);
		return CLI_REFUSED;
	}
	while ((has_packet = pcap_next(&pcap, message)) > 0) {
		r = trace_packet(replay, &pcap);
		if (r != CLI_DONE)
			return r;
	}
	/* What came before the damage is worth showing. */
	print_summary(replay);
	if (has_packet == 0)
		return CLI_DONE;
	fprintf(stderr, "sgctl: %s: %s\n", name, message);
	return CLI_REFUSED;
}

static void close_file(FILE **file)
{
	if (*file && *file != stdin)
		fclose(*file);
}

int trace_pcap(struct cli *cli, const json_t *request, const char *path)
{
	bool is_table = cli->output == OUTPUT_TABLE;
	_cleanup_(table_freep) struct table *table = is_table ? table_new(headers) : NULL;
	bool is_stdin = strcmp(path, "-") == 0;
	_cleanup_(close_file) FILE *file = is_stdin ? stdin : fopen(path, "re");
	json_auto_t *packets = memory_check(json_array());
	struct replay replay = {.cli = cli, .request = request, .table = table, .packets = packets};

	if (!file) {
		fprintf(stderr, "sgctl: %s: %s\n", path, strerror(errno));
		return CLI_REFUSED;
	}
	return replay_file(&replay, file, is_stdin ? "standard input" : path);
}
