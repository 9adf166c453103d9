/* SPDX-License-Identifier: Apache-2.0 */
/* Which packets a rule of Neutron is about. */
#include <stdlib.h>
#include <string.h>

#include "import_address.h"
#include "import_neutron.h"
#include "memory.h"

/* Names that Neutron takes for protocols, besides those that a policy has too. */
static const struct {
	const char *name;
	int number;
} protocols[] = {
	{"egp", 8},         {"ipip", 4},       {"ipv6-encap", 41}, {"ipv6-icmp", 58},
	{"ipv6-nonxt", 59}, {"ospf", 89},      {"pgm", 113},       {"rsvp", 46},
	{"ipv6-frag", 44},  {"ipv6-opts", 60}, {"ipv6-route", 43}, {"icmpv6", 58},
	{"icmp", 1},        {"tcp", 6},        {"udp", 17},        {"udplite", 136},
	{"sctp", 132},      {"dccp", 33},      {"gre", 47},        {"esp", 50},
	{"ah", 51},         {"igmp", 2},       {"vrrp", 112},
};

/* The spelling of a policy: a name where it has one. */
static const struct {
	int number;
	const char *name;
	bool has_ports;
} words[] = {
	{6, "tcp", true},   {17, "udp", true},  {136, "udplite", true}, {132, "sctp", true},
	{33, "dccp", true}, {1, "icmp", false}, {58, "icmpv6", false},  {47, "gre", false},
	{50, "esp", false}, {51, "ah", false},  {2, "igmp", false},     {112, "vrrp", false},
};

static void tell(struct neutron *neutron, const struct neutron_object *rule, const char *field,
		 const char *why)
{
	_cleanup_free_ char *path = memory_format("%s.%s", rule->path, field);

	import_json_left(neutron->import, rule->file, path, "rule %s: %s",
			 neutron_text(rule->json, "id"), why);
}

/* -1: none; -2: not one. */
static int protocol_number(const json_t *value)
{
	const char *text = json_string_value(value);
	char *end;
	long number;

	if (!value || json_is_null(value))
		return -1;
	if (json_is_integer(value))
		return json_integer_value(value) >= 0 && json_integer_value(value) <= 255
			       ? (int)json_integer_value(value)
			       : -2;
	if (!text || text[0] == '\0')
		return text ? -1 : -2;
	if (strcmp(text, "any") == 0)
		return -1;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		if (strcmp(protocols[i].name, text) == 0)
			return protocols[i].number;
	}
	number = strtol(text, &end, 10);
	return *end == '\0' && number >= 0 && number <= 255 ? (int)number : -2;
}

/* -1: none; -2: not one. */
static int limit(const json_t *object, const char *field)
{
	const json_t *value = json_object_get(object, field);

	if (!value || json_is_null(value))
		return -1;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > 65535)
		return -2;
	return (int)json_integer_value(value);
}

static void put_protocol(json_t *target, int number)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].number == number) {
			import_put_text(target, "protocol", words[i].name);
			return;
		}
	}
	import_put(target, "protocol", json_integer(number));
}

static bool has_ports(int number)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].number == number)
			return words[i].has_ports;
	}
	return false;
}

/* port_range_min and port_range_max are type and code for ICMP. */
static bool put_range(struct neutron *neutron, const struct neutron_object *rule, int number,
		      json_t *target)
{
	int first = limit(rule->json, "port_range_min"), last = limit(rule->json, "port_range_max");

	if (first == -1 && last == -1)
		return true;
	if (number == 1 || number == 58) {
		if (first < 0 || first > 255 || last < -1 || last > 255) {
			tell(neutron, rule, "port_range_min", "is no ICMP type and code");
			return false;
		}
		import_put(target, "icmp_type", json_integer(first));
		if (last >= 0)
			import_put(target, "icmp_code", json_integer(last));
		return true;
	}
	if (!has_ports(number) || first < 0 || last < first) {
		tell(neutron, rule, "port_range_min", "is no range of ports of its protocol");
		return false;
	}
	if (first == last) {
		import_put(target, "dst_ports", json_pack("[i]", first));
	} else if (first > 0 || last < 65535) {
		_cleanup_free_ char *range = memory_format("%d-%d", first, last);

		import_put(target, "dst_ports", json_pack("[s]", range));
	}
	return true;
}

static bool put_protocol_of(struct neutron *neutron, const struct neutron_object *rule,
			    json_t *target)
{
	const char *family = json_string_value(json_object_get(target, "family"));
	int number = protocol_number(json_object_get(rule->json, "protocol"));
	bool is_ipv6 = family && strcmp(family, "ipv6") == 0;

	if (number == -2) {
		tell(neutron, rule, "protocol", "its protocol is not known");
		return false;
	}
	if (number == 1 && is_ipv6)
		number = 58; /* Neutron's older spelling */
	if (number == 43 || number == 44 || number == 60) {
		tell(neutron, rule, "protocol",
		     "IPv6 extension headers are walked here and are no protocol");
		return false;
	}
	if (number == 58 && !is_ipv6) {
		tell(neutron, rule, "protocol", "ICMPv6 over IPv4 never happens");
		return false;
	}
	if (number >= 0)
		put_protocol(target, number);
	return put_range(neutron, rule, number, target);
}

static bool put_remote_set(struct neutron *neutron, const struct neutron_object *rule,
			   json_t *target, const char *field, const char *id)
{
	bool is_group = strcmp(field, "remote_group_id") == 0;
	const char *name =
		json_string_value(json_object_get(is_group ? neutron->names : neutron->sets, id));
	json_t *remote;
	_cleanup_free_ char *word = NULL;
	const char *elsewhere;

	if (!name) {
		tell(neutron, rule, field,
		     is_group ? "no file shows the security group that it names"
			      : "no file shows the address group that it names (GET "
				"/v2.0/address-groups)");
		return false;
	}
	remote = memory_check(json_array());
	word = memory_format("@%s", name);
	import_push_text(remote, word);
	elsewhere = json_string_value(json_object_get(neutron->elsewhere, name));
	if (is_group && elsewhere) {
		free(word);
		word = memory_format("@%s", elsewhere);
		import_push_text(remote, word);
	}
	import_put(target, "remote", remote);
	return true;
}

static bool put_remote(struct neutron *neutron, const struct neutron_object *rule, json_t *target)
{
	static const char *const sets[] = {"remote_group_id", "remote_address_group_id"};
	const char *text = neutron_text(rule->json, "remote_ip_prefix");
	struct import_prefix prefix;
	char address[IMPORT_PREFIX_SIZE];

	for (size_t i = 0; i < 2; i++) {
		const char *id = neutron_text(rule->json, sets[i]);

		if (id)
			return put_remote_set(neutron, rule, target, sets[i], id);
	}
	if (!text)
		return true;
	if (!import_prefix_parse(text, &prefix)) {
		tell(neutron, rule, "remote_ip_prefix", "is no prefix");
		return false;
	}
	import_prefix_format(&prefix, address);
	if (prefix.length > 0)
		import_put(target, "remote", json_pack("[s]", address));
	return true;
}

static bool put_family(struct neutron *neutron, const struct neutron_object *rule, json_t *target)
{
	const char *ethertype = neutron_text(rule->json, "ethertype");

	if (ethertype && strcasecmp(ethertype, "ipv4") == 0) {
		import_put_text(target, "family", "ipv4");
	} else if (ethertype && strcasecmp(ethertype, "ipv6") == 0) {
		import_put_text(target, "family", "ipv6");
	} else if (ethertype) {
		tell(neutron, rule, "ethertype",
		     "rules of a security group are about IPv4 and IPv6 only");
		return false;
	}
	return true;
}

bool neutron_match(struct neutron *neutron, const struct neutron_object *rule, json_t *target)
{
	return put_family(neutron, rule, target) && put_protocol_of(neutron, rule, target) &&
	       put_remote(neutron, rule, target);
}
