# SPDX-License-Identifier: Apache-2.0
"""
The part of JSON Schema that docs/openapi.yaml uses, and two things more: an answer may not use what is
`writeOnly`, and what was met is noted, so that a test can say what never was.
"""

import ipaddress
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/tools"))

import openapi  # noqa: E402

KEYWORDS = {"$ref", "type", "const", "oneOf", "anyOf", "allOf", "properties", "required", "additionalProperties",
            "propertyNames", "items", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum",
            "pattern", "format", "writeOnly", "title", "description", "default", "examples"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def _is_prefix(text):
    address, slash, length = text.partition("/")
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return "%" not in address and (not slash or re.fullmatch("0|[1-9][0-9]*", length) is not None)


def _is_address(text):
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_of_type(name, value):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Checker:
    """Judges values; `met` collects ("pointer of the schema", property or word)."""

    def __init__(self, spec):
        self.spec = spec
        self.met = set()

    def resolve(self, schema, pointer):
        """The schema behind references, and the pointer of the last one."""
        unknown = {key for key in schema if key not in KEYWORDS and not key.startswith("x-")}
        assert not unknown, f"{pointer}: the checker does not know {unknown}"
        while "$ref" in schema:
            pointer = schema["$ref"]
            schema = {**openapi.resolve(self.spec, {"$ref": pointer}),
                      **{key: value for key, value in schema.items() if key != "$ref"}}
        return schema, pointer

    def complaints(self, schema, value, pointer, is_answer, where=""):
        """What is wrong with the value, as sentences; what was met is noted where nothing is."""
        met = set()
        found = list(self._check(schema, value, pointer, is_answer, where, met))
        if not found:
            self.met |= met
        return found

    def is_valid(self, schema, value, pointer="", is_answer=False):
        return not list(self._check(schema, value, pointer, is_answer, "", set()))

    def undescribed(self, schema, value, where=""):
        """Paths of members that the schema does not have, whatever else is wrong with the value."""
        schema, _ = self.resolve(schema, "")
        for item in [*schema.get("oneOf", []), *schema.get("anyOf", [])]:
            if isinstance(value, list) and self.resolve(item, "")[0].get("type") == "array":
                yield from self.undescribed(item, value, where)
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                yield from self.undescribed(schema["items"], item, f"{where}[{index}]")
        if isinstance(value, dict) and "object" in schema.get("type", []):
            others = schema.get("additionalProperties", True)
            for name, item in value.items():
                inner = schema["properties"][name] if name in schema.get("properties", {}) else others
                if inner is False:
                    yield f"{where}.{name}"
                elif isinstance(inner, dict):
                    yield from self.undescribed(inner, item, f"{where}.{name}")

    def _check(self, schema, value, pointer, is_answer, where, met):
        schema, pointer = self.resolve(schema, pointer)
        if is_answer and schema.get("writeOnly"):
            yield f"{where}: {value!r} is never answered"
            return
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(_is_of_type(name, value) for name in types):
            yield f"{where}: {value!r} is not {' or '.join(types)}"
            return
        if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
            yield f"{where}: {value!r} is not {schema['const']!r}"
        elif "const" in schema:
            met.add((pointer, value))
        yield from self._scalar(schema, value, where)
        yield from self._alternatives(schema, value, pointer, is_answer, where, met)
        if isinstance(value, list):
            yield from self._list(schema, value, pointer, is_answer, where, met)
        if isinstance(value, dict):
            yield from self._object(schema, value, pointer, is_answer, where, met)

    @staticmethod
    def _scalar(schema, value, where):
        if isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                yield f"{where}: {value!r} does not fit {schema['pattern']}"
            elif schema.get("format") == "range":
                numbers = [int(number) for number in value.split("-")]
                if numbers != sorted(numbers) or numbers[0] < schema.get("minimum", 0) or \
                        numbers[-1] > schema["maximum"]:
                    yield f"{where}: {value!r} is no range up to {schema['maximum']}"
            elif schema.get("format") == "prefix" and not _is_prefix(value):
                yield f"{where}: {value!r} is no prefix"
            elif schema.get("format") == "address" and not _is_address(value):
                yield f"{where}: {value!r} is no address"
        elif _is_of_type("number", value):
            if value < schema.get("minimum", value) or value > schema.get("maximum", value):
                yield f"{where}: {value} is out of bounds"

    def _alternatives(self, schema, value, pointer, is_answer, where, met):
        for index, item in enumerate(schema.get("allOf", [])):
            yield from self._check(item, value, f"{pointer}/allOf/{index}", is_answer, where, met)
        for keyword in ("oneOf", "anyOf"):
            if keyword not in schema:
                continue
            fitting = []
            for index, item in enumerate(schema[keyword]):
                inner = set()
                if not list(self._check(item, value, f"{pointer}/{keyword}/{index}", is_answer, where, inner)):
                    fitting.append(inner)
            if not fitting:
                yield f"{where}: {value!r} is none of what may stand there"
            elif keyword == "oneOf" and len(fitting) > 1:
                yield f"{where}: {value!r} is two things at once"
            for inner in fitting:
                met |= inner

    def _list(self, schema, value, pointer, is_answer, where, met):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where}: {len(value)} items"
        for index, item in enumerate(value):
            if "items" in schema:
                yield from self._check(schema["items"], item, f"{pointer}/items", is_answer, f"{where}[{index}]", met)

    def _object(self, schema, value, pointer, is_answer, where, met):
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
            yield f"{where}: {len(value)} members"
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}.{name}: is missing"
        for name, item in value.items():
            inner = f"{where}.{name}" if where else name
            if name in properties:
                met.add((pointer, name))
                yield from self._check(properties[name], item, f"{pointer}/properties/{name}", is_answer, inner, met)
                continue
            if others is False:
                yield f"{inner}: is not described"
            if "propertyNames" in schema:
                yield from self._check(schema["propertyNames"], name, f"{pointer}/propertyNames", is_answer, inner, met)
            if isinstance(others, dict):
                yield from self._check(others, item, f"{pointer}/additionalProperties", is_answer, inner, met)

    def promised(self, schema, pointer, names_of_words=()):
        """Every ("pointer", property) that an answer of this schema may have, and the words of the schemas
        named, and of names of properties."""
        found = set()
        self._promise(schema, pointer, found, set(), names_of_words)
        return found

    def _promise(self, schema, pointer, found, done, names):
        schema, pointer = self.resolve(schema, pointer)
        if pointer in done or schema.get("writeOnly"):
            return
        done.add(pointer)
        for keyword in ("oneOf", "anyOf"):
            for index, item in enumerate(schema.get(keyword, [])):
                inner = f"{pointer}/{keyword}/{index}"
                if "const" in item and pointer.rpartition("/")[2] in names:
                    found.add((inner, item["const"]))
                self._promise(item, inner, found, done, names)
        for name, item in schema.get("properties", {}).items():
            if not item.get("writeOnly"):
                found.add((pointer, name))
                self._promise(item, f"{pointer}/properties/{name}", found, done, names)
        for keyword in ("items", "additionalProperties", "propertyNames"):
            if isinstance(schema.get(keyword), dict):
                self._promise(schema[keyword], f"{pointer}/{keyword}", found, done, names)
