/* SPDX-License-Identifier: Apache-2.0 */
/* Reading pcap files. */
#include "pcap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define MAGIC_MICRO    0xa1b2c3d4
#define MAGIC_NANO     0xa1b23c4d
#define MAGIC_NG       0x0a0d0d0a /* reads alike in both byte orders */
#define MAJOR_VERSION  2

#define FILE_HEAD_SIZE 24
#define HEAD_SIZE      16
#define LINK_MASK      0x03ffffff /* above: whether a checksum follows each frame */

#define LINK_ETHERNET  1
#define LINK_COOKED    113 /* tcpdump -i any */
#define LINK_COOKED2   276

static int fail(char message[PCAP_MESSAGE_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int fail(char message[PCAP_MESSAGE_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, PCAP_MESSAGE_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

static uint32_t get32(const uint8_t *at, bool is_swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap32(value) : value;
}

static uint16_t get16(const uint8_t *at, bool is_swapped)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap16(value) : value;
}

static bool read_magic(uint32_t magic, bool *ret_is_swapped)
{
	*ret_is_swapped =
		magic == __builtin_bswap32(MAGIC_MICRO) || magic == __builtin_bswap32(MAGIC_NANO);
	return *ret_is_swapped || magic == MAGIC_MICRO || magic == MAGIC_NANO;
}

/* LINKTYPE_RAW, what some systems write for it, LINKTYPE_IPV4 and _IPV6. */
static bool is_raw_link(uint32_t link)
{
	return link == 101 || link == 12 || link == 14 || link == 228 || link == 229;
}

int pcap_open(struct pcap *ret_pcap, FILE *file, char message[PCAP_MESSAGE_SIZE])
{
	struct pcap pcap = {.file = file};
	uint8_t head[FILE_HEAD_SIZE];
	size_t size = fread(head, 1, sizeof(head), file);
	uint32_t link;

	if (size >= 4 && get32(head, false) == MAGIC_NG)
		return fail(message, "is a pcapng file, type: editcap -F pcap OLD NEW");
	if (size < sizeof(head) || !read_magic(get32(head, false), &pcap.is_swapped))
		return fail(message, "is not a pcap file");
	if (get16(head + 4, pcap.is_swapped) != MAJOR_VERSION)
		return fail(message, "is a pcap file of version %u, not %d",
			    get16(head + 4, pcap.is_swapped), MAJOR_VERSION);
	link = get32(head + 20, pcap.is_swapped) & LINK_MASK;
	pcap.is_raw = is_raw_link(link);
	if (link == LINK_COOKED || link == LINK_COOKED2)
		return fail(message, "was captured on all interfaces at once (tcpdump -i any): "
				     "capture on one");
	if (link != LINK_ETHERNET && !pcap.is_raw)
		return fail(message,
			    "has frames of link type %" PRIu32 ", not Ethernet (1) or raw IP (101)",
			    link);
	*ret_pcap = pcap;
	return 0;
}

int pcap_next(struct pcap *pcap, char message[PCAP_MESSAGE_SIZE])
{
	uint8_t head[HEAD_SIZE];
	size_t size = fread(head, 1, sizeof(head), pcap->file);
	size_t captured, length;

	if (size == 0)
		return ferror(pcap->file) ? fail(message, "cannot be read on: %s", strerror(errno))
					  : 0;
	pcap->number++;
	if (size < sizeof(head))
		return fail(message, "ends inside packet %" PRIu64, pcap->number);
	captured = get32(head + 8, pcap->is_swapped);
	length = get32(head + 12, pcap->is_swapped);
	if (captured > PCAP_MAX_BYTES)
		return fail(message, "is damaged: packet %" PRIu64 " would have %zu bytes",
			    pcap->number, captured);
	if (!pcap->bytes)
		pcap->bytes = memory_check(malloc(PCAP_MAX_BYTES));
	if (fread(pcap->bytes, 1, captured, pcap->file) < captured)
		return fail(message, "ends inside packet %" PRIu64, pcap->number);
	pcap->size = captured;
	pcap->length = length > captured ? length : captured;
	return 1;
}

void pcap_fini(struct pcap *pcap)
{
	free(pcap->bytes);
	*pcap = (struct pcap){0};
}
