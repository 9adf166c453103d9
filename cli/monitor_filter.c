/* SPDX-License-Identifier: Apache-2.0 */
/* Which events sgctl monitor shows. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "memory.h"
#include "monitor.h"
#include "options.h"
#include "value.h"

static const char *const fields[FILTER_COUNT] = {
#define MONITOR_FILTER_FIELD(name, option, field) field,
	MONITOR_FILTERS(MONITOR_FILTER_FIELD)
#undef MONITOR_FILTER_FIELD
};

static int parse_address(struct monitor_prefix *prefix, const char *text)
{
	prefix->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	return inet_pton(prefix->family, text, prefix->address) == 1 ? 0 : -EINVAL;
}

static int parse_prefix(struct monitor_prefix *ret_prefix, const char *text)
{
	_cleanup_free_ char *address = memory_copy(text);
	struct monitor_prefix prefix = {0};
	char *slash = strchr(address, '/'), *end = NULL;
	unsigned long length;

	if (slash)
		*slash++ = '\0';
	if (parse_address(&prefix, address) < 0)
		return -EINVAL;
	prefix.length = prefix.family == AF_INET6 ? 128 : 32;
	if (slash) {
		length = strtoul(slash, &end, 10);
		if (end == slash || *end != '\0' || slash[0] == '-' || length > prefix.length)
			return -EINVAL;
		prefix.length = (unsigned int)length;
	}
	*ret_prefix = prefix;
	return 0;
}

static bool is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

int filters_set(struct filters *filters, enum monitor_filter filter, const char *value)
{
	int r = 0;

	filters->values[filter] = value;
	switch (filter) {
	case FILTER_SRC:
	case FILTER_DST:
		r = parse_prefix(filter == FILTER_SRC ? &filters->src : &filters->dst, value);
		if (r < 0)
			return options_misuse(&verb_monitor,
					      "--%s takes an address or prefix, not '%s'",
					      fields[filter], value);
		break;
	case FILTER_SPORT:
	case FILTER_DPORT:
		if (!is_number(value))
			return options_misuse(&verb_monitor, "--%s takes a number, not '%s'",
					      fields[filter], value);
		break;
	case FILTER_DIRECTION:
		if (strcmp(value, "from") != 0 && strcmp(value, "to") != 0)
			return options_misuse(&verb_monitor,
					      "--direction takes from or to, not '%s'", value);
		break;
	case FILTER_VERDICT:
		if (strcmp(value, "pass") != 0 && strcmp(value, "drop") != 0 &&
		    strcmp(value, "reject") != 0)
			return options_misuse(&verb_monitor,
					      "--verdict takes pass, drop or reject, not '%s'",
					      value);
		break;
	default:
		break;
	}
	return OPTIONS_GO;
}

static bool is_inside(const struct monitor_prefix *prefix, const char *text)
{
	struct monitor_prefix host = {0};
	unsigned int bytes = prefix->length / 8, bits = prefix->length % 8;

	if (parse_address(&host, text) < 0 || host.family != prefix->family)
		return false;
	if (memcmp(host.address, prefix->address, bytes) != 0)
		return false;
	return !bits || (host.address[bytes] ^ prefix->address[bytes]) >> (8 - bits) == 0;
}

/* A rule's id alone is enough: acl/id, or id. */
static bool is_rule(const char *key, const char *wanted)
{
	const char *slash = strchr(key, '/');

	return strcmp(key, wanted) == 0 || (slash && strcmp(slash + 1, wanted) == 0);
}

/* What is lost is of many kinds: only what it says of them can keep it from being shown. */
bool filters_fit(const struct filters *filters, const json_t *event)
{
	bool is_lost = strcmp(value_member(event, "type"), "lost") == 0;

	for (int i = 0; i < FILTER_COUNT; i++) {
		const char *wanted = filters->values[i];
		_cleanup_free_ char *text = NULL;
		bool fits;

		if (!wanted)
			continue;
		if (is_lost && !json_object_get(event, fields[i]))
			continue;
		text = value_text(json_object_get(event, fields[i]));
		if (i == FILTER_SRC || i == FILTER_DST)
			fits = is_inside(i == FILTER_SRC ? &filters->src : &filters->dst, text);
		else if (i == FILTER_RULE)
			fits = is_rule(text, wanted);
		else
			fits = strcmp(text, wanted) == 0;
		if (!fits)
			return false;
	}
	return true;
}
