/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random documents, made of what may stand in each place and what may not. One that is taken has a normal
 * form that is taken too and is its own; what ports bring into groups is what a slow look at the document
 * says. One that is refused says why. The document is never changed. SEED and COUNT come from the
 * environment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/random.h"
#include "config_rows.h"

#define COUNT_DEFAULT 3000

/* ── making documents ───────────────────────────────────────────────────────────────────────────── */

/* A field with values that are right in some company. */
struct pool {
	const char *field;
	const char *const *values; /* JSON with ' */
};

#define POOL(name, ...)                     \
	{                                   \
		name, (const char *const[]) \
		{                           \
			__VA_ARGS__, NULL   \
		}                           \
	}

static const struct pool rule_pools[] = {
	POOL("action", "'allow'", "'allow'", "'drop'", "'reject'", "'pass'", "'permit'"),
	POOL("enabled", "true", "false"),
	POOL("family", "'ipv4'", "'ipv6'"),
	POOL("ethertypes", "'llc'", "['arp','0x88cc']", "'ipv4'", "['ipv4','ipv6']", "2048",
	     "'mpls'"),
	POOL("vlan", "0", "['1-9',7]", "4094"),
	POOL("src_mac", "'52:54:00:00:00:01'", "['52:54:00:00:00:00/ff:ff:ff:00:00:00']"),
	POOL("dst_mac", "['52:54:00:00:00:01','52:54:00:00:00:02']"),
	POOL("src", "'10.0.0.0/8'", "['@a','2001:db8::/32']", "'@b'", "['@s','@t']", "'::/0'"),
	POOL("dst", "'10.0.0.1'", "['@a','@b']", "['192.0.2.0/24','::1']"),
	POOL("protocol", "'tcp'", "'tcp'", "['udp','tcp']", "'icmp'", "'icmpv6'", "'any'", "89"),
	POOL("dst_ports", "80", "['1-9',22]"),
	POOL("icmp_type", "8", "'echo-request'"),
	POOL("service", "'ssh'", "['dns','own']"),
	POOL("tcp_flags", "'syn/syn,ack'", "'none/all'"),
	POOL("dscp", "'ef'", "['0-9',63]"),
	POOL("fragment", "true", "false"),
	POOL("timeout", "60", "'5'"),
	POOL("log", "true", "false", "{}", "{'rate':5}", "{'what':'all','rate':'7'}"),
	POOL("sample", "{'new':5}", "{'established':'9','new':1}"),
};

static const struct pool security_rule_pools[] = {
	POOL("direction", "'from'", "'to'"),
	POOL("family", "'ipv4'", "'ipv6'"),
	POOL("remote", "'10.0.0.0/8'", "['@s','@a']", "'@t'"),
	POOL("protocol", "'tcp'", "['udp','sctp']", "'icmp'"),
	POOL("dst_ports", "80", "['1-9',22]"),
	POOL("service", "'ssh'", "['dns','own']"),
};

static const struct pool group_pools[] = {
	POOL("prefixes", "'10.1.0.0/16'", "['10.0.0.1','2001:db8::1','10.0.0.0/30']", "[]"),
	POOL("except", "'10.1.2.0/24'", "['10.0.0.2']"),
	POOL("groups", "'b'", "['c','s']", "'t'", "[]"),
	POOL("ports", "'p0'", "['p1','p2']", "[]"),
	POOL("select", "{'tier':'web'}", "{'tier':'web','zone':'1'}", "{'zone':'2'}"),
};

/* The first ones decide of what groups a port is a member. */
#define MEMBER_POOLS 2
static const struct pool port_pools[] = {
	POOL("labels", "{'tier':'web'}", "{'tier':'web','zone':'1'}", "{'zone':'1'}",
	     "{'zone':'2'}"),
	POOL("addresses", "[]", "{'mac':'52:54:00:00:00:01','ips':['10.0.0.1','10.0.0.9']}",
	     "[{'ips':['2001:db8::7','10.0.0.2/31']},{'mac':'52:54:00:00:00:02'}]",
	     "[{'ips':['10.0.0.3','169.254.0.1','fe80::1']},{'ips':[]}]"),
	POOL("from", "'w'", "['w','x']", "[]"),
	POOL("to", "'x'", "[]"),
	POOL("security_groups", "'s'", "['t','s']", "[]"),
	POOL("default", "{'from':{'action':'reject','log':true}}", "{'to':{'action':'allow'}}"),
	POOL("macip", "'m'"),
	POOL("anti_spoof", "true", "false"),
	POOL("allow_ra", "true"),
	POOL("groups", "'a'", "['b','c']"),
	POOL("domain", "'d'"),
	POOL("pickup_s", "5"),
	POOL("limits", "{}", "{'sessions':5,'half_open':'7'}"),
	POOL("reset_on_expiry", "true"),
	POOL("audit", "true"),
	POOL("fail_mode", "'open'"),
	POOL("on_change", "'cut'", "'keep'"),
	POOL("timeouts", "{'icmp':5}"),
	POOL("infrastructure", "[]", "['arp','nd']"),
};

static const char *const wrong[] = {"null",       "5",    "-1",           "'x'",      "[]",
				    "{}",         "true", "[null]",       "[[]]",     "{'a':1}",
				    "'@x'",       "1.5",  "'10.0.0.1/8'", "99999999", "'ingress'",
				    "[{'a':{}}]", "''",   "['a','a']"};

struct maker {
	struct rng rng;
	uint32_t percent_wrong; /* of fields */
};

static const char *choose(struct maker *maker, const char *const *values)
{
	uint32_t count = 0;

	while (values[count])
		count++;
	return values[rng_below(&maker->rng, count)];
}

static void add(struct maker *maker, json_t *object, const struct pool *pool)
{
	const char *text = rng_chance(&maker->rng, maker->percent_wrong)
				   ? wrong[rng_below(&maker->rng, ARRAY_SIZE(wrong))]
				   : choose(maker, pool->values);
	char document[256];
	json_t *holder;

	snprintf(document, sizeof(document), "{'v':%s}", text);
	holder = read_json(document);
	json_object_set(object, pool->field, json_object_get(holder, "v"));
	json_decref(holder);
}

/* Each field with so much chance. */
static json_t *make(struct maker *maker, const struct pool *pools, size_t count, uint32_t percent)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		if (rng_chance(&maker->rng, percent))
			add(maker, object, &pools[i]);
	if (rng_chance(&maker->rng, maker->percent_wrong))
		json_object_set_new(object, "colour", json_integer(1));
	return object;
}

static json_t *make_rules(struct maker *maker, const struct pool *pools, size_t count)
{
	json_t *rules = json_array();
	uint32_t n = rng_below(&maker->rng, 4);

	for (uint32_t i = 0; i < n; i++) {
		json_t *rule = make(maker, pools, count, 5);
		char id[16];

		/* What a rule needs. */
		if (!json_object_get(rule, pools[0].field) &&
		    !rng_chance(&maker->rng, maker->percent_wrong))
			add(maker, rule, &pools[0]);
		snprintf(id, sizeof(id), "r%u",
			 rng_chance(&maker->rng, maker->percent_wrong) ? 0 : i);
		json_object_set_new(rule, "id", json_string(id));
		json_array_append_new(rules, rule);
	}
	return rules;
}

static json_t *make_document(struct maker *maker)
{
	static const char *const groups[] = {"a", "b", "c"}, *const acls[] = {"w", "x"},
				 *const security_groups[] = {"s", "t"};
	json_t *document =
		read_json("{'services':{'own':[{'protocol':'gre'}]},'groups':{},'acls':{},"
			  "'security_groups':{},'ports':{},'macip':{'m':{'entries':["
			  "{'mac':'52:54:00:00:00:09','prefixes':'10.9.0.0/16'}]}}}");

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		json_object_set_new(json_object_get(document, "groups"), groups[i],
				    make(maker, group_pools, ARRAY_SIZE(group_pools), 20));
	for (size_t i = 0; i < ARRAY_SIZE(acls); i++)
		json_object_set_new(
			json_object_get(document, "acls"), acls[i],
			json_pack("{s:o}", "rules",
				  make_rules(maker, rule_pools, ARRAY_SIZE(rule_pools))));
	for (size_t i = 0; i < ARRAY_SIZE(security_groups); i++)
		json_object_set_new(
			json_object_get(document, "security_groups"), security_groups[i],
			json_pack("{s:b,s:o}", "stateful", (int)rng_below(&maker->rng, 2), "rules",
				  make_rules(maker, security_rule_pools,
					     ARRAY_SIZE(security_rule_pools))));
	for (int i = 0; i < 3; i++) {
		json_t *port = make(maker, port_pools, ARRAY_SIZE(port_pools), 12);
		char name[8];

		for (size_t j = 0; j < MEMBER_POOLS; j++)
			if (rng_chance(&maker->rng, 60))
				add(maker, port, &port_pools[j]);
		snprintf(name, sizeof(name), "p%d", i);
		json_object_set_new(port, "interface", json_string(name));
		json_object_set_new(json_object_get(document, "ports"), name, port);
	}
	return document;
}

/* ── judging them ───────────────────────────────────────────────────────────────────────────────── */

static bool is_listed(const json_t *list, const char *name)
{
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)list, i,
			   item) if (!strcmp(json_string_value(item), name)) return true;
	return false;
}

/* Whether the normalised document makes the port a member of the group, other groups aside. */
static bool is_member(const json_t *document, const char *group, const char *port_name)
{
	const json_t *object = json_object_get(json_object_get(document, "groups"), group);
	const json_t *port = json_object_get(json_object_get(document, "ports"), port_name);
	const json_t *select = json_object_get(object, "select");
	bool is_selected = select != NULL;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)select, name, value) is_selected =
		is_selected &&
		json_equal(json_object_get(json_object_get(port, "labels"), name), value);
	return is_selected || is_listed(json_object_get(object, "ports"), port_name) ||
	       is_listed(json_object_get(port, "groups"), group) ||
	       is_listed(json_object_get(port, "security_groups"), group);
}

/* The one host that every port with addresses of the second pool has, and no prefix of a group does. */
static void check_members(const struct config *config, const json_t *document)
{
	for (size_t i = 0; i < config->group_count; i++) {
		const struct group *group = &config->groups[i];
		bool wanted = false;

		if (json_array_size(json_object_get(group->json, "groups")))
			continue;
		for (size_t j = 0; j < config->port_count; j++) {
			const struct port *port = &config->ports[j];
			bool has_host = false;

			for (size_t k = 0; k < port->address_count; k++)
				for (size_t l = 0; l < port->addresses[k].prefix_count; l++)
					has_host = has_host ||
						   port->addresses[k].prefixes[l].address ==
							   0x0a000009;
			wanted = wanted ||
				 (has_host && is_member(document, group->name, port->name));
		}
		assert_int_equal(addrset_has(&group->members, 4, 0x0a000009), wanted);
	}
}

static void check_ports(const struct config *config)
{
	for (size_t i = 0; i < config->port_count; i++) {
		const struct port *port = &config->ports[i];
		const json_t *spoof = json_object_get(port->json, "anti_spoof");

		for (int d = 0; d < SECG_DIRECTIONS; d++) {
			const struct port_list *list = &port->list[d];
			size_t acls = json_array_size(
				json_object_get(port->json, d == SECG_FROM ? "from" : "to"));

			assert_int_equal(list->acl_count, acls + port->security_group_count);
			for (size_t j = 0; j < list->acl_count; j++)
				assert_int_equal(list->acls[j]->json == NULL, j >= acls);
			if (port->security_group_count)
				assert_true(list->is_given);
		}
		assert_int_equal(port->is_anti_spoofed,
				 spoof ? json_is_true(spoof)
				       : json_object_get(port->json, "addresses") ||
						 json_object_get(port->json, "macip"));
	}
}

static bool check(const json_t *document)
{
	_cleanup_(errors_fini) struct errors errors = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(config_freep) struct config *again = NULL;
	json_auto_t *copy = json_deep_copy(document);
	json_auto_t *normal = NULL;
	json_auto_t *same = NULL;
	int r = config_parse(&config, document, NULL, &errors);

	assert_true(json_equal(document, copy));
	if (r < 0) {
		assert_int_equal(r, -EINVAL);
		assert_true(errors.count > 0 && errors.items[0].message[0] && !config);
		return false;
	}
	assert_int_equal(errors.count, 0);
	normal = config_document(config);
	again = parse_json(normal, NULL);
	same = config_document(again);
	if (!json_equal(normal, same))
		fail_msg("a normal form has another one");
	check_members(config, normal);
	check_ports(config);
	return true;
}

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void test_random_documents(void **state)
{
	unsigned long seed = from_environment("SEED", 1);
	unsigned long count = from_environment("COUNT", COUNT_DEFAULT), taken = 0;

	(void)state;
	for (unsigned long i = 0; i < count; i++) {
		struct maker maker = {.percent_wrong = i % 2 ? 0 : 3};
		json_auto_t *document = NULL;

		rng_seed(&maker.rng, seed + i);
		document = make_document(&maker);
		taken += check(document);
	}
	print_message("%lu documents from seed %lu, %lu taken\n", count, seed, taken);
	assert_true(taken > count / 10 && taken < count * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
