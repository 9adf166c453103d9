/* SPDX-License-Identifier: Apache-2.0 */
/* Groups with a member that swallows the others; objects that nothing uses. */
#include <errno.h>

#include "compile/lint_internal.h"

#define WIDE_IPV4 8 /* shorter prefixes are wide: no site has more than one such network */
#define WIDE_IPV6 16

/* ── wide members ───────────────────────────────────────────────────────────────────────────────── */

static bool is_wide(const struct prefix *prefix)
{
	return prefix->length < (prefix->family == 4 ? WIDE_IPV4 : WIDE_IPV6);
}

/* Whether the group has a member besides a wide one of the family; {0.0.0.0/0, ::/0} is meant. */
static bool has_others(const json_t *group, uint8_t family)
{
	size_t i, count = 0;
	json_t *item;

	if (json_array_size(json_object_get(group, "groups")) ||
	    json_array_size(json_object_get(group, "ports")) || json_object_get(group, "select"))
		return true;
	json_array_foreach(json_object_get(group, "prefixes"), i, item)
	{
		struct prefix prefix;

		if (!prefix_parse(&prefix, json_string_value(item)))
			count += prefix.family == family;
	}
	return count > 1;
}

static int judge_group(struct lint *lint, const struct group *group)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(group->json, "prefixes"), i, item)
	{
		struct prefix prefix;
		int r;

		if (prefix_parse(&prefix, json_string_value(item)) < 0 || !is_wide(&prefix) ||
		    !has_others(group->json, prefix.family))
			continue;
		r = findings_add(lint->findings, FINDING_WIDE_MEMBER,
				 finding_text("groups.%s.prefixes[%zu]", group->name, i),
				 finding_text("%s takes in %s, so the other members say little",
					      json_string_value(item),
					      prefix.length ? "much of the Internet"
							    : "every address of its family"));
		if (r < 0)
			return r;
	}
	return 0;
}

/* ── unused objects ─────────────────────────────────────────────────────────────────────────────── */

struct usage {
	const struct config *config;
	bool *groups, *services, *acls, *security_groups, *macips; /* by place in the config */
};

static void usage_fini(struct usage *usage)
{
	free(usage->groups);
	free(usage->services);
	free(usage->acls);
	free(usage->security_groups);
	free(usage->macips);
}

static int use_group(const char *field, size_t index, const char *name, void *data)
{
	struct usage *usage = data;
	const struct group *group = config_find_group(usage->config, name);

	(void)field;
	(void)index;
	if (group)
		usage->groups[group - usage->config->groups] = true;
	return 0;
}

static int use_service(const char *field, size_t index, const char *name, void *data)
{
	struct usage *usage = data;
	const struct service *service = config_find_service(usage->config, name);

	(void)field;
	(void)index;
	if (service)
		usage->services[service - usage->config->services] = true;
	return 0;
}

/* Rules of an ACL or a security group. */
static void use_rules(struct usage *usage, const json_t *object)
{
	size_t i;
	json_t *rule;

	json_array_foreach(json_object_get(object, "rules"), i, rule)
	{
		lint_each_group(rule, use_group, usage);
		lint_each_service(rule, use_service, usage);
	}
}

static void use_port(struct usage *usage, const struct port *port)
{
	const struct config *config = usage->config;

	for (int d = 0; d < SECG_DIRECTIONS; d++)
		for (size_t i = 0; i < port->list[d].acl_count; i++)
			usage->acls[lint_acl_index(config, port->list[d].acls[i])] = true;
	for (size_t i = 0; i < port->security_group_count; i++)
		usage->security_groups[port->security_groups[i] - config->security_groups] = true;
	if (port->macip)
		usage->macips[port->macip - config->macips] = true;
}

static void use_all(struct usage *usage)
{
	const struct config *config = usage->config;

	for (size_t i = 0; i < config->acl_count; i++)
		use_rules(usage, config->acls[i].json);
	for (size_t i = 0; i < config->security_group_count; i++)
		use_rules(usage, config->security_groups[i].json);
	for (size_t i = 0; i < config->group_count; i++)
		lint_each_nested(&config->groups[i], use_group, usage);
	for (size_t i = 0; i < config->port_count; i++)
		use_port(usage, &config->ports[i]);
	for (size_t i = 0; i < config->template_count; i++)
		use_port(usage, &config->templates[i].port);
}

static int report_unused(struct lint *lint, enum object_kind kind, const char *name,
			 const char *what, const char *users)
{
	return findings_add(lint->findings, FINDING_UNUSED,
			    finding_text("%s.%s", object_kind_names[kind], name),
			    finding_text("no %s uses this %s", users, what));
}

static int judge_unused(struct lint *lint)
{
	const struct config *config = lint->config;
	_cleanup_(usage_fini) struct usage usage = {
		.config = config,
		.groups = calloc(config->group_count + 1, sizeof(bool)),
		.services = calloc(config->service_count + 1, sizeof(bool)),
		.acls = calloc(lint_acl_total(config) + 1, sizeof(bool)),
		.security_groups = calloc(config->security_group_count + 1, sizeof(bool)),
		.macips = calloc(config->macip_count + 1, sizeof(bool)),
	};
	int r = 0;

	if (!usage.groups || !usage.services || !usage.acls || !usage.security_groups ||
	    !usage.macips)
		return -ENOMEM;
	use_all(&usage);
	for (size_t i = 0; r >= 0 && i < config->security_group_count; i++)
		if (!usage.security_groups[i])
			r = report_unused(lint, OBJECT_SECURITY_GROUP,
					  config->security_groups[i].name, "security group",
					  "port");
	for (size_t i = 0; r >= 0 && i < config->macip_count; i++)
		if (!usage.macips[i])
			r = report_unused(lint, OBJECT_MACIP, config->macips[i].name, "macip list",
					  "port");
	for (size_t i = 0; r >= 0 && i < config->acl_count; i++)
		if (!usage.acls[i])
			r = report_unused(lint, OBJECT_ACL, config->acls[i].name, "ACL", "port");
	for (size_t i = 0; r >= 0 && i < config->group_count; i++)
		if (!usage.groups[i] && config->groups[i].json)
			r = report_unused(lint, OBJECT_GROUP, config->groups[i].name, "group",
					  "rule and no group");
	for (size_t i = 0; r >= 0 && i < config->service_count; i++)
		if (!usage.services[i] && config->services[i].json)
			r = report_unused(lint, OBJECT_SERVICE, config->services[i].name, "service",
					  "rule");
	return r;
}

int lint_objects(struct lint *lint)
{
	for (size_t i = 0; i < lint->config->group_count; i++) {
		int r = lint_touches(lint, OBJECT_GROUP, i)
				? judge_group(lint, &lint->config->groups[i])
				: 0;

		if (r < 0)
			return r;
	}
	return lint->scope ? 0 : judge_unused(lint);
}
