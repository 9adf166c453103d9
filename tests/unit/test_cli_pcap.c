/* SPDX-License-Identifier: Apache-2.0 */
/* Reading captures, whole and damaged, and packets as text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../cli/memory.h"
#include "../../cli/packet_text.h"
#include "../../cli/pcap.h"

#define HEAD_SIZE 24

struct capture {
	uint8_t bytes[512];
	size_t size;
};

static void put32(struct capture *capture, uint32_t value, bool is_big)
{
	for (int i = 0; i < 4; i++)
		capture->bytes[capture->size++] = (uint8_t)(value >> 8 * (is_big ? 3 - i : i));
}

static void put_head(struct capture *capture, uint32_t magic, uint32_t link, bool is_big)
{
	*capture = (struct capture){0};
	put32(capture, magic, is_big);
	put32(capture, is_big ? 2 << 16 | 4 : 4 << 16 | 2, is_big);
	put32(capture, 0, is_big);
	put32(capture, 0, is_big);
	put32(capture, 65535, is_big);
	put32(capture, link, is_big);
}

static void put_packet(struct capture *capture, uint32_t size, uint32_t length, bool is_big)
{
	put32(capture, 1, is_big);
	put32(capture, 2, is_big);
	put32(capture, size, is_big);
	put32(capture, length, is_big);
	for (uint32_t i = 0; i < size && i < 64; i++)
		capture->bytes[capture->size++] = (uint8_t)i;
}

/* Packets until the end; -EINVAL with the message. */
static int read_all(const struct capture *capture, size_t size, size_t *ret_packets,
		    char message[PCAP_MESSAGE_SIZE])
{
	/* of its own size, so that a sanitizer sees a step beyond */
	_cleanup_free_ uint8_t *copy = memory_check(malloc(size + 1));
	_cleanup_(pcap_fini) struct pcap pcap = {0};
	FILE *file;
	int r;

	memcpy(copy, capture->bytes, size);
	file = size ? fmemopen(copy, size, "r") : fopen("/dev/null", "re");
	assert_non_null(file);
	*ret_packets = 0;
	r = pcap_open(&pcap, file, message);
	while (r >= 0 && (r = pcap_next(&pcap, message)) > 0) {
		assert_true(pcap.size <= pcap.length);
		++*ret_packets;
	}
	fclose(file);
	return r;
}

static void test_kinds(void **state)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};
	static const uint32_t links[] = {1, 101, 228, 0x14000001};

	(void)state;
	for (int i = 0; i < 16; i++) {
		struct capture capture;
		struct pcap pcap;
		char message[PCAP_MESSAGE_SIZE];
		FILE *file;

		put_head(&capture, magics[i & 1], links[i / 4], i & 2);
		put_packet(&capture, 60, 1500, i & 2);
		put_packet(&capture, 0, 0, i & 2);
		file = fmemopen(capture.bytes, capture.size, "r");
		assert_int_equal(pcap_open(&pcap, file, message), 0);
		assert_int_equal(pcap.is_raw, i / 4 == 1 || i / 4 == 2);
		assert_int_equal(pcap_next(&pcap, message), 1);
		assert_int_equal(pcap.number, 1);
		assert_int_equal(pcap.size, 60);
		assert_int_equal(pcap.length, 1500);
		assert_int_equal(pcap.bytes[59], 59);
		assert_int_equal(pcap_next(&pcap, message), 1);
		assert_int_equal(pcap.size, 0);
		assert_int_equal(pcap_next(&pcap, message), 0);
		pcap_fini(&pcap);
		fclose(file);
	}
}

static void test_refused(void **state)
{
	static const struct {
		uint32_t magic, link;
		const char *message;
	} rows[] = {
		{0x0a0d0d0a, 1, "editcap -F pcap"},  {0xa1b2c3d5, 1, "not a pcap file"},
		{0xa1b2c3d4, 113, "capture on one"}, {0xa1b2c3d4, 276, "capture on one"},
		{0xa1b2c3d4, 105, "link type 105"},
	};
	char message[PCAP_MESSAGE_SIZE];
	struct capture capture;
	size_t packets;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_head(&capture, rows[i].magic, rows[i].link, false);
		assert_int_equal(read_all(&capture, capture.size, &packets, message), -EINVAL);
		assert_non_null(strstr(message, rows[i].message));
	}
	put_head(&capture, 0xa1b2c3d4, 1, false);
	capture.bytes[4] = 3;
	assert_int_equal(read_all(&capture, capture.size, &packets, message), -EINVAL);
	assert_non_null(strstr(message, "version 3"));
	put_head(&capture, 0xa1b2c3d4, 1, false);
	put_packet(&capture, PCAP_MAX_BYTES + 1, PCAP_MAX_BYTES + 1, false);
	assert_int_equal(read_all(&capture, capture.size, &packets, message), -EINVAL);
	assert_non_null(strstr(message, "packet 1 would have 262145 bytes"));
}

/* Cut off anywhere: an error everywhere but between two packets. */
static void test_cut_off(void **state)
{
	char message[PCAP_MESSAGE_SIZE];
	struct capture capture;
	size_t packets;

	(void)state;
	put_head(&capture, 0xa1b2c3d4, 1, false);
	put_packet(&capture, 20, 20, false);
	put_packet(&capture, 30, 30, false);
	for (size_t size = 0; size <= capture.size; size++) {
		bool is_whole =
			size == HEAD_SIZE || size == HEAD_SIZE + 36 || size == HEAD_SIZE + 36 + 46;

		assert_int_equal(read_all(&capture, size, &packets, message),
				 is_whole ? 0 : -EINVAL);
		assert_int_equal(packets, size < HEAD_SIZE + 36        ? 0
					  : size < HEAD_SIZE + 36 + 46 ? 1
								       : 2);
	}
}

/* Any bytes: an end, and nothing read beyond them. */
static void test_damaged(void **state)
{
	char message[PCAP_MESSAGE_SIZE];
	struct capture capture, damaged;
	uint32_t random = 1;
	size_t packets;

	(void)state;
	put_head(&capture, 0xa1b2c3d4, 1, false);
	put_packet(&capture, 20, 20, false);
	put_packet(&capture, 30, 30, false);
	for (int i = 0; i < 20000; i++) {
		damaged = capture;
		for (int flips = 0; flips < 4; flips++) {
			random = random * 1103515245 + 12345;
			damaged.bytes[(random >> 8) % capture.size] = (uint8_t)(random >> 24);
		}
		read_all(&damaged, capture.size - random % 8, &packets, message);
	}
}

/* ── packets as text ────────────────────────────────────────────────────────────────────────────── */

#define MACS "\x02\0\0\0\0\1\x02\0\0\0\0\2"
#define IPV4 "\x45\0\0\x28\0\0\0\0\x40"
#define FROM "\x0a\0\0\1\x0a\0\0\2"

static void test_text(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		bool is_raw;
		const char *text;
	} rows[] = {
#define ROW(bytes, is_raw, text) {bytes, sizeof(bytes) - 1, is_raw, text}
		ROW(MACS "\x08\0" IPV4 "\6\0\0" FROM "\0\1\0\x16\0\0\0\1\0\0\0\0\x50\x12", false,
		    "tcp 10.0.0.1:1 > 10.0.0.2:22 syn,ack"),
		ROW(MACS "\x81\0\0\5\x08\0" IPV4 "\x11\0\0" FROM "\0\1\0\x35", false,
		    "udp 10.0.0.1:1 > 10.0.0.2:53"),
		ROW(IPV4 "\1\0\0" FROM "\x08\0", true, "icmp 10.0.0.1 > 10.0.0.2 type 8 code 0"),
		ROW(IPV4 "\xfd\0\0" FROM, true, "protocol 253 10.0.0.1 > 10.0.0.2"),
		ROW("\x45\0\0\x28\0\0\0\1\x40\x11\0\0" FROM "\0\1\0\x35", true,
		    "udp 10.0.0.1 > 10.0.0.2, later fragment"),
		ROW("\x60\0\0\0\0\0\x11\x40"
		    "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
		    "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\1\0\x35",
		    true, "udp [fd00::1]:1 > [fd00::2]:53"),
		ROW(MACS "\x08\6", false, "arp"),
		ROW(MACS "\x88\xcc", false, "EtherType 0x88cc"),
		ROW(MACS "\x86\xdd\x60", false, "IPv6, cut off"),
		ROW(MACS "\x08", false, "13 bytes"),
		ROW("", true, "empty"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_free_ char *text =
			packet_text((const uint8_t *)rows[i].bytes, rows[i].size, rows[i].is_raw);

		assert_string_equal(text, rows[i].text);
	}
}

/* Cut off anywhere, header lengths as they may be. */
static void test_text_of_anything(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t size = (size_t)i % 80;
		_cleanup_free_ uint8_t *bytes = memory_check(malloc(size + 1));
		_cleanup_free_ char *text = NULL;

		for (size_t j = 0; j < size; j++) {
			random = random * 1103515245 + 12345;
			bytes[j] = (uint8_t)(random >> 16);
		}
		if (size > 14 && i % 3) {
			bytes[12] = i % 3 == 1 ? 0x08 : 0x86;
			bytes[13] = i % 3 == 1 ? 0x00 : 0xdd;
		}
		text = packet_text(bytes, size, i % 7 == 0);
		assert_non_null(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut_off), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_text),    cmocka_unit_test(test_text_of_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
