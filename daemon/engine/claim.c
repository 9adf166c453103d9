/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces dealt out to ports and templates. */
#include "engine/claim.h"

#include <net/if.h>
#include <string.h>

#define NOBODY SIZE_MAX

/* What is true of one interface, whatever the others are. */
struct decision {
	int ifindex;
	uint64_t version;
	char name[IF_NAMESIZE];
	size_t port;       /* best one; NOBODY */
	bool is_contested; /* another one is as good */
	size_t template;   /* best one; NOBODY */
	size_t quarantine; /* best one that is a quarantine; NOBODY */
};

struct instance {
	struct config_instance named;
	char interface[IF_NAMESIZE];
	int ifindex;
};

struct claims {
	struct config *config;
	const struct port **named; /* ports with `interface`, by it */
	size_t named_count;
	struct decision *decisions; /* by ifindex */
	size_t decision_count;
	struct claim *ports;        /* by index in the configuration */
	struct instance *instances; /* by interface */
	struct config_instance *runtime;
	size_t instance_count;
	size_t left_over;
	char left_over_name[IF_NAMESIZE];
};

/* ── for one configuration ──────────────────────────────────────────────────────────────────────── */

static int compare_interface(const void *a, const void *b)
{
	const struct port *const *x = a, *const *y = b;

	return strcmp((*x)->interface, (*y)->interface);
}

int claims_new(struct claims **ret_claims, struct config *config)
{
	_cleanup_(claims_freep) struct claims *claims = calloc(1, sizeof(*claims));

	if (!claims)
		return -ENOMEM;
	claims->named = calloc(config->port_count + 1, sizeof(const struct port *));
	claims->ports = calloc(config->port_count + 1, sizeof(*claims->ports));
	if (!claims->named || !claims->ports)
		return -ENOMEM;
	claims->config = config_ref(config);
	for (size_t i = 0; i < config->port_count; i++)
		if (config->ports[i].interface)
			claims->named[claims->named_count++] = &config->ports[i];
	qsort(claims->named, claims->named_count, sizeof(*claims->named), compare_interface);
	*ret_claims = TAKE_PTR(claims);
	return 0;
}

void claims_free(struct claims *claims)
{
	config_freep(&claims->config);
	free(claims->named);
	free(claims->decisions);
	free(claims->ports);
	free(claims->instances);
	free(claims->runtime);
	free(claims);
}

/* ── for one interface ──────────────────────────────────────────────────────────────────────────── */

static int compare_name(const void *name, const void *item)
{
	const struct port *const *port = item;

	return strcmp(name, (*port)->interface);
}

/* Index of the port that names the interface; NOBODY. */
static size_t find_named(const struct claims *claims, const char *interface)
{
	const struct port *const *found = NULL;

	if (claims->named_count)
		found = bsearch(interface, claims->named, claims->named_count,
				sizeof(*claims->named), compare_name);
	return found ? (size_t)(*found - claims->config->ports) : NOBODY;
}

static bool fits(const struct interface_match *match, const struct claim_link *link)
{
	if (link->is_reserved && !match_is_literal(match))
		return false;
	return match_fits(match, &link->facts);
}

static void find_matching(const struct claims *claims, const struct claim_link *link,
			  struct decision *decision)
{
	const struct port *ports = claims->config->ports;

	for (size_t i = 0; i < claims->config->port_count; i++) {
		int order = 1;

		if (!ports[i].match || !fits(ports[i].match, link))
			continue;
		if (decision->port != NOBODY)
			order = match_compare(ports[i].match, ports[decision->port].match);
		if (order > 0)
			decision->port = i;
		decision->is_contested = order == 0 || (order < 0 && decision->is_contested);
	}
}

/* Of two that are as good the quarantine is better, and else the first by name. */
static bool is_better(const struct port_template *a, const struct port_template *b)
{
	int order = match_compare(&a->match, &b->match);

	return order > 0 || (order == 0 && a->is_quarantine && !b->is_quarantine);
}

static void find_template(const struct claims *claims, const struct claim_link *link,
			  struct decision *decision)
{
	const struct port_template *templates = claims->config->templates;

	for (size_t i = 0; i < claims->config->template_count; i++) {
		if (!fits(&templates[i].match, link))
			continue;
		if (decision->template == NOBODY ||
		    is_better(&templates[i], &templates[decision->template]))
			decision->template = i;
		if (templates[i].is_quarantine &&
		    (decision->quarantine == NOBODY ||
		     is_better(&templates[i], &templates[decision->quarantine])))
			decision->quarantine = i;
	}
}

static void decide(const struct claims *claims, const struct claim_link *link,
		   struct decision *ret_decision)
{
	struct decision decision = {
		.ifindex = link->ifindex,
		.version = link->version,
		.port = find_named(claims, link->facts.name),
		.template = NOBODY,
		.quarantine = NOBODY,
	};

	strncpy(decision.name, link->facts.name, sizeof(decision.name) - 1);
	if (decision.port == NOBODY)
		find_matching(claims, link, &decision);
	find_template(claims, link, &decision);
	*ret_decision = decision;
}

/* ── for all of them ────────────────────────────────────────────────────────────────────────────── */

/* What is known already is copied; both are in the order of their ifindex. */
static void decide_all(const struct claims *claims, const struct claim_link *links, size_t count,
		       struct decision *ret_decisions)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct decision *known = NULL;

		while (at < claims->decision_count &&
		       claims->decisions[at].ifindex < links[i].ifindex)
			at++;
		if (at < claims->decision_count)
			known = &claims->decisions[at];
		if (known && known->ifindex == links[i].ifindex &&
		    known->version == links[i].version)
			ret_decisions[i] = *known;
		else
			decide(claims, &links[i], &ret_decisions[i]);
	}
}

/* Several ports are as good for one interface: none of them has one. */
static void contest(struct claims *claims, const struct claim_link *link,
		    const struct decision *decision)
{
	const struct port *ports = claims->config->ports;
	const struct port *best = &ports[decision->port];
	const struct port *rival = NULL;

	for (size_t i = 0; i < claims->config->port_count; i++) {
		if (&ports[i] == best || !ports[i].match || !fits(ports[i].match, link) ||
		    match_compare(ports[i].match, best->match) != 0)
			continue;
		rival = &ports[i];
		claims->ports[i] = (struct claim){
			.state = CLAIM_AMBIGUOUS, .ifindex = link->ifindex, .rival = best};
	}
	claims->ports[decision->port] =
		(struct claim){.state = CLAIM_AMBIGUOUS, .ifindex = link->ifindex, .rival = rival};
}

static void claim_all(struct claims *claims, const struct claim_link *links)
{
	memset(claims->ports, 0, claims->config->port_count * sizeof(*claims->ports));
	for (size_t i = 0; i < claims->decision_count; i++) {
		const struct decision *decision = &claims->decisions[i];
		struct claim *claim;

		if (decision->port == NOBODY)
			continue;
		claim = &claims->ports[decision->port];
		if (decision->is_contested) {
			contest(claims, &links[i], decision);
		} else if (claim->state == CLAIM_NONE) {
			*claim = (struct claim){.state = CLAIM_ONE, .ifindex = decision->ifindex};
		} else if (claim->state == CLAIM_ONE) {
			claim->state = CLAIM_AMBIGUOUS;
			claim->other = decision->ifindex;
		}
	}
}

/* ── instances ──────────────────────────────────────────────────────────────────────────────────── */

static size_t template_for(const struct claims *claims, const struct decision *decision)
{
	if (decision->port == NOBODY)
		return decision->template;
	return claims->ports[decision->port].state == CLAIM_ONE ? NOBODY : decision->quarantine;
}

static int compare_instance(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	return strcmp(x->interface, y->interface);
}

/* Where numbers run out the interfaces that have been there longest keep theirs. */
static void instance_all(struct claims *claims)
{
	size_t room = SECG_MAX_PORTS - 1 - claims->config->port_count;

	claims->instance_count = claims->left_over = 0;
	for (size_t i = 0; i < claims->decision_count; i++) {
		const struct decision *decision = &claims->decisions[i];
		size_t template = template_for(claims, decision);
		struct instance *instance = &claims->instances[claims->instance_count];

		if (template == NOBODY)
			continue;
		if (claims->instance_count == room) {
			if (claims->left_over++ == 0)
				memcpy(claims->left_over_name, decision->name,
				       sizeof(claims->left_over_name));
			continue;
		}
		claims->instance_count++;
		memcpy(instance->interface, decision->name, sizeof(instance->interface));
		instance->ifindex = decision->ifindex;
		instance->named.template = claims->config->templates[template].name;
	}
	qsort(claims->instances, claims->instance_count, sizeof(*claims->instances),
	      compare_instance);
	for (size_t i = 0; i < claims->instance_count; i++) {
		claims->instances[i].named.interface = claims->instances[i].interface;
		claims->runtime[i] = claims->instances[i].named;
	}
}

int claims_update(struct claims *claims, const struct claim_link *links, size_t count)
{
	_cleanup_free_ struct decision *decisions = calloc(count + 1, sizeof(*decisions));
	_cleanup_free_ struct instance *instances = calloc(count + 1, sizeof(*instances));
	_cleanup_free_ struct config_instance *runtime = calloc(count + 1, sizeof(*runtime));

	if (!decisions || !instances || !runtime)
		return -ENOMEM;
	decide_all(claims, links, count, decisions);
	free(claims->decisions);
	free(claims->instances);
	free(claims->runtime);
	claims->decisions = TAKE_PTR(decisions);
	claims->decision_count = count;
	claims->instances = TAKE_PTR(instances);
	claims->runtime = TAKE_PTR(runtime);
	claim_all(claims, links);
	instance_all(claims);
	return 0;
}

/* ── answers ────────────────────────────────────────────────────────────────────────────────────── */

struct config *claims_config(const struct claims *claims)
{
	return claims->config;
}

static struct claim find_instance(const struct claims *claims, const char *interface)
{
	struct instance key = {0};
	const struct instance *found = NULL;

	strncpy(key.interface, interface, sizeof(key.interface) - 1);
	if (claims->instance_count)
		found = bsearch(&key, claims->instances, claims->instance_count,
				sizeof(*claims->instances), compare_instance);
	if (!found)
		return (struct claim){0};
	return (struct claim){.state = CLAIM_ONE, .ifindex = found->ifindex};
}

struct claim claims_find(const struct claims *claims, const struct port *port)
{
	const struct port *own;

	if (port->is_instance)
		return find_instance(claims, port->interface);
	own = config_find_port(claims->config, port->name);
	return own ? claims->ports[own - claims->config->ports] : (struct claim){0};
}

struct config_runtime claims_runtime(const struct claims *claims)
{
	return (struct config_runtime){
		.instances = claims->runtime,
		.instance_count = claims->instance_count,
	};
}

static bool needs_look(const struct interface_match *match)
{
	return match && (match->alias || match->altname);
}

bool claims_need_look(const struct claims *claims)
{
	const struct config *config = claims->config;

	for (size_t i = 0; i < config->port_count; i++)
		if (needs_look(config->ports[i].match))
			return true;
	for (size_t i = 0; i < config->template_count; i++)
		if (needs_look(&config->templates[i].match))
			return true;
	return false;
}

bool claims_have_members(const struct claims *claims)
{
	for (size_t i = 0; i < claims->instance_count; i++)
		if (template_has_members(config_find_template(claims->config,
							      claims->instances[i].named.template)))
			return true;
	return false;
}

size_t claims_left_over(const struct claims *claims, const char **ret_interface)
{
	*ret_interface = claims->left_over_name;
	return claims->left_over;
}
