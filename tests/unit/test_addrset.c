/* SPDX-License-Identifier: Apache-2.0 */
/* Text of prefixes, and the algebra of sets of ranges against a bit map of a small address space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/addrset.h"

static const struct {
	const char *text;
	int result;
	const char *canonical; /* NULL: nothing is written */
} prefix_rows[] = {
	{"192.0.2.1", 0, "192.0.2.1"},
	{"192.0.2.1/32", 0, "192.0.2.1"},
	{"192.0.2.0/24", 0, "192.0.2.0/24"},
	{"0.0.0.0/0", 0, "0.0.0.0/0"},
	{"255.255.255.255", 0, "255.255.255.255"},
	{"128.0.0.0/1", 0, "128.0.0.0/1"},
	{"::/0", 0, "::/0"},
	{"2001:DB8:0:0:0:0:0:1", 0, "2001:db8::1"},
	{"2001:db8::/32", 0, "2001:db8::/32"},
	{"::ffff:192.0.2.1/128", 0, "::ffff:192.0.2.1"},
	{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	{"192.0.2.1/24", -EDOM, "192.0.2.0/24"},
	{"192.0.2.1/0", -EDOM, "0.0.0.0/0"},
	{"192.0.2.1/31", -EDOM, "192.0.2.0/31"},
	{"2001:db8::1/64", -EDOM, "2001:db8::/64"},
	{"::1/0", -EDOM, "::/0"},
	{"", -EINVAL, NULL},
	{"/24", -EINVAL, NULL},
	{"192.0.2", -EINVAL, NULL},
	{"192.0.2.256", -EINVAL, NULL},
	{"192.0.02.1", -EINVAL, NULL},
	{"192.0.2.0/", -EINVAL, NULL},
	{"192.0.2.0/33", -EINVAL, NULL},
	{"192.0.2.0/024", -EINVAL, NULL},
	{"192.0.2.0/+24", -EINVAL, NULL},
	{"192.0.2.0/24x", -EINVAL, NULL},
	{"192.0.2.0/4294967320", -EINVAL, NULL},
	{"192.0.2.0/255.255.255.0", -EINVAL, NULL},
	{" 192.0.2.1", -EINVAL, NULL},
	{"2001:db8::/129", -EINVAL, NULL},
	{"fe80::1%eth0", -EINVAL, NULL},
	{"1:2:3:4:5:6:7:8:9", -EINVAL, NULL},
	{"host.example.org", -EINVAL, NULL},
	{"1111111111111111111111111111111111111111111111111111111111111", -EINVAL, NULL},
};

static void test_prefixes_are_read_and_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(prefix_rows); i++) {
		struct prefix prefix = {.family = 99};
		char text[PREFIX_STRING_SIZE];

		assert_int_equal(prefix_parse(&prefix, prefix_rows[i].text), prefix_rows[i].result);
		if (!prefix_rows[i].canonical) {
			assert_int_equal(prefix.family, 99);
			continue;
		}
		prefix_format(text, &prefix);
		assert_string_equal(text, prefix_rows[i].canonical);
	}
}

static struct addrset set_of(const char *const *texts)
{
	struct addrset set = {0};

	for (; *texts; texts++) {
		struct prefix prefix;

		assert_int_equal(prefix_parse(&prefix, *texts), 0);
		assert_int_equal(addrset_add(&set, &prefix), 0);
	}
	addrset_normalize(&set);
	return set;
}
#define SET(...) set_of((const char *const[]){__VA_ARGS__, NULL})

static bool has(const struct addrset *set, const char *address)
{
	struct prefix prefix;

	assert_int_equal(prefix_parse(&prefix, address), 0);
	return addrset_has(set, prefix.family, prefix.address);
}

static void test_neighbours_merge(void **state)
{
	_cleanup_(addrset_fini) struct addrset set =
		SET("10.0.1.0/24", "10.0.0.0/24", "10.0.0.128/25", "10.0.3.0/24", "::/1",
		    "8000::/1", "255.255.255.255", "255.255.255.254");

	(void)state;
	assert_int_equal(set.v4.count, 3);
	assert_int_equal(set.v6.count, 1);
	assert_true(set.v6.ranges[0].first == 0 && !(addr_t)(set.v6.ranges[0].last + 1));
	assert_true(has(&set, "10.0.1.255") && !has(&set, "10.0.2.0") && has(&set, "10.0.3.0"));
	assert_true(has(&set, "255.255.255.255") && !has(&set, "255.255.255.253"));
	assert_true(has(&set, "ffff::1"));
}

static void test_families_do_not_mix(void **state)
{
	_cleanup_(addrset_fini) struct addrset all4 = SET("0.0.0.0/0");
	_cleanup_(addrset_fini) struct addrset all6 = SET("::/0");

	(void)state;
	assert_true(has(&all4, "192.0.2.1") && !has(&all4, "::1"));
	assert_true(has(&all6, "::1") && !has(&all6, "0.0.0.1"));
}

static void test_a_lent_set_is_copied_before_it_grows(void **state)
{
	_cleanup_(addrset_fini) struct addrset owner = SET("10.0.0.0/24", "2001:db8::/32");
	_cleanup_(addrset_fini) struct addrset lent = {0};
	struct prefix more;

	(void)state;
	addrset_lend(&lent, &owner);
	assert_ptr_equal(lent.v4.ranges, owner.v4.ranges);
	assert_int_equal(prefix_parse(&more, "192.0.2.1"), 0);
	assert_int_equal(addrset_add(&lent, &more), 0);
	addrset_normalize(&lent);
	assert_true(has(&lent, "10.0.0.1") && has(&lent, "192.0.2.1") && has(&lent, "2001:db8::1"));
	assert_false(has(&owner, "192.0.2.1"));
}

/* ── random sets at the end of the IPv4 space and both ends of IPv6's ──────────────────────────────── */

#define SPACE 256

static addr_t place(uint8_t family, unsigned int i)
{
	if (family == 4)
		return 0xffffff00u + i;
	return i < SPACE / 2 ? i : ~(addr_t)0 - (SPACE - 1 - i);
}

static void fill(struct addrset *set, bool bits[2][SPACE], unsigned int count)
{
	for (; count; count--) {
		struct prefix prefix = {.family = rand() & 1 ? 4 : 6};
		unsigned int length_free = (unsigned int)rand() % 5;
		unsigned int first = (unsigned int)rand() % SPACE >> length_free << length_free;

		prefix.length = (uint8_t)((prefix.family == 4 ? 32 : 128) - length_free);
		prefix.address = place(prefix.family, first);
		assert_int_equal(addrset_add(set, &prefix), 0);
		for (unsigned int i = first; i < first + (1u << length_free); i++)
			bits[prefix.family == 6][i] = true;
	}
	addrset_normalize(set);
}

static void assert_canonical(const struct addr_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		assert_true(list->ranges[i].first <= list->ranges[i].last);
		assert_true(!i || (list->ranges[i].first > list->ranges[i - 1].last &&
				   list->ranges[i].first - list->ranges[i - 1].last > 1));
	}
}

static void assert_set(const struct addrset *set, bool bits[2][SPACE])
{
	assert_canonical(&set->v4);
	assert_canonical(&set->v6);
	for (unsigned int i = 0; i < SPACE; i++) {
		assert_int_equal(addrset_has(set, 4, place(4, i)), bits[0][i]);
		assert_int_equal(addrset_has(set, 6, place(6, i)), bits[1][i]);
	}
}

static void test_random_sets_agree_with_bit_maps(void **state)
{
	(void)state;
	srand(20240601);
	for (unsigned int round = 0; round < 2000; round++) {
		_cleanup_(addrset_fini) struct addrset a = {0};
		_cleanup_(addrset_fini) struct addrset b = {0};
		bool in_a[2][SPACE] = {{false}}, in_b[2][SPACE] = {{false}};

		fill(&a, in_a, (unsigned int)rand() % 40);
		fill(&b, in_b, (unsigned int)rand() % 40);
		assert_set(&a, in_a);
		for (unsigned int i = 0; i < 2 * SPACE; i++) {
			bool *bit = &in_a[i / SPACE][i % SPACE];
			bool other = in_b[i / SPACE][i % SPACE];

			*bit = round & 1 ? *bit || other : *bit && !other;
		}
		if (round & 1) {
			assert_int_equal(addrset_add_set(&a, &b), 0);
			addrset_normalize(&a);
		} else {
			assert_int_equal(addrset_subtract(&a, &b), 0);
		}
		assert_set(&a, in_a);
		assert_set(&b, in_b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes_are_read_and_written),
		cmocka_unit_test(test_neighbours_merge),
		cmocka_unit_test(test_families_do_not_mix),
		cmocka_unit_test(test_a_lent_set_is_copied_before_it_grows),
		cmocka_unit_test(test_random_sets_agree_with_bit_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
