/* SPDX-License-Identifier: Apache-2.0 */
/* Every place that names an object, so that it cannot be deleted under it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_rows.h"
#include "engine/usage.h"

static const char document_text[] =
	"{'acls':{'a':{'rules':[{'id':'x','action':'drop'},{'id':'r','action':'drop','src':['@g'],"
	"'dst':['10.0.0.0/8','@s'],'service':['web']}]}},"
	"'groups':{'g':{'ports':['p'],'groups':['s']},'h':{'groups':['g']}},"
	"'services':{'web':[{'protocol':['tcp']}]},"
	"'security_groups':{'s':{'rules':[{'id':'r','direction':'to','remote':['@s','@h'],"
	"'service':['web']}]},'t':{'rules':[{'id':'r','direction':'to','remote':['@s']}]}},"
	"'macip':{'m':{}},"
	"'ports':{'p':{'interface':'e','from':['a'],'to':['a'],'groups':['h'],"
	"'security_groups':['s'],'macip':'m'},'q':{'interface':'f'}},"
	"'port_templates':{'q':{'from':['a'],'to':['a'],'groups':['h'],'security_groups':['t'],"
	"'macip':'m'}}}";

static const struct {
	enum object_kind kind;
	const char *name;
	const char *users; /* "field\n" each */
} rows[] = {
	{OBJECT_ACL, "a", "ports.p.from\nports.p.to\nport_templates.q.from\nport_templates.q.to\n"},
	{OBJECT_ACL, "g", ""},
	{OBJECT_SERVICE, "web", "acls.a.rules[1].service\nsecurity_groups.s.rules[0].service\n"},
	{OBJECT_GROUP, "g", "groups.h.groups\nacls.a.rules[1].src\n"},
	{OBJECT_GROUP, "h",
	 "security_groups.s.rules[0].remote\nports.p.groups\nport_templates.q.groups\n"},
	/* what it says of itself goes with it */
	{OBJECT_SECURITY_GROUP, "s",
	 "groups.g.groups\nacls.a.rules[1].dst\nsecurity_groups.t.rules[0].remote\n"
	 "ports.p.security_groups\n"},
	{OBJECT_SECURITY_GROUP, "t", "port_templates.q.security_groups\n"},
	{OBJECT_PORT, "p", "groups.g.ports\n"},
	{OBJECT_PORT, "q", ""},
	{OBJECT_MACIP, "m", "ports.p.macip\nport_templates.q.macip\n"},
	{OBJECT_PORT_TEMPLATE, "q", ""},
};

static void test_every_place_that_names_an_object(void **state)
{
	json_auto_t *document = read_json(document_text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(errors_fini) struct errors errors = {0};
		char found[512] = "";
		int count = usage_find(document, rows[i].kind, rows[i].name, &errors);

		assert_int_equal(count, errors.count);
		for (size_t j = 0; j < errors.count; j++) {
			assert_int_equal(errors.items[j].code, ERROR_IN_USE);
			strcat(strcat(found, errors.items[j].field), "\n");
		}
		if (strcmp(found, rows[i].users))
			fail_msg("%s %s\ngot:\n%swant:\n%s", object_kind_names[rows[i].kind],
				 rows[i].name, found, rows[i].users);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_place_that_names_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
