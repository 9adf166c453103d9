/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's events, with anchors resolved to places on the tape. */
#include "tape.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <yaml.h>

#include "syntax.h"

struct recorder {
	struct tape *tape;
	json_t *anchors; /* name → index; a name used again hides the earlier one */
	size_t *open;    /* containers around the present event, outermost first */
	size_t depth, max_depth;
	size_t documents;
	const char *file;
	const char *bytes;
	size_t size;
	struct problems *problems;
};

void tape_free(struct tape *tape)
{
	for (size_t i = 0; i < tape->count; i++) {
		free(tape->items[i].text);
		free(tape->items[i].tag);
	}
	free(tape->items);
	free(tape);
}

size_t tape_next(const struct tape *tape, size_t index)
{
	const struct tape_item *item = &tape->items[index];

	if (item->kind == TAPE_SEQUENCE || item->kind == TAPE_MAPPING)
		return item->link + 1;
	return index + 1;
}

static struct tape_item *record(struct recorder *recorder, enum tape_kind kind, yaml_mark_t mark)
{
	struct tape *tape = recorder->tape;

	tape->items = memory_grow(tape->items, tape->count, &tape->room, sizeof(*tape->items));
	tape->items[tape->count] = (struct tape_item){
		.kind = kind,
		.line = (uint32_t)mark.line + 1,
		.column = (uint32_t)mark.column + 1,
	};
	return &tape->items[tape->count++];
}

static char *copy_tag(const yaml_char_t *tag)
{
	return tag ? memory_copy((const char *)tag) : NULL;
}

/* The anchor names the item recorded last. */
static void anchor(struct recorder *recorder, const yaml_char_t *name)
{
	json_t *index;

	if (!name)
		return;
	index = memory_check(json_integer((json_int_t)recorder->tape->count - 1));
	json_object_set_new(recorder->anchors, (const char *)name, index);
}

static int on_alias(struct recorder *recorder, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const json_t *index = json_object_get(recorder->anchors, name);
	struct tape_item *item = record(recorder, TAPE_ALIAS, event->start_mark);

	if (!index) {
		problems_add(recorder->problems, recorder->file, item->line, item->column,
			     "alias *%s has no anchor before it", name);
		return -EINVAL;
	}
	item->link = (size_t)json_integer_value(index);
	for (size_t i = 0; i < recorder->depth; i++) {
		if (recorder->open[i] != item->link)
			continue;
		problems_add(recorder->problems, recorder->file, item->line, item->column,
			     "alias *%s stands inside what it names", name);
		return -EINVAL;
	}
	return 0;
}

static void on_scalar(struct recorder *recorder, yaml_event_t *event)
{
	struct tape_item *item = record(recorder, TAPE_SCALAR, event->start_mark);

	item->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	item->size = event->data.scalar.length;
	item->tag = copy_tag(event->data.scalar.tag);
	/* libyaml allocates with malloc and frees NULL without complaint: the text changes hands */
	item->text = (char *)TAKE_PTR(event->data.scalar.value);
	anchor(recorder, event->data.scalar.anchor);
}

static int on_start(struct recorder *recorder, const yaml_event_t *event)
{
	bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
	struct tape_item *item =
		record(recorder, is_mapping ? TAPE_MAPPING : TAPE_SEQUENCE, event->start_mark);

	if (recorder->depth == recorder->max_depth) {
		problems_add(recorder->problems, recorder->file, item->line, item->column,
			     "nested deeper than %zu levels", recorder->max_depth);
		return -EINVAL;
	}
	item->tag = copy_tag(is_mapping ? event->data.mapping_start.tag
					: event->data.sequence_start.tag);
	recorder->open[recorder->depth++] = recorder->tape->count - 1;
	anchor(recorder,
	       is_mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor);
	return 0;
}

static void on_end(struct recorder *recorder, const yaml_event_t *event)
{
	record(recorder, TAPE_END, event->start_mark);
	recorder->depth--;
	recorder->tape->items[recorder->open[recorder->depth]].link = recorder->tape->count - 1;
}

static int on_event(struct recorder *recorder, yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (recorder->documents++ == 0)
			return 0;
		problems_add(recorder->problems, recorder->file,
			     (uint32_t)event->start_mark.line + 1,
			     (uint32_t)event->start_mark.column + 1,
			     "a second document begins here: put each into a file of its own");
		return -EINVAL;
	case YAML_ALIAS_EVENT:
		return on_alias(recorder, event);
	case YAML_SCALAR_EVENT:
		on_scalar(recorder, event);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return on_start(recorder, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		on_end(recorder, event);
		return 0;
	default:
		return 0;
	}
}

static struct syntax_mark mark_of(yaml_mark_t mark)
{
	return (struct syntax_mark){
		.index = mark.index,
		.line = (uint32_t)mark.line + 1,
		.column = (uint32_t)mark.column + 1,
	};
}

static void add_syntax(struct recorder *recorder, const yaml_parser_t *parser)
{
	_cleanup_free_ char *message = NULL;
	struct syntax syntax;

	if (parser->error == YAML_READER_ERROR)
		syntax = syntax_reader(parser->problem_value, parser->problem_offset,
				       strstr(parser->problem, "control character") != NULL,
				       recorder->bytes, recorder->size);
	else
		syntax =
			syntax_yaml(parser->problem ? parser->problem : "bad YAML",
				    mark_of(parser->problem_mark), parser->context,
				    mark_of(parser->context_mark), recorder->bytes, recorder->size);
	message = syntax.message;
	problems_add(recorder->problems, recorder->file, syntax.line, syntax.column, "%s", message);
}

static int run(struct recorder *recorder, yaml_parser_t *parser)
{
	for (;;) {
		yaml_event_t event;
		bool is_last;
		int r;

		if (!yaml_parser_parse(parser, &event)) {
			memory_check(parser->error == YAML_MEMORY_ERROR ? NULL : parser);
			add_syntax(recorder, parser);
			return -EINVAL;
		}
		is_last = event.type == YAML_STREAM_END_EVENT;
		r = on_event(recorder, &event);
		yaml_event_delete(&event);
		if (r < 0 || is_last)
			return r;
	}
}

int tape_read(struct tape **ret_tape, const char *bytes, size_t size, const char *file,
	      size_t max_depth, struct problems *reterr)
{
	_cleanup_(tape_freep) struct tape *tape = memory_check(calloc(1, sizeof(*tape)));
	_cleanup_free_ size_t *open = memory_check(calloc(max_depth, sizeof(*open)));
	json_auto_t *anchors = memory_check(json_object());
	struct recorder recorder = {
		.tape = tape,
		.anchors = anchors,
		.open = open,
		.max_depth = max_depth,
		.file = file,
		.bytes = bytes,
		.size = size,
		.problems = reterr,
	};
	yaml_parser_t parser;
	int r;

	memory_check(yaml_parser_initialize(&parser) ? tape : NULL);
	yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);
	r = run(&recorder, &parser);
	yaml_parser_delete(&parser);
	if (r < 0)
		return r;
	*ret_tape = TAKE_PTR(tape);
	return 0;
}
