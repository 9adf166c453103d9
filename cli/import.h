/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies of other tools become policy files: what the readers of each tool share. A reader fills
 * `policy`, says in `left` what of its source the policy does not say, and in `errors` what it cannot
 * read; with an error nothing is printed but that.
 */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "import_policy.h"
#include "import_report.h"
#include "positions.h"
#include "problems.h"

/* One file as it was read; for files of several JSON values see import_json.h. */
struct import_file {
	const char *name;
	char *bytes; /* ends in a zero that `size` does not count */
	size_t size;
};

struct import {
	struct import_file *files;
	size_t file_count, file_room;
	struct positions *positions;
	struct problems errors;
	struct import_report left;
	struct import_policy policy;
	json_t *interfaces; /* name in the source → interface here, from --map */
	const char *host;   /* --host; NULL: any */
};

void import_neutron(struct import *import);
void import_ovn(struct import *import);
void import_vpp(struct import *import);

/* The interface that --map gives for a name of the source, lent; NULL: none. */
const char *import_mapped(const struct import *import, const char *name);

#endif
