# SPDX-License-Identifier: Apache-2.0
"""The REST socket as a client sees it: HTTP over a unix socket, JSON in, JSON out."""

import contextlib
import http.client
import json
import socket

from contract import CONTRACT


STREAM = "application/x-ndjson"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.unix_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.unix_path)


class Answer:
    def __init__(self, status, headers, raw):
        self.status = status
        self.headers = headers
        self.raw = raw

    @property
    def json(self):
        return json.loads(self.raw)

    @property
    def errors(self):
        return self.json["errors"]

    def __repr__(self):
        return f"{self.status} {self.raw[:2000]!r}"


class Follower:
    """A stream of events that is being read."""

    def __init__(self, connection, response):
        self.connection = connection
        self.response = response

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.connection.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.response.readline()
        if not line:
            raise StopIteration
        event = json.loads(line)
        CONTRACT.check_event(event)
        return event


class Rest:
    """Every answer must be one that docs/openapi.yaml describes, whatever else a test asks of it."""

    def __init__(self, path, timeout=30, contract=CONTRACT):
        self.path = path
        self.timeout = timeout
        self.contract = contract

    def request(self, method, path, body=None, headers=None):
        """`body`: bytes or str as they are, anything else as JSON."""
        headers = dict(headers or {})
        if isinstance(body, str):
            body = body.encode()
        elif body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection = UnixConnection(self.path, self.timeout)
        try:
            # A refusal may come, and the connection go, before the body is read: the answer is there.
            with contextlib.suppress(BrokenPipeError):
                connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            if response.headers["Content-Type"] == STREAM:  # without an end: what there is by now
                connection.sock.shutdown(socket.SHUT_WR)
            answer = Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()
        self.contract.check(method, path, answer, body)
        return answer

    def raw(self, data, shut=False, timeout=10):
        """Sends bytes as they are; what comes back until the peer closes, or b"" after `timeout`."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(timeout)
            sock.connect(self.path)
            answer = b""
            try:
                sock.sendall(data)
                if shut:
                    sock.shutdown(socket.SHUT_WR)
                while chunk := sock.recv(65536):
                    answer += chunk
            except (ConnectionError, socket.timeout):
                pass
            return answer

    def events(self, query="after=0"):
        """The events that there are by now."""
        answer = self.request("GET", f"/v1/events?{query}")
        assert answer.status == 200, answer
        return [json.loads(line) for line in answer.raw.splitlines()]

    def follow(self, query="", timeout=10):
        """Events as they come, until the caller stops asking or none comes for `timeout` seconds."""
        connection = UnixConnection(self.path, timeout)
        connection.request("GET", f"/v1/events?{query}")
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(response.read())
        return Follower(connection, response)

    def ok(self, method, path, body=None, headers=None):
        answer = self.request(method, path, body, headers)
        assert answer.status == 200, f"{method} {path}: {answer}"
        return answer.json

    def get(self, path):
        return self.ok("GET", path)

    def put(self, path, body, **headers):
        return self.ok("PUT", path, body, headers)

    def patch(self, path, body, **headers):
        return self.ok("PATCH", path, body, headers)

    def delete(self, path):
        return self.ok("DELETE", path)
