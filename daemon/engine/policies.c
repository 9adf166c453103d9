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

/* Who has a list: a port, or a port template with all its instances. */
struct owner {
	const char *kind, *name;
	const struct port *port;
};

static struct owner owner_of(const struct port *port)
{
	if (port->template)
		return (struct owner){"port_templates", port->template->name, port};
	return (struct owner){"ports", port->name, port};
}

/* Names differ in most lists, so that asking the live generation costs little. */
static int compile_list(struct block **ret_block, const struct generation *live,
			const struct owner *owner, enum secg_direction direction,
			struct errors *reterr)
{
	static const char *const words[] = {[SECG_FROM] = "from", [SECG_TO] = "to"};
	const struct port_list *list = &owner->port->list[direction];
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	_cleanup_free_ char *field = NULL;
	struct block *kept;
	int r;

	kept = find_list(live, owner->port, list);
	if (kept) {
		*ret_block = block_ref(kept);
		return 0;
	}
	if (asprintf(&field, "%s.%s.%s", owner->kind, owner->name, words[direction]) < 0) {
		field = NULL;
		return -ENOMEM;
	}
	r = compile_policy(&compiled, (const struct acl *const *)list->acls, list->acl_count,
			   owner->port->is_audited, field, reterr);
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
		    const struct owner *owner, enum secg_direction direction, struct errors *reterr,
		    struct block **ret_block)
{
	const struct port_list *list = &owner->port->list[direction];
	_cleanup_(block_unrefp) struct block *block = NULL;
	struct generation_policy *lists;
	int r;

	r = compile_list(&block, live, owner, direction, reterr);
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
		.is_audited = owner->port->is_audited,
		.block = block_ref(block),
	};
	*ret_block = block; /* the list's reference keeps it */
	return 0;
}

/* *ret_block is lent; NULL: the direction has no ACLs. */
static int find_block(struct generation *generation, const struct generation *live,
		      const struct owner *owner, enum secg_direction direction,
		      struct errors *reterr, struct block **ret_block)
{
	const struct port_list *list = &owner->port->list[direction];

	*ret_block = NULL;
	if (!list->is_given || list->acl_count == 0)
		return 0;
	*ret_block = find_list(generation, owner->port, list);
	if (*ret_block)
		return 0;
	return add_list(generation, live, owner, direction, reterr, ret_block);
}

/* Both are the same policy, with other instances. */
static bool shares(const struct generation *generation, const struct generation *live)
{
	return generation->config->root && generation->config->root == live->config->root;
}

/* Then all its lists are there, and a port that both have has the same. */
static int take_lists(struct generation *generation, const struct generation *live)
{
	generation->lists = calloc(live->list_count + 1, sizeof(*generation->lists));
	if (!generation->lists)
		return -ENOMEM;
	for (size_t i = 0; i < live->list_count; i++) {
		generation->lists[i] = live->lists[i];
		block_ref(live->lists[i].block);
	}
	generation->list_count = live->list_count;
	return 0;
}

static int set_policy(struct generation *generation, const struct generation *live,
		      struct generation_port *entry, enum secg_direction direction,
		      struct errors *reterr)
{
	const struct generation_port *before = generation_find_port(live, entry->port->name);
	struct owner owner = owner_of(entry->port);
	struct block *block;
	int r;

	if (before && before->port->list[direction].acls == entry->port->list[direction].acls &&
	    shares(generation, live)) {
		if (before->policy[direction])
			entry->policy[direction] = block_ref(before->policy[direction]);
		return 0;
	}
	r = find_block(generation, live, &owner, direction, reterr, &block);

	if (r == 0 && block && block->compiled->rule_count > 0)
		entry->policy[direction] = block_ref(block);
	return r;
}

/* Lists of templates are there before they are needed: what is too large is refused when it is written,
 * and an interface that appears does not wait for the compiler. */
static int set_template(struct generation *generation, const struct generation *live,
			const struct port_template *template, enum secg_direction direction,
			struct errors *reterr)
{
	struct owner owner = {"port_templates", template->name, &template->port};
	struct block *block;

	return find_block(generation, live, &owner, direction, reterr, &block);
}

/* -EINVAL is kept for later, so that every list is tried. */
static bool is_fatal(int r, int *result)
{
	if (r == -EINVAL)
		*result = r;
	return r < 0 && r != -EINVAL;
}

int generation_set_policies(struct generation *generation, const struct generation *live,
			    struct errors *reterr)
{
	const struct config *config = generation->config;
	int result = 0;
	int r = shares(generation, live) ? take_lists(generation, live) : 0;

	if (r < 0)
		return r;
	for (int direction = 0; direction < SECG_DIRECTIONS; direction++) {
		for (size_t i = 0; i < config->template_count; i++) {
			r = set_template(generation, live, &config->templates[i],
					 (enum secg_direction)direction, reterr);
			if (is_fatal(r, &result))
				return r;
		}
		for (size_t i = 0; i < generation->port_count; i++) {
			r = set_policy(generation, live, &generation->ports[i],
				       (enum secg_direction)direction, reterr);
			if (is_fatal(r, &result))
				return r;
		}
	}
	return result;
}
