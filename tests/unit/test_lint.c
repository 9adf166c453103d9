/* SPDX-License-Identifier: Apache-2.0 */
/* Every finding of the lint, what is near it and none, and what a write makes it say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile/lint.h"
#include "engine/batch.h"
#include "model/document.h"

#define ACL(rules)     "'acls':{'a':{'rules':[" rules "]}},'ports':{'p':{'interface':'x','from':['a']}}"
#define R(id, rest)    "{'id':'" id "','action':" rest "}"
#define GROUP(members) "'groups':{'g':{" members "}}"

/* Single quotes as JSON's. */
static json_t *read_text(const char *text)
{
	char *copy = strdup(text);
	json_error_t error;
	json_t *json;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json = json_loads(copy, 0, &error);
	if (!json)
		print_error("%s: %s\n", error.text, copy);
	free(copy);
	assert_non_null(json);
	return json;
}

static struct config *read_config(const char *text)
{
	struct config *config = NULL;
	struct errors errs = {0};
	json_t *document = read_text(text);

	if (config_parse(&config, document, NULL, &errs) < 0)
		print_error("%s: %s\n", errs.items[0].field, errs.items[0].message);
	json_decref(document);
	assert_non_null(config);
	return config;
}

/* ── what is found ──────────────────────────────────────────────────────────────────────────────── */

static const struct row {
	const char *what;
	const char *document; /* without braces */
	const char *findings; /* "code field; …" */
	const char *message;  /* part of the first one's */
} rows[] = {
	{"nothing to say",
	 ACL(R("a", "'allow','protocol':'tcp','dst_ports':22") "," R("b",
								     "'drop','protocol':'tcp'")),
	 "", NULL},
	{"rules of security groups are judged as lists behind the port's",
	 "'acls':{'a':{'rules':[{'id':'d','action':'drop'}]},"
	 "'b':{'rules':[{'id':'d','action':'drop'}]}},"
	 "'security_groups':{'s':{'rules':[{'id':'z','direction':'from'},"
	 "{'id':'x','direction':'to'},{'id':'y','direction':'to'}]},"
	 "'t':{'rules':[{'id':'x','direction':'from'}]}},"
	 "'ports':{'p':{'interface':'x','to':['b'],'security_groups':['s','t']},"
	 "'q':{'interface':'y','from':['a'],'security_groups':['t']}}",
	 "redundant security_groups.s.rules[1]; redundant security_groups.s.rules[2]; "
	 "shadowed security_groups.s.rules[1]",
	 "rule \"x\" changes nothing"},
	{"security groups that overlap are a union",
	 "'security_groups':{'s':{'rules':[{'id':'x','direction':'to'}]},"
	 "'t':{'rules':[{'id':'x','direction':'to','remote':'10.0.0.0/8'}]}},"
	 "'ports':{'p':{'interface':'x','security_groups':['s','t']}}",
	 "", NULL},
	{"an empty group in a security group",
	 "'groups':{'g':{}},'security_groups':{'s':{'rules':[{'id':'x','direction':'from'},"
	 "{'id':'y','direction':'to','remote':'@g'}]}},"
	 "'ports':{'p':{'interface':'x','security_groups':['s']}}",
	 "empty_group security_groups.s.rules[1].remote[0]", NULL},
	{"a security group lets the answers in",
	 "'acls':{'a':{'rules':[" R(
		 "x",
		 "'permit','protocol':'tcp'") "]}},"
					      "'security_groups':{'s':{'stateful':false,'rules':[{'id':'x','direction':'to'}]}},"
					      "'ports':{'p':{'interface':'x','from':['a'],'security_groups':['s']}}",
	 "", NULL},
	{"a security group that does not",
	 "'acls':{'a':{'rules':[" R(
		 "x",
		 "'permit','protocol':'tcp'") "]}},"
					      "'security_groups':{'s':{'rules':[{'id':'x','direction':'from'}]}},"
					      "'ports':{'p':{'interface':'x','from':['a'],'security_groups':['s']}}",
	 "stateless_no_return acls.a.rules[0]", NULL},
	{"what no port wears",
	 "'groups':{'g':{}},'security_groups':{'s':{'rules':[{'id':'x','direction':'to',"
	 "'remote':'@g'}]}},'macip':{'m':{}}",
	 "empty_group security_groups.s.rules[0].remote[0]; unused security_groups.s; "
	 "unused macip.m",
	 NULL},
	{"a drop hides an allow",
	 ACL(R("d", "'drop','src':'10.0.0.0/8'") "," R(
		 "w", "'allow','src':'10.1.0.0/16','protocol':'tcp'")),
	 "shadowed acls.a.rules[1]", "rule \"d\" (drop) before it"},
	{"a wider port range hides a narrower one",
	 ACL(R("d", "'drop','protocol':'tcp','dst_ports':'1-100'") "," R(
		 "w", "'allow','protocol':'tcp','dst_ports':['5-9',100]")),
	 "shadowed acls.a.rules[1]", NULL},
	{"one port more is not hidden",
	 ACL(R("d", "'drop','protocol':'tcp','dst_ports':'1-100'") "," R(
		 "w", "'allow','protocol':'tcp','dst_ports':'5-101'")),
	 "", NULL},
	{"every port is every packet of TCP",
	 ACL(R("d", "'drop','protocol':'tcp','dst_ports':'0-65535'") "," R(
		 "w", "'allow','protocol':'tcp'")),
	 "shadowed acls.a.rules[1]", NULL},
	{"but not of GRE",
	 ACL(R("d", "'drop','protocol':'tcp','dst_ports':'0-65535'") "," R(
		 "w", "'allow','protocol':['tcp','gre']")),
	 "", NULL},
	{"a pass hides the rest of its ACL",
	 ACL(R("t", "'pass','src':'10.0.0.0/8'") "," R("w", "'allow','src':'10.1.0.1'")),
	 "shadowed acls.a.rules[1]", "(pass)"},
	{"the same again",
	 ACL(R("a", "'allow','src':'10.0.0.0/8'") "," R(
		 "b", "'allow','src':'10.0.0.1','protocol':'udp'")),
	 "redundant acls.a.rules[1]", "rule \"a\" before it"},
	{"a later rule does it",
	 ACL(R("a", "'allow','src':'10.0.0.1'") "," R("b", "'allow','src':'10.0.0.0/8'")),
	 "redundant acls.a.rules[0]", "rule \"b\" behind it"},
	{"a rule that differs stands between",
	 ACL(R("a", "'allow','src':'10.0.0.1'") "," R("d", "'drop','protocol':'tcp'") "," R(
		 "b", "'allow','src':'10.0.0.0/8'")),
	 "", NULL},
	{"what stands between is elsewhere",
	 ACL(R("a", "'allow','src':'10.0.0.1'") "," R("d", "'drop','src':'192.0.2.1'") "," R(
		 "b", "'allow','src':'10.0.0.0/8'")),
	 "redundant acls.a.rules[0]", NULL},
	{"allow and allow-stateless are not the same",
	 ACL(R("a", "'allow-stateless','src':'10.0.0.1'") "," R("b", "'allow','src':'10.0.0.0/8'")),
	 "", NULL},
	{"two halves",
	 ACL(R("l", "'drop','src':'10.0.0.0/9'") "," R("h", "'drop','src':'10.128.0.0/9'") "," R(
		 "w", "'allow','src':'10.0.0.0/8'")),
	 "unreachable acls.a.rules[2]", "rules \"l\" and \"h\" before it together take"},
	{"parts of different dimensions",
	 ACL(R("l", "'drop','src':'10.0.0.0/9'") "," R("t", "'drop','dst':'0.0.0.0/1'") "," R(
		 "o",
		 "'drop','dst':'128.0.0.0/1','src':'10.128.0.0/9'") "," R("w",
									  "'allow','src':'10.0.0.0/8'")),
	 "unreachable acls.a.rules[3]", "rules \"l\", \"t\" and \"o\" before it"},
	{"IPv4 has a protocol 58 too",
	 ACL(R("l", "'drop','src':'10.0.0.0/8','protocol':'0-255'") "," R(
		 "w", "'allow','src':'10.0.0.0/8'")),
	 "", NULL},
	{"three quarters",
	 ACL(R("l", "'drop','src':'10.0.0.0/9'") "," R("h", "'drop','src':'10.128.0.0/10'") "," R(
		 "w", "'allow','src':'10.0.0.0/8'")),
	 "", NULL},
	{"an empty group",
	 GROUP("") "," ACL(R("a", "'allow','src':['@g','10.0.0.1'],'dst':'10.0.0.2'")),
	 "empty_group acls.a.rules[0].src[0]", "\"g\" is empty"},
	{"a group that `except` empties",
	 GROUP("'prefixes':['10.0.0.1'],'except':['10.0.0.0/8']") "," ACL(
		 R("a", "'allow','dst':'@g'")),
	 "empty_group acls.a.rules[0].dst[0]", NULL},
	{"a family that dst lacks",
	 ACL(R("a", "'allow','src':['10.0.0.1','fd00::1'],'dst':'10.0.0.2'")),
	 "family_never acls.a.rules[0].src", "`dst` has no IPv6 address"},
	{"a family that was not asked for",
	 ACL(R("a", "'allow','family':'ipv4','src':['10.0.0.1','fd00::1'],'dst':'10.0.0.2'")), "",
	 NULL},
	{"groups of different families",
	 "'groups':{'g':{'prefixes':['10.0.0.1']},'h':{'prefixes':['fd00::1']}}," ACL(
		 R("a", "'allow','src':'@g','dst':'@h'")),
	 "family_never acls.a.rules[0]", "matches no packet"},
	{"a wide member",
	 GROUP("'prefixes':['10.0.0.1','64.0.0.0/7']") "," ACL(R("a", "'allow','src':'@g'")),
	 "wide_member groups.g.prefixes[1]", "64.0.0.0/7"},
	{"a wide member beside a nested group",
	 "'groups':{'g':{'prefixes':['::/0'],'groups':['h']},'h':{'prefixes':['10.0.0.1']}}," ACL(
		 R("a", "'allow','src':'@g'")),
	 "wide_member groups.g.prefixes[0]", "every address"},
	{"everything is meant",
	 GROUP("'prefixes':['0.0.0.0/0','::/0']") "," ACL(R("a", "'allow','src':'@g'")), "", NULL},
	{"nobody uses them",
	 "'acls':{'a':{'rules':[]}},'groups':{'g':{'prefixes':['10.0.0.1']},'h':{'groups':['g']}},"
	 "'services':{'s':[{'protocol':'tcp'}]}",
	 "unused acls.a; unused groups.h; unused services.s", "no port uses"},
	{"no way back",
	 "'acls':{'a':{'rules':[" R("s", "'allow-stateless','src':'10.0.0.1','protocol':'udp','dst_ports':53") "]},'b':{'rules':[" R(
		 "t",
		 "'allow','protocol':'udp','dst_ports':53") "]}},'ports':{'p':{'interface':'x','from':['a'],'to':['b']}}",
	 "stateless_no_return acls.a.rules[0]", "ports.p.to admits no answer"},
	{"answers come to a client's port, not from it",
	 "'acls':{'a':{'rules':[" R("s", "'allow-stateless','protocol':'udp','src_ports':123,'dst_ports':123") "]},'b':{'rules':[" R(
		 "t",
		 "'allow','protocol':'udp','dst_ports':123") "]}},'ports':{'p':{'interface':'x','from':['a'],'to':['b']}}",
	 "", NULL},
	{"a way back",
	 "'acls':{'a':{'rules':[" R("s", "'allow-stateless','src':'10.0.0.1','protocol':'udp','dst_ports':53") "]},'b':{'rules':[" R(
		 "t",
		 "'allow-stateless','dst':'10.0.0.0/8','protocol':'udp','src_ports':53") "]}},'ports':{'p':{'interface':'x','from':['a'],'to':['b']}}",
	 "", NULL},
	{"a way back that a drop closes",
	 "'acls':{'a':{'rules':[" R("s", "'allow-stateless','src':'10.0.0.1','protocol':'udp','dst_ports':53") "]},'b':{'rules':[" R(
		 "d",
		 "'drop','dst':'10.0.0.0/24'") "," R("t",
						     "'allow','dst':'10.0.0.0/8','protocol':'udp','src_ports':53") "]}},'ports':{'p':{'interface':'x','from':['a'],'to':['b']}}",
	 "stateless_no_return acls.a.rules[0]", NULL},
	{"a direction that is absent lets answers through",
	 ACL(R("s", "'allow-stateless','protocol':'udp','dst_ports':53")), "", NULL},
	{"a default that lets them through",
	 "'acls':{'a':{'rules':[" R(
		 "s",
		 "'allow-stateless','protocol':'udp','dst_ports':53") "]}},'ports':{'p':{'interface':'x','from':['a'],'to':[],'default':{'to':{'action':'allow'}}}}",
	 "", NULL},
	{"a question of ping needs its answer, an error none",
	 "'acls':{'a':{'rules':[" R("q", "'allow-stateless','protocol':'icmp','icmp_type':8") "," R(
		 "e",
		 "'allow-stateless','protocol':'icmp','icmp_type':3") "]}},'ports':{'p':{'interface':'x','from':['a'],'to':[]}}",
	 "stateless_no_return acls.a.rules[0]", NULL},
	{"multicast is not answered",
	 "'acls':{'a':{'rules':[" R(
		 "m",
		 "'allow-stateless','dst':'224.0.0.5','protocol':89") "]}},'ports':{'p':{'interface':'x','from':['a'],'to':[]}}",
	 "", NULL},
	{"a tier before it decides",
	 "'acls':{'t':{'rules':[" R("d", "'drop','protocol':'tcp'") "]},'a':{'rules':[" R(
		 "w",
		 "'allow','protocol':'tcp','dst_ports':80") "]}},'ports':{'p':{'interface':'x','from':['t','a']}}",
	 "shadowed acls.a.rules[0]",
	 "rule \"t/d\" (drop) before it matches every packet that it matches "
	 "(as in ports.p.from)"},
	{"but not on another port",
	 "'acls':{'t':{'rules':[" R("d", "'drop','protocol':'tcp'") "]},'a':{'rules':[" R(
		 "w",
		 "'allow','protocol':'tcp','dst_ports':80") "]}},'ports':{'p':{'interface':'x','from':['t','a']},'q':{'interface':'y','from':['a']}}",
	 "", NULL},
	{"a pass leads past the tier's drop",
	 "'acls':{'t':{'rules':[" R("p", "'pass','src':'10.0.0.1'") "," R("d", "'drop','protocol':'tcp'") "]},'a':{'rules':[" R(
		 "w",
		 "'allow','protocol':'tcp','dst_ports':80") "]}},'ports':{'p':{'interface':'x','from':['t','a']}}",
	 "", NULL},
};

static void list_findings(char *text, size_t size, const struct findings *findings)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < findings->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s %s", i ? "; " : "",
					 finding_code_name(findings->items[i].code),
					 findings->items[i].field);
}

static void finds_what_is_there(void **unused)
{
	int wrong = 0;

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(findings_fini) struct findings findings = {0};
		_cleanup_(config_freep) struct config *config = NULL;
		_cleanup_free_ char *document = NULL;
		char text[512];

		assert_true(asprintf(&document, "{%s}", rows[i].document) > 0);
		config = read_config(document);
		assert_int_equal(lint_run(config, NULL, LINT_FULL_WORK, &findings), 0);
		list_findings(text, sizeof(text), &findings);
		if (strcmp(text, rows[i].findings)) {
			print_error("%s: \"%s\", not \"%s\"\n", rows[i].what, text,
				    rows[i].findings);
			wrong++;
		} else if (rows[i].message && !strstr(findings.items[0].message, rows[i].message)) {
			print_error("%s: %s\n", rows[i].what, findings.items[0].message);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────── */

/* `count` rules for one port each, of which every one is hidden by the first where `is_hidden`. */
static struct config *many_rules(unsigned int count, bool is_hidden)
{
	json_t *rules = json_array();
	struct config *config = NULL;
	struct errors errs = {0};
	json_t *document;

	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(rules, json_pack("{s:o, s:s, s:s, s:[o]}", "id",
						       json_sprintf("r%u", i), "action",
						       i ? "allow" : "drop", "protocol", "tcp",
						       "dst_ports",
						       json_sprintf(is_hidden && !i ? "0-%u" : "%u",
								    is_hidden && !i ? 65535 : i)));
	document = json_pack("{s:{s:{s:o}}, s:{s:{s:s, s:[s]}}}", "acls", "a", "rules", rules,
			     "ports", "p", "interface", "x", "from", "a");
	assert_int_equal(config_parse(&config, document, NULL, &errs), 0);
	json_decref(document);
	return config;
}

static void a_large_policy_says_where_it_ends(void **unused)
{
	_cleanup_(findings_fini) struct findings findings = {0};
	_cleanup_(config_freep) struct config *config = many_rules(1000, false);

	(void)unused;
	assert_int_equal(lint_run(config, NULL, 40000, &findings), 0);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.items[0].code, FINDING_LINT_SKIPPED);
	assert_non_null(strstr(findings.items[0].field, "acls.a.rules["));
	assert_non_null(strstr(findings.items[0].message, "40000"));
}

/* A hundred MACs on each side are ten thousand products of sets. */
static json_t *many_macs(void)
{
	json_t *list = json_array();

	for (int i = 0; i < 100; i++)
		json_array_append_new(list, json_sprintf("52:54:00:00:00:%02x", (unsigned int)i));
	return list;
}

static void rules_of_many_macs_are_not_taken_apart(void **unused)
{
	_cleanup_(findings_fini) struct findings findings = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	struct errors errs = {0};
	json_t *rules = json_array(), *macs = many_macs(), *document;

	(void)unused;
	for (int i = 0; i < 2000; i++)
		json_array_append_new(rules, json_pack("{s:o, s:s, s:O, s:O}", "id",
						       json_sprintf("r%d", i), "action", "drop",
						       "src_mac", macs, "dst_mac", macs));
	document = json_pack("{s:{s:{s:o}}}", "acls", "a", "rules", rules);
	assert_int_equal(config_parse(&config, document, NULL, &errs), 0);
	json_decref(document);
	json_decref(macs);
	assert_int_equal(lint_run(config, NULL, LINT_WRITE_WORK, &findings), 0);
	assert_int_equal(findings.items[findings.count - 1].code, FINDING_LINT_SKIPPED);
	assert_string_equal(findings.items[findings.count - 1].field, "acls.a.rules[0]");
}

static void ten_thousand_rules_are_judged_within_a_write(void **unused)
{
	_cleanup_(findings_fini) struct findings findings = {0};
	_cleanup_(config_freep) struct config *config = many_rules(10000, false);

	(void)unused;
	assert_int_equal(lint_run(config, NULL, LINT_WRITE_WORK, &findings), 0);
	assert_int_equal(findings.count, 0);
}

static void more_findings_are_counted(void **unused)
{
	_cleanup_(findings_fini) struct findings findings = {0};
	_cleanup_(config_freep) struct config *config = many_rules(FINDINGS_MAX + 11, true);
	const struct finding *last = &findings.items[FINDINGS_MAX - 1];

	(void)unused;
	assert_int_equal(lint_run(config, NULL, LINT_FULL_WORK, &findings), 0);
	assert_int_equal(findings.count, FINDINGS_MAX);
	last = &findings.items[FINDINGS_MAX - 1];
	assert_int_equal(last->code, FINDING_LINT_SKIPPED);
	assert_string_equal(last->message, "11 more findings are not shown");
}

/* ── what a write says ──────────────────────────────────────────────────────────────────────────── */

#define START                                                                                                                      \
	"{'groups':{'g':{'prefixes':['10.0.0.1']},'idle':{'prefixes':['10.0.0.2']},"                                               \
	"'outer':{'groups':['g']}},"                                                                                               \
	"'acls':{'a.b':{'rules':[" R("x", "'drop','src':'10.0.0.0/8'") "," R("y", "'allow','src':'@outer'") "]},'c':{'rules':[" R( \
		"x",                                                                                                               \
		"'drop','protocol':'tcp'") "," R("y",                                                                              \
						 "'allow','protocol':'tcp'") "]},'d':{'rules':[]}},"                               \
									     "'ports':{'p':{'interface':'x','from':['a.b']},'q':{'interface':'y','from':['d','c']}}}"

/* Judges a merge on START and lists its warnings. */
static void judge(char *text, size_t size, const char *patch, bool is_dry_run)
{
	_cleanup_(config_freep) struct config *config = read_config(START);
	struct draft on = {0}, next = {0};
	struct change *change = change_new();
	_cleanup_(leases_unrefp) struct leases *leases = leases_new();
	json_t *document = config_document(config);
	const json_t *warning;
	size_t used = 0, i;

	assert_non_null(leases);
	draft_init(&on, config, document, leases, 1, 0);
	change->kind = CHANGE_MERGE;
	change->is_dry_run = is_dry_run;
	change->document = read_text(patch);
	batch_judge(change, &on, &next);
	assert_int_equal(change->result.status, 200);
	*text = '\0';
	json_array_foreach(change->result.warnings, i, warning)
	{
		const char *message = json_string_value(json_object_get(warning, "message"));

		assert_true(message && *message);
		used += (size_t)snprintf(text + used, size - used, "%s%s %s", i ? "; " : "",
					 json_string_value(json_object_get(warning, "code")),
					 json_string_value(json_object_get(warning, "field")));
	}
	draft_fini(&next);
	draft_fini(&on);
	change_free(change);
	json_decref(document);
}

static const struct {
	const char *what, *patch, *warnings;
} writes[] = {
	{"another object", "{'groups':{'new':{'prefixes':['10.9.0.0/16']}}}", ""},
	{"the ACL", "{'acls':{'c':{'description':'x'}}}", "shadowed acls.c.rules[1]"},
	{"an ACL with a dot in its name", "{'acls':{'a.b':{'description':'x'}}}",
	 "shadowed acls.a.b.rules[1]"},
	{"a group that the ACL uses through another", "{'groups':{'g':{'prefixes':[]}}}",
	 "empty_group acls.a.b.rules[1].src[0]"},
	{"a wide member", "{'groups':{'idle':{'prefixes':['0.0.0.0/0','10.0.0.2']}}}",
	 "wide_member groups.idle.prefixes[0]"},
	{"a port, without a word about its ACLs", "{'ports':{'p':{'hook':'tc'}}}", ""},
	{"the tier before an ACL", "{'acls':{'d':{'rules':[" R("t", "'allow'") "]}}}",
	 "shadowed acls.c.rules[0]"},
	{"nothing", "{}", ""},
};

static void a_write_speaks_of_what_it_touches(void **unused)
{
	int wrong = 0;

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		char text[512];

		judge(text, sizeof(text), writes[i].patch, false);
		if (!strcmp(text, writes[i].warnings))
			continue;
		print_error("%s: \"%s\", not \"%s\"\n", writes[i].what, text, writes[i].warnings);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void a_dry_run_speaks_of_everything(void **unused)
{
	char text[512];

	(void)unused;
	judge(text, sizeof(text), "{}", true);
	assert_string_equal(text, "unused groups.idle; shadowed acls.a.b.rules[1]; "
				  "shadowed acls.c.rules[1]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_there),
		cmocka_unit_test(a_large_policy_says_where_it_ends),
		cmocka_unit_test(rules_of_many_macs_are_not_taken_apart),
		cmocka_unit_test(ten_thousand_rules_are_judged_within_a_write),
		cmocka_unit_test(more_findings_are_counted),
		cmocka_unit_test(a_write_speaks_of_what_it_touches),
		cmocka_unit_test(a_dry_run_speaks_of_everything),
	};

	return cmocka_run_group_tests_name("lint", tests, NULL, NULL);
}
