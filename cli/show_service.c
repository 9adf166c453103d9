/* SPDX-License-Identifier: Apache-2.0 */
/* Services as tables: one row per protocol of a service. */
#include "kinds.h"
#include "memory.h"
#include "table.h"
#include "value.h"

static const char *const headers[] = {"NAME",      "PROTOCOL",  "SRC PORTS", "DST PORTS",
				      "ICMP TYPE", "ICMP CODE", NULL};
static const char *const fields[] = {"protocol", "src_ports", "dst_ports", "icmp_type",
				     "icmp_code"};

static void add_service(struct table *table, const char *name, const json_t *service)
{
	const json_t *item;
	size_t i;

	json_array_foreach(service, i, item)
	{
		table_add(table, name);
		for (size_t j = 0; j < sizeof(fields) / sizeof(fields[0]); j++)
			table_take(table, value_text(json_object_get(item, fields[j])));
	}
}

void show_services(const json_t *services, const json_t *status)
{
	_cleanup_(table_freep) struct table *table = table_new(headers);
	_cleanup_free_ const char **names = NULL;
	size_t count;

	(void)status;
	names = value_keys(services, &count);
	for (size_t i = 0; i < count; i++)
		add_service(table, names[i], json_object_get(services, names[i]));
	table_print(table, stdout);
}

void show_service(const char *name, const json_t *service, const json_t *status)
{
	_cleanup_(table_freep) struct table *table = table_new(headers);

	(void)status;
	add_service(table, name, service);
	table_print(table, stdout);
}
