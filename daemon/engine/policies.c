/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled policy of each port's lists: taken over from the live generation, shared with another
 * port, or compiled.
 */
#include <stdio.h>
#include <string.h>

#include "engine/generation.h"
#include "engine/same.h"

static struct block *find_list(const struct generation *generation, const struct port *port,
			       const struct port_list *list)
{
	for (size_t i = 0; i < generation->list_count; i++) {
		const struct generation_policy *policy = &generation->lists[i];
		const struct acl *const *acls = (const struct acl *const *)list->acls;

		if (policy->is_audited == port->is_audited &&
		    acl_lists_are_same(policy->acls, policy->acl_count, acls, list->acl_count))
			return policy->block;
	}
	return NULL;
}

/* Names differ in most lists, so that asking the live generation costs little. */
static int compile_list(struct block **ret_block, const struct generation *live,
			const struct port *port, enum secg_direction direction,
			struct errors *reterr)
{
	static const char *const words[] = {[SECG_FROM] = "from", [SECG_TO] = "to"};
	const struct port_list *list = &port->list[direction];
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	_cleanup_free_ char *field = NULL;
	struct block *kept;
	int r;

	kept = find_list(live, port, list);
	if (kept) {
		*ret_block = block_ref(kept);
		return 0;
	}
	if (asprintf(&field, "ports.%s.%s", port->name, words[direction]) < 0) {
		field = NULL;
		return -ENOMEM;
	}
	r = compile_policy(&compiled, (const struct acl *const *)list->acls, list->acl_count,
			   port->is_audited, field, reterr);
	if (r < 0)
		return r;
	r = block_new_policy(ret_block, compiled);
	if (r >= 0)
		compiled = NULL;
	return r;
}

/* A policy that compiles to the same as a live one keeps its place even where the ACLs read otherwise. */
static void prefer_live(struct block **block, const struct generation *live)
{
	for (size_t i = 0; i < live->list_count; i++) {
		struct block *have = live->lists[i].block;

		if (have == *block ||
		    memcmp(&have->digest, &(*block)->digest, sizeof(have->digest)) != 0)
			continue;
		block_unref(*block);
		*block = block_ref(have);
		return;
	}
}

static int add_list(struct generation *generation, const struct generation *live,
		    const struct port *port, enum secg_direction direction, struct errors *reterr,
		    struct block **ret_block)
{
	const struct port_list *list = &port->list[direction];
	_cleanup_(block_unrefp) struct block *block = NULL;
	struct generation_policy *lists;
	int r;

	r = compile_list(&block, live, port, direction, reterr);
	if (r < 0)
		return r;
	prefer_live(&block, live);
	lists = realloc(generation->lists, (generation->list_count + 1) * sizeof(*lists));
	if (!lists)
		return -ENOMEM;
	generation->lists = lists;
	lists[generation->list_count++] = (struct generation_policy){
		.acls = (const struct acl *const *)list->acls,
		.acl_count = list->acl_count,
		.is_audited = port->is_audited,
		.block = block_ref(block),
	};
	*ret_block = block; /* the list's reference keeps it */
	return 0;
}

static int set_policy(struct generation *generation, const struct generation *live,
		      struct generation_port *entry, enum secg_direction direction,
		      struct errors *reterr)
{
	const struct port_list *list = &entry->port->list[direction];
	struct block *block;
	int r;

	if (!list->is_given || list->acl_count == 0)
		return 0;
	block = find_list(generation, entry->port, list);
	if (!block) {
		r = add_list(generation, live, entry->port, direction, reterr, &block);
		if (r < 0)
			return r;
	}
	if (block->compiled->rule_count > 0)
		entry->policy[direction] = block_ref(block);
	return 0;
}

int generation_set_policies(struct generation *generation, const struct generation *live,
			    struct errors *reterr)
{
	int result = 0;
	int r;

	for (size_t i = 0; i < generation->port_count; i++) {
		for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
			r = set_policy(generation, live, &generation->ports[i],
				       (enum secg_direction)direction, reterr);
			if (r < 0 && r != -EINVAL)
				return r;
			if (r < 0)
				result = r;
		}
	}
	return result;
}
