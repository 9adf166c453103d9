# SPDX-License-Identifier: Apache-2.0
"""
Holds every answer that a test gets to docs/openapi.yaml: path, method, status, headers, codes, fields. What is
not described fails the test that got it; what was seen is kept, for the test that asks what never was.
"""

import json
import re

from schema import Checker, openapi

STANDARD_HEADERS = {"Transfer-Encoding", "Date", "Content-Type", "Content-Length", "Connection"}
LARGE = 256 << 10  # bytes of a body of which only status and headers are looked at: Python would take seconds


class Undocumented(AssertionError):
    """The daemon answered what the description does not say."""


class Contract:
    def __init__(self, spec=None):
        self.spec = spec or openapi.load()
        self.checker = Checker(self.spec)
        self.statuses = set()  # (method, path, status)
        self.metrics = set()
        self.codes = set()

    def path_of(self, target):
        """The described path that a request target is for; None: there is none."""
        segments = target.partition("?")[0].removeprefix("http://localhost").split("/")
        for path in self.spec["paths"]:
            pattern = path.split("/")
            if len(pattern) == len(segments) and all(
                    b if a.startswith("{") else a == b for a, b in zip(pattern, segments)):
                return path
        return None

    def operations(self):
        """[(method, path, operation)]"""
        return [(method.upper(), path, operation) for path, item in self.spec["paths"].items()
                for method, operation in item.items() if method != "parameters"]

    def responses(self, method, path):
        if path is None:
            return self.spec["x-other-path"], "#/x-other-path"
        method = "get" if method == "HEAD" else method.lower()
        if method not in self.spec["paths"][path]:
            return self.spec["x-other-method"], "#/x-other-method"
        return self.spec["paths"][path][method]["responses"], f"#/paths/{path}/{method}"

    def check(self, method, target, answer, body=None):
        """`answer` has status, headers, raw; `body` is the request's, in bytes. Raises Undocumented."""
        path = self.path_of(target)
        responses, pointer = self.responses(method, path)
        if str(answer.status) not in responses:
            raise Undocumented(f"{method} {target}: {answer.status} is not described: {answer.raw[:300]!r}")
        response = responses[str(answer.status)]
        pointer = response.get("$ref", f"{pointer}/{answer.status}")
        response = openapi.resolve(self.spec, response)
        complaints = [*self._headers(response, pointer, answer),
                      *(self._body(response, pointer, answer) if method != "HEAD" else []),
                      *(self._request(method, path, target, body) if answer.status == 200 else [])]
        if complaints:
            raise Undocumented(f"{method} {target}: {answer.status}: " + "; ".join(complaints[:10]))
        self.statuses.add((method, path, answer.status))

    def _request(self, method, path, target, body):
        """What was taken must be described too."""
        operation = self.spec["paths"][path]["get" if method == "HEAD" else method.lower()]
        known = {parameter["name"] for parameter in map(lambda p: openapi.resolve(self.spec, p),
                                                        operation.get("parameters", []))}
        for parameter in filter(None, target.partition("?")[2].split("&")):
            if parameter.partition("=")[0] not in known:
                yield f"the parameter {parameter} is not described and taken"
        if not body or "requestBody" not in operation or len(body) > LARGE:
            return
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        if method == "PATCH":  # the members of a patch are those of the whole
            schema = {"$ref": "#/components/schemas/Config"}
        for where in self.checker.undescribed(schema, json.loads(body)):
            yield f"the field {where} is not described and taken"

    def _headers(self, response, pointer, answer):
        described = response.get("headers", {})
        for name in answer.headers:
            if name not in STANDARD_HEADERS and name not in described:
                yield f"header {name} is not described"
        for name, header in described.items():
            header = openapi.resolve(self.spec, header)
            if name in answer.headers:
                yield from self.checker.complaints(header["schema"], answer.headers[name], f"{pointer}/{name}", True,
                                                   f"header {name}")
            else:
                yield f"header {name} is missing"
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        if kind not in response["content"]:
            yield f"content type {kind!r} is not described"

    def _body(self, response, pointer, answer):
        [(kind, content)] = response["content"].items()
        if len(answer.raw) > LARGE:
            return []
        text = answer.raw.decode()
        if kind == "application/x-ndjson":
            return [complaint for line in text.splitlines()
                    for complaint in self.checker.complaints(content["schema"], json.loads(line), pointer, True)]
        if kind != "application/json":
            return list(self._metrics(response["x-metrics"], text))
        try:
            body = json.loads(text)
        except ValueError as error:
            return [f"the body is no JSON: {error}"]
        codes = {error["code"] for error in body["errors"]} if isinstance(body, dict) and "errors" in body else set()
        complaints = self.checker.complaints(content["schema"], body, pointer, True)
        if not codes <= set(response.get("x-codes", [])):
            complaints.append(f"the codes {codes} are not described for it")
        self.codes |= {(pointer, code) for code in codes}
        return complaints

    def check_event(self, event):
        complaints = self.checker.complaints({"$ref": "#/components/schemas/Event"}, event, "", True)
        if complaints:
            raise Undocumented(f"{event}: " + "; ".join(complaints))

    def _metrics(self, described, text):
        for line in text.splitlines():
            if line.startswith("#"):
                _, what, name, rest = line.split(" ", 3)
                if what == "TYPE" and described.get(name, {}).get("type") != rest:
                    yield f"metric {name} is no {rest}"
                continue
            name, labels = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? [0-9]+", line).groups()
            found = re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', labels or "")
            if name not in described:
                yield f"metric {name} is not described"
            elif found != described[name]["labels"]:
                yield f"metric {name} has the labels {found}"
            self.metrics.add(name)


CONTRACT = Contract()  # of all tests: see rest.py
