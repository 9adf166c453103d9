/* SPDX-License-Identifier: Apache-2.0 */
/* Reads until the end, into a buffer that doubles. */
#include "slurp.h"

#include <errno.h>
#include <string.h>

#include "memory.h"

char *slurp(FILE *stream, const char *name, struct problems *reterr, size_t *ret_size)
{
	_cleanup_free_ char *bytes = NULL;
	size_t size = 0, room = 0;

	for (;;) {
		size_t got;

		bytes = memory_grow(bytes, size, &room, 1);
		got = fread(bytes + size, 1, room - size, stream);
		size += got;
		if (size > SLURP_MAX_BYTES) {
			problems_add(reterr, name, 0, 0, "larger than %u MiB",
				     SLURP_MAX_BYTES >> 20);
			return NULL;
		}
		if (got == 0)
			break;
	}
	if (ferror(stream)) {
		problems_add(reterr, name, 0, 0, "%s", strerror(errno));
		return NULL;
	}
	*ret_size = size;
	return TAKE_PTR(bytes);
}
