/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose addresses each port may use: compiled, taken over from the live generation, or shared with a port
 * that may use the same.
 */
#include <stdio.h>
#include <string.h>

#include "compile/macip.h"
#include "engine/generation.h"

static struct macip_source source_of(const struct port *port)
{
	struct macip_source source = {
		.entries = {port->addresses},
		.counts = {port->address_count},
	};

	if (port->macip) {
		source.entries[1] = port->macip->entries;
		source.counts[1] = port->macip->entry_count;
	}
	return source;
}

static void add_entry(struct digest_context *context, const struct macip_entry *entry)
{
	digest_add(context, &entry->mac, sizeof(entry->mac));
	digest_add(context, &entry->prefix_count, sizeof(entry->prefix_count));
	for (size_t i = 0; i < entry->prefix_count; i++) {
		digest_add(context, &entry->prefixes[i].family, sizeof(entry->prefixes[i].family));
		digest_add(context, &entry->prefixes[i].length, sizeof(entry->prefixes[i].length));
		digest_add(context, &entry->prefixes[i].address,
			   sizeof(entry->prefixes[i].address));
	}
}

static int digest_source(struct digest *ret_digest, const struct macip_source *source)
{
	struct digest_context context;

	digest_init(&context);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < source->counts[s]; i++)
			add_entry(&context, &source->entries[s][i]);
	return digest_finish(&context, ret_digest);
}

static bool is_equal(const struct block *block, const struct digest *digest)
{
	return !memcmp(&block->digest, digest, sizeof(*digest));
}

/* Most ports have what they had, or what a port before them has. */
static struct block *find(const struct generation *generation, const struct generation *live,
			  const struct port *port, const struct digest *digest)
{
	const struct generation_port *before = generation_find_port(live, port->name);

	if (before && before->spoof && is_equal(before->spoof, digest))
		return before->spoof;
	for (size_t i = 0; i < generation->port_count; i++) {
		struct block *block = generation->ports[i].spoof;

		if (block && is_equal(block, digest))
			return block;
	}
	return NULL;
}

static int compile(struct block **ret_block, const struct macip_source *source,
		   const struct port *port, struct errors *reterr)
{
	_cleanup_(compiled_freep) struct compiled *compiled = NULL;
	_cleanup_free_ char *field = NULL;
	int r;

	if (asprintf(&field, "ports.%s.%s", port->name, port->macip ? "macip" : "addresses") < 0) {
		field = NULL;
		return -ENOMEM;
	}
	r = compile_macip(&compiled, source, field, reterr);
	if (r < 0)
		return r;
	r = block_new_policy(ret_block, compiled);
	if (r >= 0)
		compiled = NULL;
	return r;
}

static int set_port(struct generation *generation, const struct generation *live,
		    struct generation_port *entry, struct errors *reterr)
{
	const struct macip_source source = source_of(entry->port);
	struct digest digest;
	struct block *block;
	int r;

	if (!entry->port->is_anti_spoofed || !(source.counts[0] + source.counts[1]))
		return 0;
	r = digest_source(&digest, &source);
	if (r < 0)
		return r;
	block = find(generation, live, entry->port, &digest);
	if (block) {
		entry->spoof = block_ref(block);
		return 0;
	}
	r = compile(&entry->spoof, &source, entry->port, reterr);
	if (r >= 0)
		entry->spoof->digest =
			digest; /* of what it is made from, which is cheaper to ask for */
	return r;
}

int generation_set_spoof(struct generation *generation, const struct generation *live,
			 struct errors *reterr)
{
	int result = 0;

	for (size_t i = 0; i < generation->port_count; i++) {
		int r = set_port(generation, live, &generation->ports[i], reterr);

		if (r < 0 && r != -EINVAL)
			return r;
		if (r < 0)
			result = r;
	}
	return result;
}

void generation_spoof_pairs(struct secg_pair ret_pairs[SECG_PAIRS],
			    const struct generation_port *entry)
{
	const struct macip_source source = source_of(entry->port);
	const struct macip_source none = {0};

	macip_pairs(ret_pairs, entry->port->is_anti_spoofed ? &source : &none);
}
