/* SPDX-License-Identifier: Apache-2.0 */
/* JSON or YAML to stdout. */
#include "output.h"

#include <stdio.h>

#include "value.h"
#include "yaml_print.h"

bool output_data(const struct cli *cli, const json_t *value)
{
	switch (cli->output) {
	case OUTPUT_TABLE:
		return false;
	case OUTPUT_JSON:
		if (cli->is_watching) {
			json_dumpf(value, stdout,
				   JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS | VALUE_REALS);
			putchar('\n');
		} else {
			value_print_json(value, stdout);
		}
		return true;
	case OUTPUT_YAML:
		if (cli->is_watching)
			puts("---");
		yaml_print(value, YAML_SORTED, stdout);
		return true;
	}
	return false;
}
