/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACLs of OVN as lists of rules. Those of a switch hold for each of its ports, and so do those of a port
 * group that has a port on the switch; `inport` and `outport` in their matches choose. A port's ACLs stand
 * in the order of tier and priority; those of one switch or group that follow each other are one list, so
 * that ports share it. A tier with `pass` must be one list: `pass` leaves the list.
 */
#include <string.h>

#include "import_ovn.h"
#include "memory.h"
#include "ovn_match.h"
#include "value.h"

#define TIERS     4  /* that OVN has */
#define NAME_ROOM 40 /* of the sources of a list in its name */

struct entry {
	struct ovn_row *acl;
	const struct ovn_row *source; /* switch or port group */
	size_t order;
};

struct entries {
	struct entry *items;
	size_t count, room;
	bool has_pass[TIERS]; /* by the low bits of the tier */
	bool is_stateful;     /* the switch has allow-related, in either direction */
};

/* ── which ACLs ─────────────────────────────────────────────────────────────────────────────────── */

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	json_int_t tier = ovn_integer(x->acl, "tier") - ovn_integer(y->acl, "tier");
	json_int_t priority = ovn_integer(y->acl, "priority") - ovn_integer(x->acl, "priority");

	if (tier != 0)
		return tier < 0 ? -1 : 1;
	if (priority != 0)
		return priority < 0 ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void add_source(const struct ovn *ovn, struct entries *entries, struct ovn_row *source,
		       const char *direction)
{
	const char *wanted = strcmp(direction, "from") == 0 ? "from-lport" : "to-lport";
	const char *uuid;
	json_t *value;

	json_object_foreach(source->acls, uuid, value)
	{
		struct ovn_row *acl = ovn_find_uuid(ovn, OVN_TABLE_ACL, uuid);

		if (!acl)
			continue;
		if (strcmp(ovn_text(acl, "action"), "allow-related") == 0)
			entries->is_stateful = true;
		if (strcmp(ovn_text(acl, "direction"), wanted) != 0)
			continue;
		if (strcmp(ovn_text(acl, "action"), "pass") == 0)
			entries->has_pass[ovn_integer(acl, "tier") & (TIERS - 1)] = true;
		entries->items = memory_grow(entries->items, entries->count, &entries->room,
					     sizeof(*entries->items));
		entries->items[entries->count] =
			(struct entry){.acl = acl, .source = source, .order = entries->count};
		entries->count++;
	}
}

static bool has_common(const struct ovn_row *a, const struct ovn_row *b)
{
	const char *uuid;
	json_t *value;

	json_object_foreach(a->ports, uuid, value)
	{
		if (ovn_has_port(b, uuid))
			return true;
	}
	return false;
}

static void find_entries(const struct ovn *ovn, struct entries *entries, const struct ovn_row *port,
			 const char *direction)
{
	const struct ovn_rows *switches = &ovn->tables[OVN_TABLE_SWITCH];
	const struct ovn_rows *groups = &ovn->tables[OVN_TABLE_GROUP];
	const char *uuid = ovn_text(port, "_uuid");
	struct ovn_row *own = NULL;

	for (size_t i = 0; !own && i < switches->count; i++) {
		if (ovn_has_port(&switches->items[i], uuid))
			own = &switches->items[i];
	}
	if (own)
		add_source(ovn, entries, own, direction);
	for (size_t i = 0; i < groups->count; i++) {
		bool is_here = ovn_has_port(&groups->items[i], uuid);

		if (is_here || (own && has_common(&groups->items[i], own)))
			add_source(ovn, entries, &groups->items[i], direction);
	}
	if (entries->count > 0)
		qsort(entries->items, entries->count, sizeof(*entries->items), compare);
}

/* ── one ACL ────────────────────────────────────────────────────────────────────────────────────── */

static void left(struct ovn *ovn, const struct ovn_row *acl, const char *what)
{
	_cleanup_free_ char *path = memory_format("%s[%zu]", acl->path, acl->match);
	const char *name = ovn_text(acl, "name");

	import_json_left(ovn->import, acl->file, path, "ACL %.8s%s%s (%s, priority %lld, %s): %s",
			 ovn_text(acl, "_uuid"), name[0] ? " " : "", name,
			 ovn_text(acl, "direction"), (long long)ovn_integer(acl, "priority"),
			 ovn_text(acl, "match"), what);
}

static void left_out(struct ovn *ovn, const struct ovn_row *acl, const char *why)
{
	bool is_allow = strncmp(ovn_text(acl, "action"), "allow", 5) == 0;
	_cleanup_free_ char *what =
		memory_format("%s; left out: %s", why,
			      is_allow ? "what it allows is up to the rules behind it"
				       : "what it stops is up to the rules behind it");

	left(ovn, acl, what);
}

/* NULL: not one that is known. */
static const char *action_of(const struct ovn_row *acl, bool is_stateful)
{
	const char *action = ovn_text(acl, "action");

	if (strcmp(action, "allow") == 0)
		return is_stateful ? "allow" : "allow-stateless";
	if (strcmp(action, "allow-related") == 0)
		return "allow";
	if (strcmp(action, "allow-stateless") == 0 || strcmp(action, "drop") == 0 ||
	    strcmp(action, "reject") == 0 || strcmp(action, "pass") == 0)
		return action;
	return NULL;
}

static json_t *log_of(struct ovn *ovn, const struct ovn_row *acl)
{
	const char *name = ovn_text(acl, "meter");
	const struct ovn_row *meter = ovn_find(ovn, OVN_TABLE_METER, name);
	const struct ovn_row *band;

	if (!name[0])
		return json_true();
	band = meter ? ovn_find_uuid(ovn, OVN_TABLE_BAND, ovn_text(meter, "bands")) : NULL;
	if (!band)
		left(ovn, acl, "no file shows the rate of its meter; it logs 10 a second");
	else if (strcmp(ovn_text(meter, "unit"), "pktps") != 0)
		left(ovn, acl, "its meter counts bits; it logs 10 a second");
	else
		return json_pack("{s:I}", "rate", ovn_integer(band, "rate"));
	return json_true();
}

/* What stands in the ACL besides match and action. */
static void put_rest(struct ovn *ovn, const struct ovn_row *acl, json_t *rule)
{
	bool is_logged = ovn_flag(acl, "log");

	if (is_logged && strcmp(ovn_text(acl, "action"), "pass") == 0) {
		left(ovn, acl, "it is not logged: what it passes on, the rules behind it decide");
		return;
	}
	if (is_logged)
		import_put(rule, "log", log_of(ovn, acl));
	if (is_logged && ovn_text(acl, "severity")[0])
		import_put(rule, "labels",
			   json_pack("{s:s}", "severity", ovn_text(acl, "severity")));
}

static void tell_rest(struct ovn *ovn, const struct ovn_row *acl, const json_t *infrastructure)
{
	const char *action = ovn_text(acl, "action");
	const json_t *name;
	size_t i;

	if (ovn_integer(acl, "label") != 0)
		left(ovn, acl, "its label for connection tracking has no counterpart");
	if (ovn_text(acl, "sample_new")[0] || ovn_text(acl, "sample_est")[0])
		left(ovn, acl, "its sampling is left out: a rule's `sample` does that");
	if (strcmp(action, "drop") != 0 && strcmp(action, "reject") != 0)
		return;
	json_array_foreach(infrastructure, i, name)
	{
		_cleanup_free_ char *what = memory_format(
			"infrastructure passes before the rules: to stop it, leave %s out of the "
			"port's `infrastructure`",
			json_string_value(name));

		left(ovn, acl, what);
	}
}

/* The match fields of the rules that an ACL is for the port; NULL: told why there are none. */
static json_t *match_of(struct ovn *ovn, struct ovn_row *acl, const char *direction)
{
	json_auto_t *infrastructure = memory_check(json_array());
	struct ovn_scope scope = {
		.port_field = strcmp(direction, "from") == 0 ? "inport" : "outport",
		.is_port = ovn_is_port,
		.members = ovn_set_members,
		.group = ovn_set_group,
		.group_except = ovn_set_except,
		.data = ovn,
		.infrastructure = infrastructure,
	};
	struct ovn_matches matches = {0};
	_cleanup_free_ char *why = NULL;
	json_t *rules = NULL;

	if (!acl->expr)
		acl->expr = ovn_expr_parse(ovn_text(acl, "match"), &why);
	if (acl->expr && ovn_match_make(&matches, acl->expr, &scope, &why))
		rules = ovn_match_rules(&matches, &scope, &why);
	ovn_matches_fini(&matches);
	if (!rules) {
		left_out(ovn, acl, why);
		return NULL;
	}
	if (json_array_size(rules) > 0)
		tell_rest(ovn, acl, infrastructure);
	if (scope.copies_set && json_array_size(rules) > 0)
		left(ovn, acl,
		     "the members of its address set are written out: they will not "
		     "follow the set");
	return rules;
}

static json_t *rule_of(struct ovn *ovn, const struct ovn_row *acl, const char *action, json_t *ids,
		       json_t *match)
{
	const char *name = ovn_text(acl, "name");
	_cleanup_free_ char *otherwise = memory_format("acl-%.8s", ovn_text(acl, "_uuid"));
	_cleanup_free_ char *id = import_name(ids, name, otherwise);
	json_t *rule = memory_check(json_object());

	import_put_text(rule, "id", id);
	if (name[0] && strncmp(id, name, strlen(name)) != 0)
		import_put_text(rule, "description", name);
	import_put_text(rule, "action", action);
	json_object_update(rule, match);
	put_rest(ovn, acl, rule);
	return rule;
}

static void add_rules(struct ovn *ovn, json_t *rules, json_t *ids, struct ovn_row *acl,
		      const char *direction, bool is_stateful)
{
	const char *action = action_of(acl, is_stateful);
	json_auto_t *matches = NULL;
	json_t *match;
	size_t i;

	if (!action) {
		left_out(ovn, acl, "its action is not known");
		return;
	}
	if (strcmp(ovn_option(acl, "options", "apply-after-lb"), "true") == 0) {
		left_out(ovn, acl, "is a second stage behind the load balancer (apply-after-lb)");
		return;
	}
	matches = match_of(ovn, acl, direction);
	json_array_foreach(matches, i, match)
		import_push(rules, rule_of(ovn, acl, action, ids, match));
}

/* ── lists ──────────────────────────────────────────────────────────────────────────────────────── */

/* The ACL of these rules: one that is there, or a new one with a name of where they come from. */
static const char *list_of(struct ovn *ovn, json_t *rules, const char *wanted)
{
	struct import_policy *policy = &ovn->import->policy;
	_cleanup_free_ char *text = memory_check(json_dumps(rules, JSON_COMPACT));
	_cleanup_free_ char *name = NULL;

	if (!value_member(ovn->lists, text)[0]) {
		name = import_name(policy->acls, wanted, "acl");
		import_put(policy->acls, name, json_pack("{s:O}", "rules", rules));
		import_put_text(ovn->lists, text, name);
	}
	return value_member(ovn->lists, text);
}

/* "pg_web.sw0-to", or "vm1-to" where that would be long. */
static char *list_name(const json_t *sources, const struct ovn_row *port, const char *direction,
		       json_int_t tier)
{
	_cleanup_free_ char *text = memory_copy("");
	_cleanup_free_ char *suffix =
		tier > 0 ? memory_format("-tier%lld", (long long)tier) : memory_copy("");
	const json_t *source;
	size_t i;

	json_array_foreach(sources, i, source)
	{
		char *longer =
			memory_format("%s%s%s", text, i > 0 ? "." : "", json_string_value(source));

		free(text);
		text = longer;
	}
	if (strlen(text) > NAME_ROOM)
		return memory_format("%.40s-%s%s", ovn_text(port, "name"), direction, suffix);
	return memory_format("%s-%s%s", text, direction, suffix);
}

static void add_list(struct ovn *ovn, json_t *names, const struct entries *entries, size_t first,
		     size_t end, const struct ovn_row *port, const char *direction)
{
	json_auto_t *rules = memory_check(json_array());
	json_auto_t *ids = memory_check(json_object());
	json_auto_t *sources = memory_check(json_array());
	_cleanup_free_ char *wanted = NULL;

	for (size_t i = first; i < end; i++) {
		size_t before = json_array_size(rules);

		add_rules(ovn, rules, ids, entries->items[i].acl, direction, entries->is_stateful);
		if (json_array_size(rules) > before)
			import_push_once(sources, ovn_text(entries->items[i].source, "name"));
	}
	if (json_array_size(rules) == 0)
		return;
	wanted =
		list_name(sources, port, direction, ovn_integer(entries->items[first].acl, "tier"));
	import_push_text(names, list_of(ovn, rules, wanted));
}

/* What no ACL decides passes in OVN, unless the database says otherwise. */
static void add_default(struct ovn *ovn, json_t *names, bool is_stateful)
{
	json_auto_t *rules = json_pack("[{s:s, s:s}]", "id", "all", "action",
				       is_stateful ? "allow" : "allow-stateless");

	memory_check(rules);
	import_push_text(names, list_of(ovn, rules, "ovn-default"));
}

/* How far the entries from `first` go into one list. */
static size_t end_of_list(const struct entries *entries, size_t first)
{
	json_int_t tier = ovn_integer(entries->items[first].acl, "tier");
	bool is_whole = entries->has_pass[tier & (TIERS - 1)];
	size_t end = first + 1;

	while (end < entries->count && ovn_integer(entries->items[end].acl, "tier") == tier &&
	       (is_whole || entries->items[end].source == entries->items[first].source))
		end++;
	return end;
}

json_t *ovn_acls(struct ovn *ovn, const struct ovn_row *port, const char *direction)
{
	struct entries entries = {0};
	json_t *names = memory_check(json_array());
	const struct ovn_rows *globals = &ovn->tables[OVN_TABLE_GLOBAL];
	bool is_closed =
		globals->count > 0 &&
		strcmp(ovn_option(&globals->items[0], "options", "default_acl_drop"), "true") == 0;

	ovn->port = port;
	find_entries(ovn, &entries, port, direction);
	for (size_t first = 0, end; first < entries.count; first = end) {
		end = end_of_list(&entries, first);
		add_list(ovn, names, &entries, first, end, port, direction);
	}
	if (!is_closed && json_array_size(names) > 0)
		add_default(ovn, names, entries.is_stateful);
	if (json_array_size(names) == 0 && (!is_closed || entries.count == 0)) {
		json_decref(names);
		names = NULL;
	}
	free(entries.items);
	return names;
}
