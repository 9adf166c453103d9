# SPDX-License-Identifier: Apache-2.0
"""
From docs/openapi.yaml to what is made of it: the JSON that secgd serves, the table of `sgctl explain`, and
docs/schema.md. Run by the Makefile; the contract test reads the description through load().

  openapi.py json|daemon|explain|markdown [FILE]     to stdout; the same input gives the same bytes
"""

import json
import os
import re
import sys

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.join(ROOT, "docs", "openapi.yaml")


class Mistake(Exception):
    """The description contradicts itself or leaves something out."""


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────


class Loader(yaml.SafeLoader):
    """Refuses a key that is given twice."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen and key.value != "<<":
                raise Mistake(f"line {key.start_mark.line + 1}: {key.value} is given twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _words_of_header(path):
    """The words of an X-macro list: X(NAME, "word", "text")."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = re.sub(r"\\\n\s*", " ", file.read())
    words = re.findall(r'\bX\(\w+,\s*"([^"]+)",\s*"([^"]+)"\)', text)
    if not words:
        raise Mistake(f"{path} has no list of words")
    return [{"const": word, "description": text[0].upper() + text[1:] + "."} for word, text in words]


def _fill(value):
    """Replaces x-from by the words of the header it names; takes out what says x-absent."""
    if isinstance(value, list):
        return [_fill(item) for item in value]
    if not isinstance(value, dict):
        return value
    filled = {key: _fill(item) for key, item in value.items()
              if key != "x-from" and not (isinstance(item, dict) and "x-absent" in item)}
    if "x-from" in value:
        filled["oneOf"] = _words_of_header(value["x-from"])
    return filled


def load(path=SOURCE):
    """The whole description, checked; x-refusals and the like were only there to be repeated."""
    with open(path, encoding="utf-8") as file:
        spec = _fill(yaml.load(file, Loader))
    for name in ("x-refusals", "x-write-answers", "x-port-answers", "x-write-parameters", "x-delete-answers"):
        spec.pop(name, None)
    check(spec)
    return spec


def resolve(spec, schema):
    """Follows $ref; what stands beside it goes before what is there."""
    while "$ref" in schema:
        target = spec
        for step in schema["$ref"].removeprefix("#/").split("/"):
            if step not in target:
                raise Mistake(f"{schema['$ref']} leads nowhere")
            target = target[step]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def check(spec):
    """Every reference leads somewhere, every object says what it may have, every field what it means."""
    def walk(value, where):
        if isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{where}[{index}]")
        if not isinstance(value, dict):
            return
        if isinstance(value.get("$ref"), str):
            resolve(spec, value)
        if value.get("type") == "object" and "additionalProperties" not in value and "title" not in value:
            raise Mistake(f"{where}: additionalProperties is missing")
        if isinstance(value.get("properties"), dict) and "type" in value:
            for name, field in value["properties"].items():
                if not resolve(spec, field).get("description"):
                    raise Mistake(f"{where}.{name}: description is missing")
            for name in value.get("required", []):
                if name not in value["properties"]:
                    raise Mistake(f"{where}: {name} is required and no property")
        for key, item in value.items():
            walk(item, f"{where}.{key}")

    walk(spec, "")


# ── fields as a person reads them ────────────────────────────────────────────────────────────────────


def _alternatives(schema):
    return schema.get("anyOf") or schema.get("oneOf") or []


def list_of(spec, schema):
    """The items of a list, also where one item may stand in its place; None for what is no list."""
    if schema.get("type") == "array":
        return schema["items"]
    for alternative in _alternatives(schema):
        alternative = resolve(spec, alternative)
        if alternative.get("type") == "array":
            return alternative["items"]
    return None


def is_scalar_taken(schema):
    return "type" not in schema and bool(_alternatives(schema))


def type_text(spec, schema):
    schema = resolve(spec, schema)
    items = list_of(spec, schema)
    if "title" in schema:
        return schema["title"]
    if items is not None:
        item = type_text(spec, items)
        return f"{item}, or a list of them" if is_scalar_taken(schema) else f"list: {item}"
    if "const" in schema or all("const" in item for item in _alternatives(schema)) and _alternatives(schema):
        return "word"
    if _alternatives(schema):
        return " or ".join(type_text(spec, item) for item in _alternatives(schema))
    if "properties" in schema:
        return "object"
    if schema.get("type") == "object":
        return f"by name: {type_text(spec, schema['additionalProperties'])}"
    return {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}[schema["type"]]


def words(spec, schema):
    """[(word, meaning)] that a field may hold, those of its items included; not those of its fields."""
    schema = resolve(spec, schema)
    if "const" in schema:
        return [(schema["const"], schema.get("description", ""))]
    found = []
    for item in [*_alternatives(schema), *(schema[key] for key in ("items", "propertyNames") if key in schema)]:
        found += [word for word in words(spec, item) if word not in found]
    return found


def limits(spec, schema):
    """[sentence]: bounds and patterns of a field and its items."""
    schema = resolve(spec, schema)
    found = []
    if schema.get("minItems"):
        found.append("a list must not be empty")
    if "maxItems" in schema:
        found.append(f"at most {schema['maxItems']} in the list")
    if "maxProperties" in schema:
        found.append(f"at most {schema['maxProperties']} of them")
    if "minimum" in schema and "maximum" in schema and schema.get("type") == "integer":
        found.append(f"numbers {schema['minimum']} to {schema['maximum']}")
    if schema.get("format") == "range" and "]+-[" in schema["pattern"]:
        found.append('a range is "first-last"')
    if "x-pattern" in schema:
        found.append(schema["x-pattern"])
    for item in [*_alternatives(schema), *([schema["items"]] if "items" in schema else [])]:
        found += [text for text in limits(spec, item) if text not in found]
    return found


def unit(spec, schema):
    schema = resolve(spec, schema)
    return schema.get("x-unit") or (unit(spec, schema["additionalProperties"])
                                    if isinstance(schema.get("additionalProperties"), dict) else "")


class Field:
    """One line of the tables. NAME in a path stands for any name."""

    def __init__(self, spec, path, schema, is_required=False, text=None):
        schema = resolve(spec, schema)
        default = schema.get("default", schema.get("x-default", ""))
        self.path = path
        self.type = type_text(spec, schema)
        self.default = default if isinstance(default, str) else json.dumps(default)
        self.unit = unit(spec, schema)
        self.limits = "; ".join(limits(spec, schema))
        self.words = [(schema["const"], "")] if "const" in schema else words(spec, schema)
        self.text = text or schema.get("description", "")
        self.is_required = is_required


def flatten(spec, path, schema):
    """Fields below `path`, in the order of the description."""
    schema = resolve(spec, schema)
    items = list_of(spec, schema)
    prefix = f"{path}." if path else ""
    if items is not None:
        return flatten(spec, path, items)
    found = []
    for name, field in schema.get("properties", {}).items():
        found.append(Field(spec, prefix + name, field, name in schema.get("required", [])))
        found += flatten(spec, prefix + name, field)
    value = schema.get("additionalProperties")
    if isinstance(value, dict):
        names = words(spec, schema.get("propertyNames", {}))
        for name, text in names:
            found.append(Field(spec, prefix + name, value, text=text))
        if not names:
            found.append(Field(spec, f"{prefix}NAME", value, text=resolve(spec, value).get("description") or "One of them."))
            found += flatten(spec, f"{prefix}NAME", value)
    return found


def sections(spec):
    """[(section, [Field])] as x-explain lists them."""
    found = []
    for section in spec["x-explain"]:
        schema = {"$ref": f"#/components/schemas/{section['schema']}"}
        fields = flatten(spec, section["path"], schema)
        if section["schema"] != "Config":
            for field in fields:
                field.is_required = False  # of an answer that would mean something else
        if section["path"]:
            fields.insert(0, Field(spec, section["path"], schema, text=section["text"].replace("`", "")))
        found.append((section, fields))
    return found


# ── what is written ──────────────────────────────────────────────────────────────────────────────────


def c_string(text):
    escaped = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
                      for byte in text.encode())
    return f'"{escaped}"'


def to_json(spec):
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":"))


def to_daemon(spec):
    text = to_json(spec)
    # cut between characters; a literal of its own for each piece keeps the lines short
    pieces = [text[at:at + 80] for at in range(0, len(text), 80)]
    lines = "\n".join(f"\t{c_string(piece)}" for piece in pieces)
    return ("/* SPDX-License-Identifier: Apache-2.0 */\n/* Made from docs/openapi.yaml. */\n"
            f"static const char openapi_json[] =\n{lines};\n")


def to_explain(spec):
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* Made from docs/openapi.yaml. */"]
    fields = [field for _, part in sections(spec) for field in part]
    arrays = {}
    for index, field in enumerate(fields):
        if field.words:
            arrays[index] = f"words_{index}"
            lines.append(f"static const struct explain_word {arrays[index]}[] = {{")
            lines += [f"\t{{{c_string(word)}, {c_string(text)}}}," for word, text in field.words]
            lines.append("\t{0},\n};")
    lines.append("static const struct explain_field explain_fields[] = {")
    for index, field in enumerate(fields):
        texts = ", ".join(c_string(text) for text in (field.path, field.type, field.default, field.unit, field.limits,
                                                      field.text))
        lines.append(f"\t{{{texts}, {arrays.get(index, 'NULL')}, {'true' if field.is_required else 'false'}}},")
    lines.append("};\nstatic const struct explain_alias explain_aliases[] = {")
    lines += [f"\t{{{c_string(name)}, {c_string(path)}}}," for name, path in spec["x-aliases"].items()]
    return "\n".join([*lines, "};\n"])


def _cell(text):
    return str(text).replace("|", "\\|").replace("<", "\\<")


def _meaning(field):
    text = field.text
    if field.is_required:
        text += " **Required.**"
    if field.limits:
        text += f" *Limits: {field.limits}.*"
    for word, meaning in field.words:
        text += f"<br>`{word}`: {_cell(meaning)}" if meaning else f"<br>`{word}`"
    return text


def to_markdown(spec):
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "<!-- Made from docs/openapi.yaml by `make docs`. -->",
             "# Every field", "",
             "`NAME` stands for a name of your choice. `sgctl explain PATH` prints one field: NAME and the places in",
             "lists may be left out, as in `sgctl explain ports.hook`.", ""]
    for section, fields in sections(spec):
        lines += [f"## {section['title']}", "", section["text"], "", "| field | type | default | unit | meaning |",
                  "|---|---|---|---|---|"]
        lines += [f"| `{field.path}` | {_cell(field.type)} | {_cell(field.default)} | {field.unit} | "
                  f"{_meaning(field)} |" for field in fields]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def main(arguments):
    outputs = {"json": to_json, "daemon": to_daemon, "explain": to_explain, "markdown": to_markdown}
    if not 1 <= len(arguments) <= 2 or arguments[0] not in outputs:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        sys.stdout.reconfigure(encoding="utf-8")
        sys.stdout.write(outputs[arguments[0]](load(*arguments[1:])))
    except Mistake as mistake:
        print(f"{(arguments + [SOURCE])[1]}: {mistake}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
