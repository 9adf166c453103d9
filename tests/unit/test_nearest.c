/* SPDX-License-Identifier: Apache-2.0 */
/* Which word is guessed behind a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/nearest.h"

static const char *const words[] = {"id",        "description", "action",    "family", "src",
				    "dst",       "protocol",    "src_ports", "ports",  "dst_ports",
				    "icmp_type", "icmp_code",   "service",   "labels", "interface",
				    "web",       "db"};

static const char *guess(const char *wanted)
{
	struct nearest nearest = nearest_to(wanted);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		nearest_offer(&nearest, words[i]);
	return nearest.best;
}

static void typing_mistakes_are_seen(void **state)
{
	(void)state;
	assert_string_equal(guess("protcol"), "protocol");
	assert_string_equal(guess("protoocl"), "protocol");
	assert_string_equal(guess("Protocol"), "protocol");
	assert_string_equal(guess("dst-ports"), "dst_ports");
	assert_string_equal(guess("dstPorts"), "dst_ports");
	assert_string_equal(guess("dst_port"), "dst_ports");
	assert_string_equal(guess("wbe"), "web");
}

static void a_part_of_a_word_is_seen(void **state)
{
	(void)state;
	assert_string_equal(guess("inter"), "interface");
	assert_string_equal(guess("type"), "icmp_type");
}

static void words_of_other_tools_are_known(void **state)
{
	(void)state;
	assert_string_equal(guess("port"), "dst_ports");
	assert_string_equal(guess("Ports"), "ports"); /* the word itself is the nearest */
	assert_string_equal(guess("destination"), "dst");
}

static void what_is_far_off_is_not_guessed(void **state)
{
	static const char long_word[] =
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

	(void)state;
	assert_null(guess("colour"));
	assert_null(guess("from"));
	assert_null(guess("x"));
	assert_null(guess(""));
	assert_null(guess("xyz"));
	assert_null(guess(long_word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(typing_mistakes_are_seen),
		cmocka_unit_test(a_part_of_a_word_is_seen),
		cmocka_unit_test(words_of_other_tools_are_known),
		cmocka_unit_test(what_is_far_off_is_not_guessed),
	};

	return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
