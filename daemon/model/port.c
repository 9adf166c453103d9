/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: interfaces under policy. */
#include <string.h>

#include "model/match.h"
#include "model/port_draft.h"
#include "model/value.h"

static void match_free(struct interface_match *match)
{
	if (match)
		match_fini(match);
	free(match);
}

void port_fini(struct port *port)
{
	match_free(port->match);
	for (int d = 0; d < SECG_DIRECTIONS; d++)
		free(port->list[d].acls);
	free(port->security_groups);
	senders_free(port->addresses, port->address_count);
	free(port->domain);
	free(port->name);
	free(port->interface);
	json_decref(port->json);
	*port = (struct port){0};
}

/* ── fields ─────────────────────────────────────────────────────────────────────────────────────── */

static int port_interface(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	struct port_draft *draft = object;
	const char *name = json_string_value(value);

	if (!name)
		return parse_bad_type(parser, path, value, "the name of an interface");
	if (!is_interface_name(name))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "no interface can have this name: it has 1 to 15 bytes without "
				   "'/', ':' and white space");
	draft->port->interface = strdup(name);
	if (!draft->port->interface)
		return -ENOMEM;
	return json_put(draft->json, "interface", json_incref((json_t *)value));
}

static int port_match(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct port_draft *draft = object;
	json_t *json = NULL;
	int r;

	draft->port->match = calloc(1, sizeof(*draft->port->match));
	if (!draft->port->match)
		return -ENOMEM;
	r = match_parse(parser, path, value, draft->port->match, &json);
	return r < 0 ? r : json_put(draft->json, path->key, json);
}

/* A field that holds one word and has it in the normalised object too. */
static int word_field(struct parser *parser, const struct path *path, const json_t *value,
		      struct port_draft *draft, const struct word *words, size_t count,
		      int *ret_value)
{
	int r = parse_word(parser, path, value, words, count, ret_value);

	return r < 0 ? r : json_put(draft->json, path->key, json_incref((json_t *)value));
}

static int port_side(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	static const struct word words[] = {{"workload", PORT_SIDE_WORKLOAD},
					    {"host", PORT_SIDE_HOST}};
	struct port_draft *draft = object;
	int side = PORT_SIDE_AUTO;
	int r = word_field(parser, path, value, draft, words, ARRAY_SIZE(words), &side);

	draft->port->side = side;
	return r;
}

static int port_hook(struct parser *parser, const struct path *path, const json_t *value,
		     void *object)
{
	static const struct word words[] = {
		{"auto", PORT_HOOK_AUTO}, {"xdp", PORT_HOOK_XDP}, {"tc", PORT_HOOK_TC}};
	struct port_draft *draft = object;
	int hook = PORT_HOOK_AUTO;
	int r = word_field(parser, path, value, draft, words, ARRAY_SIZE(words), &hook);

	draft->port->hook = hook;
	return r;
}

static int port_tcp(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	static const struct word words[] = {{"loose", false}, {"strict", true}};
	struct port_draft *draft = object;
	int is_strict = false;
	int r = word_field(parser, path, value, draft, words, ARRAY_SIZE(words), &is_strict);

	draft->port->is_tcp_strict = is_strict;
	return r;
}

static int port_on_change(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	static const struct word words[] = {
		{"recheck", ON_CHANGE_RECHECK},
		{"keep", ON_CHANGE_KEEP},
		{"cut", ON_CHANGE_CUT},
	};
	struct port_draft *draft = object;
	int on_change = ON_CHANGE_RECHECK;
	int r = word_field(parser, path, value, draft, words, ARRAY_SIZE(words), &on_change);

	draft->port->on_change = on_change;
	return r;
}

static int group_item(struct parser *parser, const struct path *path, const json_t *item)
{
	const char *name = json_string_value(item);
	const struct group *group;

	if (!name)
		return parse_bad_type(parser, path, item, "the name of a group");
	if (config_find_security_group(parser->config, name))
		return parse_error(parser, path, ERROR_BAD_VALUE,
				   "\"%s\" is a security group: a port that wears it, by "
				   "`security_groups`, is a member",
				   name);
	group = config_find_group(parser->config, name);
	if (!group)
		return parse_not_found(parser, path, "group", name, parser->config->groups,
				       parser->config->group_count,
				       sizeof(*parser->config->groups));
	return 0;
}

/* The port's addresses are in these groups already: members.h. */
static int port_groups(struct parser *parser, const struct path *path, const json_t *value,
		       void *object)
{
	json_auto_t *names = json_array();
	struct port_draft *draft = object;
	int result = 0;

	for (size_t i = 0; i < list_count(value); i++) {
		struct path item_path = list_path(path, value, i);
		const json_t *item = list_item(value, i);

		result_add(&result, group_item(parser, &item_path, item));
		result_add(&result, json_push(names, json_incref((json_t *)item)));
	}
	result_add(&result, json_put(draft->json, "groups", TAKE_PTR(names)));
	return result;
}

static int port_audit(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct port_draft *draft = object;

	return parse_bool_field(parser, path, value, draft->json, &draft->port->is_audited);
}

static int port_fail_mode(struct parser *parser, const struct path *path, const json_t *value,
			  void *object)
{
	static const struct word words[] = {{"closed", false}, {"open", true}};
	struct port_draft *draft = object;
	int is_open = false;
	int r = word_field(parser, path, value, draft, words, ARRAY_SIZE(words), &is_open);

	draft->port->fails_open = is_open;
	return r;
}

/* ── all ports ──────────────────────────────────────────────────────────────────────────────────── */

static const struct field port_fields[] = {
	{"description", parse_description},
	{"labels", parse_labels},
	{"interface", port_interface},
	{"match", port_match},
	{"side", port_side},
	{"hook", port_hook},
	{"from", port_parse_from},
	{"to", port_parse_to},
	{"security_groups", port_parse_security_groups},
	{"default", port_parse_default},
	{"infrastructure", port_parse_infrastructure},
	{"tcp", port_tcp},
	{"on_change", port_on_change},
	{"timeouts", port_parse_timeouts},
	{"addresses", port_parse_addresses},
	{"macip", port_parse_macip},
	{"anti_spoof", port_parse_anti_spoof},
	{"allow_ra", port_parse_allow_ra},
	{"allow_dhcp_server", port_parse_allow_dhcp_server},
	{"groups", port_groups},
	{"domain", port_parse_domain},
	{"pickup_s", port_parse_pickup},
	{"limits", port_parse_limits},
	{"reset_on_expiry", port_parse_reset_on_expiry},
	{"audit", port_audit},
	{"fail_mode", port_fail_mode},
};

int port_parse_fields(struct parser *parser, const struct path *path, const json_t *value,
		      struct port *port, json_t *json, bool is_template)
{
	struct port_draft draft = {.json = json, .port = port};
	struct field fields[ARRAY_SIZE(port_fields)];
	struct schema schema = {.what = is_template ? "a port template" : "a port",
				.fields = fields};
	int result;

	/* A template is for whatever fits. */
	for (size_t i = 0; i < ARRAY_SIZE(port_fields); i++)
		if (!is_template || port_fields[i].parse != port_interface)
			fields[schema.field_count++] = port_fields[i];
	for (int d = 0; d < SECG_DIRECTIONS; d++)
		port->list[d].otherwise = SECG_ACTION_DROP;
	result = parse_object(parser, path, value, &schema, &draft);
	result_add(&result, port_settle_sender(parser, path, &draft));
	return result;
}

/* What a port claims is `key` in `claims`, with the name of the port that did so first. */
static int claim(struct parser *parser, const struct path *path, const struct port *port,
		 const char *key, json_t *claims)
{
	const char *other = json_string_value(json_object_get(claims, key));

	if (!other)
		return json_put(claims, key, json_string(port->name));
	if (!port->interface)
		return parse_error(parser, path, ERROR_CONFLICT,
				   "is the same as that of port \"%s\"", other);
	return parse_error(parser, path, ERROR_CONFLICT,
			   "interface %s belongs to port \"%s\" already", port->interface, other);
}

/* No interface has a name like the text of a match. */
static int claim_match(struct parser *parser, const struct path *path, const struct port *port,
		       json_t *claims)
{
	_cleanup_free_ char *key = json_dumps(json_object_get(port->json, "match"), JSON_SORT_KEYS);

	return key ? claim(parser, path, port, key, claims) : -ENOMEM;
}

static int check_interface(struct parser *parser, const struct path *path, const json_t *value,
			   const struct port *port, json_t *claims)
{
	struct path interface = path_key(path, "interface");
	struct path match = path_key(path, "match");
	bool has_interface = json_object_get(value, "interface");
	bool has_match = json_object_get(value, "match");

	if (has_interface && has_match)
		return parse_error(parser, &match, ERROR_BAD_VALUE,
				   "excludes `interface`: a port is for the one interface of that "
				   "name, or for the one that fits");
	if (port->interface)
		return claim(parser, &interface, port, port->interface, claims);
	if (json_object_get(port->json, "match"))
		return claim_match(parser, &match, port, claims);
	/* What is wrong has been said already. */
	if (!json_is_object(value) || has_interface || has_match)
		return 0;
	return parse_error(parser, &interface, ERROR_BAD_VALUE,
			   "is missing: a port needs the name of its interface, or a `match`");
}

static int parse_port(struct parser *parser, const struct path *path, const json_t *value,
		      struct port *port, json_t *claims)
{
	int result = parse_port_name(parser, path, port->name);

	result_add(&result, port_parse_fields(parser, path, value, port, port->json, false));
	result_add(&result, check_interface(parser, path, value, port, claims));
	return result;
}

static int port_compare(const void *a, const void *b)
{
	const struct port *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int ports_parse(struct parser *parser, const struct path *path, const json_t *value)
{
	json_auto_t *claims = json_object();
	struct config *config = parser->config;
	int result = 0;
	const char *name;
	json_t *item;

	if (json_object_size(value) > SECG_MAX_PORTS - 1)
		return parse_error(parser, path, ERROR_LIMIT,
				   "has %zu ports, but there are at most %d",
				   json_object_size(value), SECG_MAX_PORTS - 1);
	config->ports = calloc(json_object_size(value) + 1, sizeof(*config->ports));
	if (!claims || !config->ports)
		return -ENOMEM;
	json_object_foreach((json_t *)value, name, item)
	{
		struct path port_path = path_key(path, name);
		struct port *port = &config->ports[config->port_count];

		port->json = json_object();
		port->name = strdup(name);
		if (!port->json || !port->name) {
			port_fini(port);
			return -ENOMEM;
		}
		config->port_count++;
		result_add(&result, parse_port(parser, &port_path, item, port, claims));
	}
	qsort(config->ports, config->port_count, sizeof(*config->ports), port_compare);
	return result;
}
