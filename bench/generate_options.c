/* SPDX-License-Identifier: Apache-2.0 */
/* The generator's command line. */
#include <getopt.h>
#include <net/ethernet.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "generate.h"

#define IMIX "64x7,590x4,1514"

static const char usage_text[] =
	"usage: generate --device NAME --dst-mac MAC --src ADDRESS --dst ADDRESS\n"
	"                (--count N | --duration S | both) [options]\n"
	"\n"
	"Sends live frames out of an interface, past the host's stack. A veth takes them only where its peer\n"
	"polls: an XDP program there, or `ethtool -K PEER gro on`. One line of JSON on stdout says what was\n"
	"handed to the device; what a full ring lost is in the device's own counters (`ethtool -S`).\n"
	"\n"
	"  --protocol P     udp, tcp, icmp (echo request of the family), esp; udp\n"
	"  --sport, --dport N   4000, 4000    of the first flow\n"
	"  --id N           1      ICMP identifier of the first flow\n"
	"  --spi N          256    of the first flow\n"
	"  --srcs, --dsts, --sports, --dports, --ids, --spis N\n"
	"                   1      how many of each, counted up from the first; flows are their product,\n"
	"                          the destination ports vary fastest\n"
	"  --order O        sequence, random; sequence\n"
	"  --seed N         1      of the random order\n"
	"  --flags LIST     syn    of TCP: fin,syn,rst,psh,ack,urg or none\n"
	"  --payload LIST   18     bytes behind the headers: \"18\", \"64x7,590x4,1514\" (size x how often)\n"
	"  --frame LIST            the same in bytes of the frame without its checksum, at least the headers;\n"
	"                          imix is " IMIX "\n"
	"                   A payload of 8 bytes or more begins with the frame's number, 64 bits, from 0.\n"
	"  --vlan VIDS             one VLAN tag, or two \"outer,inner\" (0x88a8 outside)\n"
	"  --src-mac MAC           the device's own\n"
	"  --rate N         0      frames a second; 0: as fast as possible\n"
	"  --count N               ends after so many frames\n"
	"  --duration S            ends after so many seconds; a run is never longer than a day\n"
	"SIGINT and SIGTERM end it early.\n";

enum {
	OPT_PROTOCOL = 256,
	OPT_SRC_MAC,
	OPT_DST_MAC,
	OPT_SRC,
	OPT_DST,
	OPT_SPORT,
	OPT_DPORT,
	OPT_SPI,
	OPT_SRCS,
	OPT_DSTS,
	OPT_SPORTS,
	OPT_DPORTS,
	OPT_ORDER,
	OPT_SEED,
	OPT_FLAGS,
	OPT_PAYLOAD,
	OPT_FRAME,
	OPT_VLAN,
	OPT_DEVICE,
	OPT_RATE,
	OPT_COUNT,
	OPT_DURATION,
	OPT_HELP,
};

static const struct option longs[] = {
	{"protocol", 1, NULL, OPT_PROTOCOL},
	{"src-mac", 1, NULL, OPT_SRC_MAC},
	{"dst-mac", 1, NULL, OPT_DST_MAC},
	{"src", 1, NULL, OPT_SRC},
	{"dst", 1, NULL, OPT_DST},
	{"sport", 1, NULL, OPT_SPORT},
	{"dport", 1, NULL, OPT_DPORT},
	{"id", 1, NULL, OPT_SPORT},
	{"spi", 1, NULL, OPT_SPI},
	{"srcs", 1, NULL, OPT_SRCS},
	{"dsts", 1, NULL, OPT_DSTS},
	{"sports", 1, NULL, OPT_SPORTS},
	{"dports", 1, NULL, OPT_DPORTS},
	{"ids", 1, NULL, OPT_SPORTS},
	{"spis", 1, NULL, OPT_SPORTS},
	{"order", 1, NULL, OPT_ORDER},
	{"seed", 1, NULL, OPT_SEED},
	{"flags", 1, NULL, OPT_FLAGS},
	{"payload", 1, NULL, OPT_PAYLOAD},
	{"frame", 1, NULL, OPT_FRAME},
	{"vlan", 1, NULL, OPT_VLAN},
	{"device", 1, NULL, OPT_DEVICE},
	{"rate", 1, NULL, OPT_RATE},
	{"count", 1, NULL, OPT_COUNT},
	{"duration", 1, NULL, OPT_DURATION},
	{"help", 0, NULL, OPT_HELP},
	{0},
};

void generate_die(const char *what, const char *why)
{
	fprintf(stderr, "generate: %s: %s\n", what, why);
	exit(2);
}

static addr_t parse_address(const char *text, uint8_t *ret_family)
{
	struct prefix prefix;

	if (prefix_parse(&prefix, text) < 0 || prefix.length != (prefix.family == 4 ? 32 : 128))
		generate_die(text, "not an address");
	*ret_family = prefix.family;
	return prefix.address;
}

static bool parse_mac(const char *text, uint8_t ret_mac[6])
{
	struct ether_addr mac;

	if (!ether_aton_r(text, &mac))
		generate_die(text, "not a MAC");
	memcpy(ret_mac, mac.ether_addr_octet, 6);
	return true;
}

static uint64_t parse_number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end || errno)
		generate_die(text, "not a number");
	if (number < min || number > max)
		generate_die(text, "out of range");
	return number;
}

static int parse_choice(const char *text, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(text, names[i]))
			return (int)i;
	}
	generate_die(text, "not one of the choices; see --help");
}

static uint8_t parse_flags(const char *text)
{
	static const char *const names[] = {"fin", "syn", "rst", "psh", "ack", "urg"};
	_cleanup_free_ char *copy = strdup(text);
	uint8_t flags = 0;

	if (!copy)
		generate_die("--flags", "no memory");
	if (!strcmp(text, "none"))
		return 0;
	for (char *rest = copy, *word; (word = strsep(&rest, ","));)
		flags |= (uint8_t)(1 << parse_choice(word, names, ARRAY_SIZE(names)));
	return flags;
}

static void parse_sizes(struct generate_options *options, const char *text, bool is_payload)
{
	_cleanup_free_ char *copy = strdup(strcmp(text, "imix") ? text : IMIX);
	uint32_t slots = 0;

	if (!copy)
		generate_die("sizes", "no memory");
	options->is_payload = is_payload;
	options->size_count = 0;
	for (char *rest = copy, *word; (word = strsep(&rest, ","));) {
		struct generate_size *size = &options->sizes[options->size_count++];
		char *times = strchr(word, 'x');

		if (options->size_count > GENERATE_SHAPES_MAX)
			generate_die(text, "too many sizes");
		if (times)
			*times++ = 0;
		size->bytes = (uint32_t)parse_number(word, 0, GENERATE_SIZE_MAX);
		size->weight = times ? (uint32_t)parse_number(times, 1, GENERATE_SLOTS_MAX) : 1;
		slots += size->weight;
	}
	if (slots > GENERATE_SLOTS_MAX)
		generate_die(text, "the sizes come too often, together at most 256 times");
}

static void parse_vlans(struct generate_options *options, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);

	if (!copy)
		generate_die("--vlan", "no memory");
	options->wire.tags = 0;
	for (char *rest = copy, *word; (word = strsep(&rest, ","));) {
		if (options->wire.tags == ARRAY_SIZE(options->vids))
			generate_die(text, "more than two tags");
		options->vids[options->wire.tags++] = (uint16_t)parse_number(word, 0, 4095);
	}
}

static uint8_t parse_protocol(const char *text)
{
	static const char *const names[] = {"udp", "tcp", "icmp", "esp"};
	static const uint8_t numbers[] = {IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP, IPPROTO_ESP};

	return numbers[parse_choice(text, names, ARRAY_SIZE(names))];
}

/* Options of what is sent; false: it is another kind of option. */
static bool parse_packet_option(struct generate_options *options, int option, const char *value)
{
	static const char *const orders[] = {"sequence", "random"};
	struct wire *wire = &options->wire;

	switch (option) {
	case OPT_PROTOCOL:
		wire->protocol = parse_protocol(value);
		return true;
	case OPT_SPORT:
		wire->sport = (uint16_t)parse_number(value, 0, UINT16_MAX);
		return true;
	case OPT_DPORT:
		wire->dport = (uint16_t)parse_number(value, 0, UINT16_MAX);
		return true;
	case OPT_SPI:
		options->spi = (uint32_t)parse_number(value, 1, UINT32_MAX);
		return true;
	case OPT_ORDER:
		options->is_random = parse_choice(value, orders, ARRAY_SIZE(orders));
		return true;
	case OPT_SEED:
		options->seed = parse_number(value, 0, UINT64_MAX);
		return true;
	case OPT_FLAGS:
		wire->tcp_flags = parse_flags(value);
		return true;
	case OPT_PAYLOAD:
	case OPT_FRAME:
		parse_sizes(options, value, option == OPT_PAYLOAD);
		return true;
	case OPT_VLAN:
		parse_vlans(options, value);
		return true;
	default:
		return false;
	}
}

static void parse_option(struct generate_options *options, uint8_t families[2], int option,
			 const char *value)
{
	switch (option) {
	case OPT_DEVICE:
		options->device = value;
		break;
	case OPT_SRC_MAC:
		options->has_src_mac = parse_mac(value, options->wire.src_mac);
		break;
	case OPT_DST_MAC:
		options->has_dst_mac = parse_mac(value, options->wire.dst_mac);
		break;
	case OPT_SRC:
		options->wire.src = parse_address(value, &families[0]);
		break;
	case OPT_DST:
		options->wire.dst = parse_address(value, &families[1]);
		break;
	case OPT_SRCS:
		options->srcs = (uint32_t)parse_number(value, 1, UINT32_MAX);
		break;
	case OPT_DSTS:
		options->dsts = (uint32_t)parse_number(value, 1, UINT32_MAX);
		break;
	case OPT_SPORTS:
		options->sports = (uint32_t)parse_number(value, 1, UINT32_MAX);
		break;
	case OPT_DPORTS:
		options->dports = (uint32_t)parse_number(value, 1, UINT16_MAX + 1u);
		break;
	case OPT_RATE:
		options->rate = parse_number(value, 0, 1000000000);
		break;
	case OPT_COUNT:
		options->count = parse_number(value, 1, UINT64_MAX);
		break;
	case OPT_DURATION:
		options->duration = parse_number(value, 1, GENERATE_SECONDS_MAX);
		break;
	case OPT_HELP:
		fputs(usage_text, stdout);
		exit(0);
	default:
		fputs("generate: see --help\n", stderr);
		exit(2);
	}
}

static void check(const struct generate_options *options, const uint8_t families[2])
{
	const struct wire *wire = &options->wire;
	bool has_ports = wire_has_ports(wire->protocol), is_esp = wire->protocol == IPPROTO_ESP;
	unsigned __int128 flows = (unsigned __int128)options->srcs * options->dsts *
				  options->sports * options->dports;

	if (!options->device || !options->has_dst_mac || !families[0] || !families[1])
		generate_die("missing", "--device, --dst-mac, --src and --dst must be given");
	if (families[0] != families[1])
		generate_die("--src, --dst", "not of one family");
	if (!options->count && !options->duration)
		generate_die("no end", "give --count, --duration or both");
	if ((uint64_t)(uint32_t)wire->src + options->srcs - 1 > UINT32_MAX ||
	    (uint64_t)(uint32_t)wire->dst + options->dsts - 1 > UINT32_MAX)
		generate_die("--srcs, --dsts", "count past the last address");
	if (is_esp ? (uint64_t)options->spi + options->sports - 1 > UINT32_MAX
		   : (uint64_t)wire->sport + options->sports - 1 > UINT16_MAX)
		generate_die("--sports, --ids, --spis", "count past the last one");
	if (options->dports > 1 && !has_ports)
		generate_die("--dports", "the protocol has no ports");
	if (wire->dport + options->dports - 1 > UINT16_MAX)
		generate_die("--dports", "count past the last port");
	if (flows > UINT32_MAX)
		generate_die("flows", "too many, the product is above 4294967295");
}

void generate_parse(struct generate_options *ret_options, int argc, char **argv)
{
	struct generate_options options = {
		.wire = {.protocol = IPPROTO_UDP, .tcp_flags = WIRE_TCP_SYN, .dport = 4000},
		.spi = 256,
		.srcs = 1,
		.dsts = 1,
		.sports = 1,
		.dports = 1,
		.seed = 1,
		.is_payload = true,
		.sizes = {{.bytes = 18, .weight = 1}},
		.size_count = 1,
	};
	uint8_t families[2] = {0};
	bool has_sport = false;

	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		has_sport = has_sport || c == OPT_SPORT;
		if (!parse_packet_option(&options, c, optarg))
			parse_option(&options, families, c, optarg);
	}
	if (optind < argc)
		generate_die(argv[optind], "not an option");
	if (!has_sport)
		options.wire.sport = options.wire.protocol == IPPROTO_ICMP ? 1 : 4000;
	check(&options, families);
	options.wire.family = families[0];
	if (options.wire.protocol == IPPROTO_ICMP && options.wire.family == 6)
		options.wire.protocol = IPPROTO_ICMPV6;
	*ret_options = options;
}
