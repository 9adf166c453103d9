/* SPDX-License-Identifier: Apache-2.0 */
/* A test program with ONLY=test_name in its environment runs that test alone: `make check-cases` does so. */
#include <stdlib.h>

/* Programs without tests are linked without cmocka. */
extern void cmocka_set_test_filter(const char *pattern) __attribute__((weak));

static __attribute__((constructor)) void choose(void)
{
	const char *only = getenv("ONLY");

	if (only && cmocka_set_test_filter)
		cmocka_set_test_filter(only);
}
