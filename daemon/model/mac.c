/* SPDX-License-Identifier: Apache-2.0 */
/* MAC addresses with masks. */
#include "model/mac.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAC_TEXT_LENGTH 17 /* aa:bb:cc:dd:ee:ff */

static int hex(char c)
{
	return c >= '0' && c <= '9'         ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10
					    : -1;
}

/* Reads MAC_TEXT_LENGTH bytes, with `separator` between pairs of digits. */
static bool read_bytes(uint8_t ret_bytes[6], const char *text, char separator)
{
	for (int i = 0; i < 6; i++) {
		int high = hex(text[i * 3]), low = high < 0 ? -1 : hex(text[i * 3 + 1]);

		if (low < 0 || (i < 5 && text[i * 3 + 2] != separator))
			return false;
		ret_bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

int mac_parse(struct mac_match *ret_mac, const char *text)
{
	struct mac_match mac = {.mask = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	bool is_outside = false;

	if (!read_bytes(mac.value, text, ':'))
		return -EINVAL;
	text += MAC_TEXT_LENGTH;
	if (*text == '/') {
		if (!read_bytes(mac.mask, ++text, ':'))
			return -EINVAL;
		text += MAC_TEXT_LENGTH;
	}
	if (*text)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(mac.value); i++) {
		is_outside = is_outside || mac.value[i] & ~mac.mask[i];
		mac.value[i] &= mac.mask[i];
	}
	*ret_mac = mac;
	return is_outside ? -EDOM : 0;
}

bool mac_is_exact(const struct mac_match *mac)
{
	static const uint8_t ones[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	return !memcmp(mac->mask, ones, sizeof(ones));
}

static int format_bytes(char *text, size_t size, const uint8_t bytes[6])
{
	return snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2],
			bytes[3], bytes[4], bytes[5]);
}

void mac_format(char *text, const struct mac_match *mac)
{
	int size = format_bytes(text, MAC_STRING_SIZE, mac->value);

	if (mac_is_exact(mac))
		return;
	text[size] = '/';
	format_bytes(text + size + 1, MAC_STRING_SIZE - (size_t)size - 1, mac->mask);
}

json_t *mac_json(const struct mac_match *mac)
{
	char text[MAC_STRING_SIZE];

	mac_format(text, mac);
	return json_string(text);
}

/* A MAC address with a number of bits behind it, or with other separators. 0: the mistake is another one. */
static int respelled_mac(struct parser *parser, const struct path *path, const char *text)
{
	struct mac_match mac = {.mask = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	char fixed[MAC_STRING_SIZE];
	unsigned int bits;

	if (read_bytes(mac.value, text, '-') && !text[MAC_TEXT_LENGTH]) {
		mac_format(fixed, &mac);
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "has '-' between its bytes: write \"%s\"", fixed);
	}
	if (!read_bytes(mac.value, text, ':') || text[MAC_TEXT_LENGTH] != '/')
		return 0;
	text += MAC_TEXT_LENGTH + 1;
	if (!*text || strlen(text) > 2 || text[strspn(text, "0123456789")] ||
	    sscanf(text, "%u", &bits) != 1 || bits > 48)
		return 0;
	for (unsigned int i = 0; i < 6; i++) {
		unsigned int kept = bits > i * 8 ? bits - i * 8 : 0;

		mac.mask[i] = (uint8_t)(kept >= 8 ? 0xff : 0xff00 >> kept);
		mac.value[i] &= mac.mask[i];
	}
	mac_format(fixed, &mac);
	return parse_error(parser, path, ERROR_BAD_VALUE,
			   "has the length of a mask behind the '/': write \"%s\"", fixed);
}

int parse_mac(struct parser *parser, const struct path *path, const json_t *value,
	      struct mac_match *ret_mac)
{
	const char *text = json_string_value(value);
	char fixed[MAC_STRING_SIZE];
	struct mac_match mac;
	int r;

	if (!text)
		return parse_bad_type(parser, path, value, "a MAC address");
	r = mac_parse(&mac, text);
	if (r == -EDOM) {
		mac_format(fixed, &mac);
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "has bits set that its mask leaves out: write \"%s\"", fixed);
	}
	if (!r) {
		*ret_mac = mac;
		return 0;
	}
	r = respelled_mac(parser, path, text);
	if (r < 0)
		return r;
	return parse_error(
		parser, path, ERROR_BAD_VALUE,
		"must be a MAC address such as \"52:54:00:12:34:56\", or one with a mask "
		"such as \"52:54:00:00:00:00/ff:ff:ff:00:00:00\", not \"%s\"",
		excerpt(text).text);
}
