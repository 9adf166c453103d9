/* SPDX-License-Identifier: Apache-2.0 */
/* Address pairs as a policy: a rule for each MAC, with the prefixes of all entries that have it. */
#include "compile/macip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compile/section.h"
#include "core/cleanup.h"

struct acl_of_pairs {
	struct acl acl;
	struct mac_match *macs; /* by rule */
};

static void pairs_fini(struct acl_of_pairs *pairs)
{
	for (size_t i = 0; i < pairs->acl.rule_count; i++)
		addrset_fini(&pairs->acl.rules[i].src);
	free(pairs->acl.rules);
	free(pairs->macs);
}

static int compare_entries(const void *a, const void *b)
{
	const struct macip_entry *const *x = a, *const *y = b;

	return memcmp(&(*x)->mac, &(*y)->mac, sizeof((*x)->mac));
}

static bool has_any_mac(const struct macip_entry *entry)
{
	static const uint8_t zero[6];

	return !memcmp(entry->mac.mask, zero, sizeof(zero));
}

/* The next rule, for the MAC of the entry. It names no family and no IP field for section OTHER; without any
 * prefix it matches nothing in the others. */
static void begin_rule(struct acl_of_pairs *pairs, const struct macip_entry *entry)
{
	size_t at = pairs->acl.rule_count++;
	struct rule *rule = &pairs->acl.rules[at];

	pairs->macs[at] = entry->mac;
	*rule = (struct rule){
		.action = SECG_ACTION_ALLOW_STATELESS,
		.fragment = -1,
		.has_src = true,
	};
	if (!has_any_mac(entry))
		rule->l2.src = (struct mac_list){.macs = &pairs->macs[at], .count = 1};
}

static int add_prefixes(struct addrset *set, const struct macip_entry *entry)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < entry->prefix_count; i++)
		r = addrset_add(set, &entry->prefixes[i]);
	return r;
}

static int make_rules(struct acl_of_pairs *pairs, const struct macip_source *source)
{
	size_t total = source->counts[0] + source->counts[1], count = 0;
	_cleanup_free_ const struct macip_entry **sorted = calloc(total + 1, sizeof(*sorted));
	int r = 0;

	pairs->acl.rules = calloc(total + 1, sizeof(*pairs->acl.rules));
	pairs->macs = calloc(total + 1, sizeof(*pairs->macs));
	if (!sorted || !pairs->acl.rules || !pairs->macs)
		return -ENOMEM;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < source->counts[s]; i++)
			sorted[count++] = &source->entries[s][i];
	qsort(sorted, count, sizeof(*sorted), compare_entries);
	for (size_t i = 0; r >= 0 && i < count; i++) {
		if (!i || compare_entries(&sorted[i], &sorted[i - 1]))
			begin_rule(pairs, sorted[i]);
		r = add_prefixes(&pairs->acl.rules[pairs->acl.rule_count - 1].src, sorted[i]);
	}
	for (size_t i = 0; i < pairs->acl.rule_count; i++)
		addrset_normalize(&pairs->acl.rules[i].src);
	return r;
}

int compile_macip(struct compiled **ret_compiled, const struct macip_source *source,
		  const char *field, struct errors *reterr)
{
	_cleanup_(pairs_fini) struct acl_of_pairs pairs = {0};
	const struct acl *acl = &pairs.acl;
	const struct entry_lists lists = {.acls = &acl, .acl_count = 1, .takes_no_mac = true};
	int r = make_rules(&pairs, source);

	return r < 0 ? r : compile_lists(ret_compiled, &lists, field, reterr);
}

static bool is_pair(const struct macip_entry *entry, const struct prefix *prefix)
{
	static const uint8_t exact[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	return !memcmp(entry->mac.mask, exact, sizeof(exact)) &&
	       prefix->length == (prefix->family == 4 ? 32 : 128);
}

static void set_pair(struct secg_pair *ret_pair, const struct macip_entry *entry,
		     const struct prefix *prefix)
{
	struct secg_pair pair = {.family = prefix->family};

	memcpy(pair.mac, entry->mac.value, sizeof(pair.mac));
	if (prefix->family == 4)
		pair.address[0] = htonl((uint32_t)prefix->address);
	for (unsigned int i = 0; i < 4 && prefix->family == 6; i++)
		pair.address[i] = htonl((uint32_t)(prefix->address >> (96 - 32 * i)));
	*ret_pair = pair;
}

void macip_pairs(struct secg_pair ret_pairs[SECG_PAIRS], const struct macip_source *source)
{
	size_t count = 0;

	memset(ret_pairs, 0, SECG_PAIRS * sizeof(*ret_pairs));
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < source->counts[s]; i++) {
			const struct macip_entry *entry = &source->entries[s][i];

			for (size_t j = 0; j < entry->prefix_count && count < SECG_PAIRS; j++)
				if (is_pair(entry, &entry->prefixes[j]))
					set_pair(&ret_pairs[count++], entry, &entry->prefixes[j]);
		}
	}
}
