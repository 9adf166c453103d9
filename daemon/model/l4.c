/* SPDX-License-Identifier: Apache-2.0 */
/* Alternatives of transport conditions. */
#include "model/l4.h"

void l4_draft_fini(struct l4_draft *draft)
{
	range_list_fini(&draft->src_ports);
	range_list_fini(&draft->dst_ports);
	for (int v = 0; v < ICMP_VERSIONS; v++) {
		range_list_fini(&draft->icmp_type[v]);
		range_list_fini(&draft->icmp_code[v]);
	}
}

static void match_fini(struct l4_match *match)
{
	range_list_fini(&match->high);
	range_list_fini(&match->low);
}

void l4_free(struct l4_match *matches, size_t count)
{
	for (size_t i = 0; i < count; i++)
		match_fini(&matches[i]);
	free(matches);
}

void l4_list_fini(struct l4_list *list)
{
	l4_free(list->matches, list->count);
	*list = (struct l4_list){0};
}

int l4_append(struct l4_list *list, struct l4_match match)
{
	struct l4_match *matches =
		reallocarray(list->matches, list->count + 1, sizeof(*list->matches));

	if (!matches) {
		match_fini(&match);
		return -ENOMEM;
	}
	list->matches = matches;
	matches[list->count++] = match;
	return 0;
}

int l4_append_copy(struct l4_list *list, const struct l4_match *matches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct l4_match copy = matches[i];
		int r;

		copy.high = copy.low = (struct range_list){0};
		r = range_list_copy(&copy.high, &matches[i].high);
		if (r < 0)
			return r;
		r = range_list_copy(&copy.low, &matches[i].low);
		if (r < 0) {
			match_fini(&copy);
			return r;
		}
		r = l4_append(list, copy);
		if (r < 0)
			return r;
	}
	return 0;
}

static struct range_list take_ranges(struct range_list *list)
{
	struct range_list taken = *list;

	*list = (struct range_list){0};
	return taken;
}

static const uint8_t icmp_protocol[ICMP_VERSIONS] = {PROTOCOL_ICMP, PROTOCOL_ICMPV6};
static const uint8_t icmp_family[ICMP_VERSIONS] = {4, 6};

static int append_icmp(struct l4_list *list, struct l4_draft *draft, enum icmp_version version)
{
	struct l4_match match = {
		.family = icmp_family[version],
		.has_protocols = true,
		.high = take_ranges(&draft->icmp_type[version]),
		.low = take_ranges(&draft->icmp_code[version]),
	};

	protocols_add(match.protocols, icmp_protocol[version]);
	return l4_append(list, match);
}

static int append_ping(struct l4_list *list, enum icmp_version version)
{
	uint16_t type = (uint16_t)icmp_type_find(version, "echo-request");
	struct l4_match match = {.family = icmp_family[version], .has_protocols = true};
	int r = range_list_add(&match.high, (struct range){type, type});

	if (r < 0)
		return r;
	protocols_add(match.protocols, icmp_protocol[version]);
	return l4_append(list, match);
}

int l4_append_draft(struct l4_list *list, struct l4_draft *draft)
{
	struct l4_match plain = {.has_protocols = true};
	bool has_plain = false;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(plain.protocols); i++)
		plain.protocols[i] = draft->protocols[i];
	for (int v = 0; v < ICMP_VERSIONS; v++) {
		r = 0;
		if (protocols_have(draft->protocols, icmp_protocol[v]))
			r = append_icmp(list, draft, v);
		else if (draft->is_ping)
			r = append_ping(list, v);
		if (r < 0)
			return r;
		plain.protocols[icmp_protocol[v] / 64] &= ~(UINT64_C(1) << icmp_protocol[v] % 64);
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain.protocols); i++)
		has_plain = has_plain || plain.protocols[i];
	if (!has_plain)
		return 0;
	plain.high = take_ranges(&draft->src_ports);
	plain.low = take_ranges(&draft->dst_ports);
	return l4_append(list, plain);
}

unsigned int l4_families(const struct l4_match *matches, size_t count)
{
	unsigned int families = 0;

	for (size_t i = 0; i < count; i++)
		families |= matches[i].family == 4   ? FAMILIES_IPV4
			    : matches[i].family == 6 ? FAMILIES_IPV6
						     : FAMILIES_ALL;
	return families;
}
