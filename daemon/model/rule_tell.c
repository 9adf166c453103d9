/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of the packets that a rule or a default decides: log and sample. */
#include "model/rule_draft.h"

static const struct number_kind rate_kind = {"a rate in records a second", 1, 1000000};
static const struct number_kind sample_kind = {"one packet in N", 1, UINT32_MAX};

struct log_draft {
	json_t *json; /* the normalised object; borrowed */
	struct log_rate log;
};

static int log_rate(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	struct log_draft *draft = object;
	int r = parse_number(parser, path, value, &rate_kind, &draft->log.rate);

	return r < 0 ? r : json_put(draft->json, "rate", json_integer(draft->log.rate));
}

static int log_what(struct parser *parser, const struct path *path, const json_t *value,
		    void *object)
{
	static const struct word words[] = {{"new", false}, {"all", true}};
	struct log_draft *draft = object;
	int is_all = false;
	int r = parse_word(parser, path, value, words, ARRAY_SIZE(words), &is_all);

	draft->log.is_all = is_all;
	return r < 0 ? r : json_put(draft->json, "what", json_incref((json_t *)value));
}

int log_parse(struct parser *parser, const struct path *path, const json_t *value, json_t *json,
	      struct log_rate *ret_log)
{
	static const struct field fields[] = {{"rate", log_rate}, {"what", log_what}};
	static const struct schema schema = {"a log", fields, ARRAY_SIZE(fields)};
	struct log_draft draft = {.log.rate = LOG_RATE_DEFAULT};
	int result;

	if (json_is_false(value))
		return 0;
	if (json_is_true(value)) {
		*ret_log = draft.log;
		return json_put(json, path->key, json_true());
	}
	if (!json_is_object(value))
		return parse_bad_type(parser, path, value, "true, or an object as in {rate: 10}");
	draft.json = json_object();
	result = json_put(json, path->key, draft.json);
	if (result < 0)
		return result;
	result = parse_object(parser, path, value, &schema, &draft);
	if (!result)
		*ret_log = draft.log;
	return result;
}

int rule_parse_log(struct parser *parser, const struct path *path, const json_t *value,
		   void *object)
{
	struct rule_draft *draft = object;

	return log_parse(parser, path, value, draft->l4.json, &draft->rule->log);
}

/* ── sample ─────────────────────────────────────────────────────────────────────────────────────── */

struct sample_draft {
	json_t *json; /* the normalised object; borrowed */
	struct rule *rule;
};

static int sample_field(struct parser *parser, const struct path *path, const json_t *value,
			struct sample_draft *draft, uint32_t *ret_sample)
{
	int r = parse_number(parser, path, value, &sample_kind, ret_sample);

	return r < 0 ? r : json_put(draft->json, path->key, json_integer(*ret_sample));
}

static int sample_new(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	struct sample_draft *draft = object;

	return sample_field(parser, path, value, draft, &draft->rule->sample[0]);
}

static int sample_established(struct parser *parser, const struct path *path, const json_t *value,
			      void *object)
{
	struct sample_draft *draft = object;

	return sample_field(parser, path, value, draft, &draft->rule->sample[1]);
}

int rule_parse_sample(struct parser *parser, const struct path *path, const json_t *value,
		      void *object)
{
	static const struct field fields[] = {
		{"new", sample_new},
		{"established", sample_established},
	};
	static const struct schema schema = {"a sample", fields, ARRAY_SIZE(fields)};
	const struct rule_draft *rule_draft = object;
	struct sample_draft draft = {.json = json_object(), .rule = rule_draft->rule};
	int result = json_put(rule_draft->l4.json, "sample", draft.json);

	if (result < 0)
		return result;
	result = parse_object(parser, path, value, &schema, &draft);
	if (!result && !json_object_size(draft.json))
		result = parse_error(parser, path, ERROR_BAD_VALUE,
				     "must name `new`, `established` or both: one packet in how "
				     "many is told");
	return result;
}
