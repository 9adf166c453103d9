/* SPDX-License-Identifier: Apache-2.0 */
/* What a write touches; and the names by which objects use each other. */
#include <errno.h>
#include <string.h>

#include "compile/lint_internal.h"

/* ── names in documents ─────────────────────────────────────────────────────────────────────────── */

static int each_string(const json_t *list, const char *field, bool is_group, lint_name_fn *each,
		       void *data)
{
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)list, i, item)
	{
		const char *text = json_string_value(item);
		int r;

		if (!text || (is_group && *text != '@'))
			continue;
		r = each(field, i, is_group ? text + 1 : text, data);
		if (r < 0)
			return r;
	}
	return 0;
}

int lint_each_group(const json_t *rule, lint_name_fn *each, void *data)
{
	static const char *const fields[] = {"src", "dst", "remote"};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields) && r >= 0; i++)
		r = each_string(json_object_get(rule, fields[i]), fields[i], true, each, data);
	return r;
}

int lint_each_service(const json_t *rule, lint_name_fn *each, void *data)
{
	return each_string(json_object_get(rule, "service"), "service", false, each, data);
}

int lint_each_nested(const struct group *group, lint_name_fn *each, void *data)
{
	return each_string(json_object_get(group->json, "groups"), "groups", false, each, data);
}

/* ── the scope ──────────────────────────────────────────────────────────────────────────────────── */

static size_t kind_count(const struct config *config, enum object_kind kind)
{
	const size_t counts[OBJECT_KIND_COUNT] = {
		[OBJECT_ACL] = config->acl_count,
		[OBJECT_GROUP] = config->group_count,
		[OBJECT_SERVICE] = config->service_count,
		[OBJECT_PORT] = config->port_count,
		[OBJECT_SECURITY_GROUP] = config->security_group_count,
		[OBJECT_MACIP] = config->macip_count,
		[OBJECT_PORT_TEMPLATE] = config->template_count,
	};

	return counts[kind];
}

/* Place of an object; false: there is none of the name. */
static bool find(const struct config *config, enum object_kind kind, const char *name,
		 size_t *ret_index)
{
	const void *found = NULL;

	if (kind == OBJECT_ACL && (found = config_find_acl(config, name)))
		*ret_index = (size_t)((const struct acl *)found - config->acls);
	if (kind == OBJECT_GROUP && (found = config_find_group(config, name)))
		*ret_index = (size_t)((const struct group *)found - config->groups);
	if (kind == OBJECT_SERVICE && (found = config_find_service(config, name)))
		*ret_index = (size_t)((const struct service *)found - config->services);
	if (kind == OBJECT_SECURITY_GROUP && (found = config_find_security_group(config, name)))
		*ret_index =
			(size_t)((const struct security_group *)found - config->security_groups);
	if (kind == OBJECT_PORT && (found = config_find_port(config, name)))
		*ret_index = (size_t)((const struct port *)found - config->ports);
	return found != NULL;
}

/* The object that a path leads into. A name may have dots, so every end that gives one is taken: to
 * touch one too many costs little. */
static void touch_path(struct lint_scope *scope, const struct config *config, const char *path)
{
	size_t kind_size = strcspn(path, ".");
	int kind = 0;

	while (kind < OBJECT_KIND_COUNT && (strlen(object_kind_names[kind]) != kind_size ||
					    strncmp(object_kind_names[kind], path, kind_size)))
		kind++;
	if (kind == OBJECT_KIND_COUNT || !path[kind_size])
		return;
	path += kind_size + 1;
	for (size_t end = strcspn(path, ".[");; end += 1 + strcspn(path + end + 1, ".[")) {
		char name[NAME_MAX_LENGTH + 1];
		size_t index;

		if (end > NAME_MAX_LENGTH)
			return;
		memcpy(name, path, end);
		name[end] = '\0';
		if (find(config, (enum object_kind)kind, name, &index))
			scope->is_touched[kind][index] = true;
		if (!path[end])
			return;
	}
}

struct user {
	const struct lint_scope *scope;
	const struct config *config;
	enum object_kind kind;
	bool is_touched;
};

static int look_at(const char *field, size_t index, const char *name, void *data)
{
	struct user *user = data;
	size_t object;

	(void)field;
	(void)index;
	if (find(user->config, user->kind, name, &object))
		user->is_touched |= user->scope->is_touched[user->kind][object];
	return 0;
}

static bool has_true(const bool *flags, size_t count)
{
	size_t i = 0;

	while (i < count && !flags[i])
		i++;
	return i < count;
}

/* Groups that hold a touched one, however deep. */
static void spread_groups(struct lint_scope *scope, const struct config *config)
{
	bool *touched = scope->is_touched[OBJECT_GROUP];
	bool has_spread = has_true(touched, config->group_count);

	while (has_spread) {
		has_spread = false;
		for (size_t i = 0; i < config->group_count; i++) {
			struct user user = {scope, config, OBJECT_GROUP, false};

			if (touched[i])
				continue;
			lint_each_nested(&config->groups[i], look_at, &user);
			touched[i] = user.is_touched;
			has_spread |= user.is_touched;
		}
	}
}

static bool uses_touched(const struct lint_scope *scope, const struct config *config,
			 const json_t *object)
{
	struct user groups = {scope, config, OBJECT_GROUP, false};
	struct user services = {scope, config, OBJECT_SERVICE, false};
	size_t i;
	json_t *rule;

	json_array_foreach(json_object_get(object, "rules"), i, rule)
	{
		lint_each_group(rule, look_at, &groups);
		lint_each_service(rule, look_at, &services);
		if (groups.is_touched || services.is_touched)
			return true;
	}
	return false;
}

/* ACLs and security groups with a rule that uses a touched group or service. */
static void spread_acls(struct lint_scope *scope, const struct config *config)
{
	if (!has_true(scope->is_touched[OBJECT_GROUP], config->group_count) &&
	    !has_true(scope->is_touched[OBJECT_SERVICE], config->service_count))
		return;
	for (size_t i = 0; i < config->acl_count; i++)
		scope->is_touched[OBJECT_ACL][i] |=
			uses_touched(scope, config, config->acls[i].json);
	for (size_t i = 0; i < config->security_group_count; i++)
		scope->is_touched[OBJECT_SECURITY_GROUP][i] |=
			uses_touched(scope, config, config->security_groups[i].json);
}

int lint_scope_init(struct lint_scope *scope, const struct config *config, const json_t *changes)
{
	size_t i;
	json_t *change;

	*scope = (struct lint_scope){0};
	for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
		scope->is_touched[kind] =
			calloc(kind_count(config, (enum object_kind)kind) + 1, sizeof(bool));
		if (!scope->is_touched[kind]) {
			lint_scope_fini(scope);
			return -ENOMEM;
		}
	}
	json_array_foreach((json_t *)changes, i, change)
	{
		const char *path = json_string_value(json_object_get(change, "path"));

		if (path)
			touch_path(scope, config, path);
	}
	spread_groups(scope, config);
	spread_acls(scope, config);
	return 0;
}

void lint_scope_fini(struct lint_scope *scope)
{
	for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++)
		free(scope->is_touched[kind]);
	*scope = (struct lint_scope){0};
}
