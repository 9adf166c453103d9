/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator in place of the C library's that counts, and fails where it is told to. For one test program; included
 * after cmocka.h. A sanitizer brings its own, so there the tests are skipped.
 */
#ifndef SECG_TESTS_MEMORY_LAB_H
#define SECG_TESTS_MEMORY_LAB_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/error.h"

#ifdef __SANITIZE_ADDRESS__
static void exhaust(int (*run)(struct errors *, size_t *), int wanted, size_t wanted_count)
{
	(void)run;
	(void)wanted;
	(void)wanted_count;
	print_message("skipped: the sanitizer replaces the allocator that this test replaces\n");
	skip();
}
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

static bool is_counting;
static long left;  /* allocations until the one that fails */
static long alive; /* allocated while counting and not freed since */

static bool is_refused(void)
{
	return is_counting && --left < 0;
}

static void *counted(void *memory)
{
	if (is_counting && memory)
		alive++;
	return memory;
}

void *malloc(size_t size)
{
	return is_refused() ? (errno = ENOMEM, NULL) : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return is_refused() ? (errno = ENOMEM, NULL) : counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
	void *memory;

	if (is_refused()) {
		errno = ENOMEM;
		return NULL;
	}
	memory = __libc_realloc(old, size);
	return old ? memory : counted(memory);
}

void free(void *old)
{
	if (is_counting && old)
		alive--;
	__libc_free(old);
}

/* Fails allocation after allocation until none is left to fail. */
static void exhaust(int (*run)(struct errors *, size_t *), int wanted, size_t wanted_count)
{
	size_t count = 0;
	long n = 0;
	int r;

	for (;; n++) {
		struct errors errors = {0};

		left = n;
		alive = 0;
		is_counting = true;
		r = run(&errors, &count);
		if (r == -ENOMEM)
			left = 1000000;
		errors_fini(&errors);
		is_counting = false;
		if (alive)
			fail_msg("allocation %ld failed: %ld lost", n, alive);
		if (left >= 0 && r != -ENOMEM)
			break;
		if (r != -ENOMEM)
			fail_msg("allocation %ld failed unnoticed: %d", n, r);
	}
	print_message("%ld allocations, each failed once\n", n);
	assert_int_equal(r, wanted);
	assert_int_equal(count, wanted_count);
	assert_true(n > 50);
}
#endif

#endif
