/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distance by insertions, deletions, replacements and swaps of neighbours ("dts_ports"); case, '-' and
 * '_' do not count ("dstPorts" costs 1). A missing part ("proto" for "protocol") is judged as near as
 * well, and nothing is nearer than what another tool's word means here.
 */
#include "model/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "core/cleanup.h"

#define WORD_MAX 64 /* longer ones are no typing mistake */

static char fold(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Three rows of the usual table: the one before the last is for swaps. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			bool differs = fold(a[i - 1]) != fold(b[j - 1]);

			row[j] = smaller(smaller(row[j - 1], last[j]) + 1, last[j - 1] + differs);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				row[j] = smaller(row[j], older[j - 2] + 1);
		}
	}
	return rows[a_size % 3][b_size];
}

/* Words of other tools and what they are called here. */
static const struct {
	const char *word;
	const char *here;
} synonyms[] = {
	{"accept", "allow"},
	{"permit", "allow"},
	{"block", "drop"},
	{"discard", "drop"},
	{"return", "pass"},
	{"continue", "pass"},
	{"port", "dst_ports"},
	{"ports", "dst_ports"},
	{"dport", "dst_ports"},
	{"dports", "dst_ports"},
	{"sport", "src_ports"},
	{"sports", "src_ports"},
	{"source", "src"},
	{"destination", "dst"},
	{"name", "id"},
	{"smac", "src_mac"},
	{"dmac", "dst_mac"},
	{"ether_type", "ethertypes"},
	{"vid", "vlan"},
	{"tos", "dscp"},
	{"logging", "log"},
	{"disabled", "enabled"},
	{"src", "remote"},
	{"dst", "remote"},
	{"remote_group", "remote"},
	{"remote_group_id", "remote"},
	{"remote_ip_prefix", "remote"},
	{"remote_address", "remote"},
	{"allowed_address_pairs", "addresses"},
	{"port_security", "anti_spoof"},
	{"port_security_enabled", "anti_spoof"},
	{"sg", "security_groups"},
	{"sgs", "security_groups"},
	{"all", "any"},
	{"ip", "any"},
	{"ipv6-icmp", "icmpv6"},
	{"ping", "echo-request"},
	{"echo", "echo-request"},
	{"pong", "echo-reply"},
};

static bool is_synonym(const char *wanted, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++)
		if (!strcasecmp(synonyms[i].word, wanted) && !strcmp(synonyms[i].here, word))
			return true;
	return false;
}

struct nearest nearest_to(const char *wanted)
{
	return (struct nearest){.wanted = wanted};
}

void nearest_offer(struct nearest *nearest, const char *word)
{
	size_t size = strlen(nearest->wanted), word_size = strlen(word);
	size_t limit = 1 + smaller(size, word_size) / 4;
	size_t d;

	if (size > WORD_MAX || word_size > WORD_MAX || size < 2 || word_size < 2)
		return;
	d = is_synonym(nearest->wanted, word) ? 0
					      : distance(nearest->wanted, size, word, word_size);
	/* "port" for "dst_ports", "addresses" for "addr" */
	if (d > limit && size >= 4 && strstr(word, nearest->wanted))
		d = limit;
	if (d > limit || (nearest->best && d >= nearest->distance))
		return;
	nearest->best = word;
	nearest->distance = d;
}
