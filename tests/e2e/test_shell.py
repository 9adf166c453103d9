# SPDX-License-Identifier: Apache-2.0
"""What is installed around the programs: completion in bash and zsh, man pages, the systemd unit."""

import os
import re
import shutil
import subprocess

import pytest

from lab import BUILD, ROOT, Lab, run

SGCTL = os.path.join(BUILD, "sgctl")
MAN = os.path.join(ROOT, "docs", "man")
VERBS = {"apply", "diff", "get", "delete", "export", "sessions", "stats", "wait", "lint", "explain",
         "trace", "doctor"}


@pytest.fixture(scope="module")
def host():
    with Lab() as lab:
        daemon = lab.daemon(lab.namespace("host"))
        daemon.apply({"acls": {"web": {"rules": []}, "db": {"rules": []}},
                      "ports": {"vm1": {"interface": "tap1", "from": ["web"]}, "$(id)": {"interface": "$(id)"}}})
        yield daemon


BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sgctl
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compadd() { [[ $1 == -- ]] && shift; print -rl -- "$@" }
_files() { print -r -- FILES }
script=$1; shift
words=("$@"); CURRENT=$#
complete() { source "$script" }
complete
"""


def completed(host, shell, *words):
    """What the shell is offered for the last of the words behind `sgctl`; a set."""
    if shell == "bash":
        command = ["bash", "--norc", "-c", BASH, "bash", os.path.join(ROOT, "cli/completion/sgctl.bash")]
    else:
        command = ["zsh", "-f", "-c", ZSH, "zsh", os.path.join(ROOT, "cli/completion/_sgctl")]
    done = run(*command, SGCTL, *words, env=os.environ | {"SECG_SOCKET": host.socket}, cwd=os.path.join(ROOT, "docs"))
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(host, shell):
    assert VERBS | {"help"} <= completed(host, shell, "")
    assert {"ports", "port", "acls", "config"} <= completed(host, shell, "get", "")
    assert completed(host, shell, "delete", "acl", "") == {"web", "db"}
    assert completed(host, shell, "wait", "ports", "--timeout", "5", "") >= {"vm1"}
    assert completed(host, shell, "stats", "--port", "") >= {"vm1"}
    assert completed(host, shell, "-o", "json", "get", "groups", "") == set()
    assert completed(host, shell, "get", "-o", "") == {"table", "json", "yaml"}
    assert completed(host, shell, "trace", "--port", "vm1", "--from", "") >= {"tcp", "ping"}
    assert completed(host, shell, "trace", "--vlan", "5", "") >= {"tcp", "ping"}
    assert completed(host, shell, "trace", "--tcp-flags", "") >= {"syn", "ack"}
    assert {"--dry-run", "--replace", "-f", "--socket", "--no-color"} <= completed(host, shell, "apply", "-")
    assert "--dry-run" not in completed(host, shell, "diff", "-")


def test_completion_takes_what_is_typed(host):
    assert completed(host, "bash", "ap") == {"apply"}
    assert completed(host, "bash", "get", "port", "v") == {"vm1"}
    assert completed(host, "bash", "stats", "--port", "=", "v") == {"vm1"}
    assert completed(host, "bash", "apply", "-f", "exam") == {"examples"}
    assert completed(host, "zsh", "apply", "-f", "exam") == {"FILES"}


def test_completion_expands_no_name(host):
    assert completed(host, "bash", "get", "port", "$") == {"\\$\\(id\\)"}
    assert "$(id)" in completed(host, "zsh", "get", "port", "")


def test_completion_without_a_daemon(host, tmp_path):
    class Nobody:
        socket = str(tmp_path / "none.sock")

    assert completed(Nobody, "bash", "get", "port", "") == set()
    assert "get" in completed(Nobody, "bash", "g")


def rendered(page):
    """The page as text, one paragraph as it is wide; it renders without a warning."""
    done = run("man", "--warnings", "-l", os.path.join(MAN, page),
               env=os.environ | {"MANWIDTH": "1000", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
    assert done.stderr == "", page
    return re.sub(r".\x08", "", done.stdout)


def flags(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))


def help_flags(*words):
    """The options of a verb's help, or of all verbs: prose may name those of other verbs."""
    lines = run(SGCTL, *words).stdout.splitlines()
    return flags("\n".join(line for line in lines if line.startswith(("sgctl ", "  -"))))


def test_man_page_of_the_daemon():
    assert flags(rendered("secgd.8")) == flags(run(os.path.join(BUILD, "secgd"), "--help").stdout)


def test_man_page_of_sgctl():
    page = rendered("sgctl.1")
    overview = run(SGCTL, "--help").stdout
    verbs = set(re.findall(r"^  ([a-z]+) .*  ", overview.split("Options, ")[0], re.M)) - {"help"}
    assert VERBS <= verbs
    assert verbs <= set(re.findall(r"^   (\w+)$", page, re.M))
    common = help_flags("--help")
    for verb in verbs:
        section = re.search(rf"^   {verb}\n(.*?)^(?:   )?\S", page, re.M | re.S).group(1)
        assert help_flags("help", verb) - common == flags(section) - common, verb
    options = re.search(r"^OPTIONS\n(.*?)^\S", page, re.M | re.S).group(1)
    assert flags(options) == common


def test_man_page_of_the_policy(host, tmp_path):
    page = rendered("secg-policy.5")
    example = page.split("EXAMPLES")[1]
    example = example[example.index("schema:"):example.index("SEE ALSO")]
    path = tmp_path / "example.yaml"
    indent = len(re.search(r"\n( +)groups:", example).group(1))
    path.write_text("\n".join(line[indent:] if line.startswith(" ") else line for line in example.split("\n")))
    done = host.sgctl("diff", "-f", path)
    assert done.returncode == 1, done.stderr
    # Every field that the daemon knows is there.
    for body, what in (({"ports": {"p": {"interface": "x", "zzzz": 1}}}, "port"),
                       ({"acls": {"a": {"rules": [{"id": "x", "action": "drop", "zzzz": 1}]}}}, "rule"),
                       ({"groups": {"g": {"zzzz": 1}}}, "group")):
        error = host.api.request("PATCH", "/v1/config?dry_run=1", body).errors[0]["message"]
        fields = error.split("which has ")[1].split(", ")
        assert len(fields) >= 3, what
        for field in fields:
            assert re.search(rf"\b{field}\b", page), f"{field} of a {what}"


@pytest.mark.parametrize("name", ("three-tier", "container-host", "gateway"))
def test_man_page_has_the_example(name):
    """In full, so that the page alone is enough to begin with."""
    page = {line.strip() for line in rendered("secg-policy.5").split("\n")}
    with open(os.path.join(ROOT, f"docs/examples/{name}.yaml"), encoding="utf-8") as file:
        lines = [line.strip() for line in file if "SPDX" not in line]
    assert len(lines) > 50
    assert [line for line in lines if line not in page] == []


def test_install(tmp_path):
    run("make", "-C", ROOT, f"BUILD={BUILD}", f"DESTDIR={tmp_path}", "PREFIX=/usr/local", "install")
    share = tmp_path / "usr/local/share"
    for name in ("man/man1/sgctl.1", "man/man5/secg-policy.5", "man/man8/secgd.8",
                 "doc/secg/examples/three-tier.yaml", "bash-completion/completions/sgctl", "zsh/vendor-completions/_sgctl"):
        assert (share / name).is_file(), name
    unit = (tmp_path / "usr/local/lib/systemd/system/secgd.service").read_text()
    assert "ExecStart=/usr/local/sbin/secgd\n" in unit
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze here: the unit is installed, its syntax not verified")
    # The program must be where the unit says; nothing else of this system is judged.
    path = tmp_path / "secgd.service"
    path.write_text(unit.replace("/usr/local/sbin/secgd", str(tmp_path / "usr/local/sbin/secgd")))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "secgd.service" in line] == [], done.stderr


def test_the_unit_s_capabilities_suffice():
    """The daemon works with no capability but those that the unit leaves it."""
    with open(os.path.join(ROOT, "daemon/secgd.service"), encoding="utf-8") as file:
        names = re.search(r"^CapabilityBoundingSet=(.*)$", file.read(), re.M).group(1).split()
    caps = ",".join(["-all"] + ["+" + name[len("CAP_"):].lower() for name in names])
    with Lab() as lab:
        ns = lab.namespace("host")
        lab.veth(ns, "v0", ns, "v1")
        daemon = lab.daemon(ns, start=False)
        command = daemon.command
        daemon.command = lambda *extra: [
            *command()[:2], "setpriv", f"--bounding-set={caps}", f"--inh-caps={caps}", *command()[2:], *extra]
        daemon.start()
        daemon.apply({"ports": {"p": {"interface": "v0", "from": []}}})
        daemon.wait_port("p")
        daemon.command = command
