# SPDX-License-Identifier: Apache-2.0
# The one build file. `make help` lists what it can do. Quiet unless V=1; BUILD= chooses the folder.

BUILD ?= build
CLANG ?= clang
CC := gcc
PYTHON := /usr/bin/python3
PREFIX ?= /usr
DESTDIR ?=
VERSION := 0.1.0

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
MULTIARCH := $(shell gcc -print-multiarch 2>/dev/null)

WERROR := -Werror
WARN := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wimplicit-fallthrough $(WERROR)
HARDEN := -fstack-protector-strong -fstack-clash-protection -fPIE -fcf-protection
CFLAGS := -std=gnu17 -O2 -g $(WARN) $(HARDEN) -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 \
	-DSECG_VERSION='"$(VERSION)"' -Iinclude -Idaemon -I$(BUILD)/gen
LDFLAGS := -pie -Wl,-z,relro,-z,now
ifneq ($(SAN),)
CFLAGS := $(filter-out -D_FORTIFY_SOURCE=2,$(CFLAGS)) -fsanitize=$(SAN) -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SAN)
endif
BPF_CFLAGS := -O2 -g -mcpu=v3 -target bpf -D__TARGET_ARCH_$(ARCH) -Wall -Wextra $(WERROR) \
	-Wno-unused-parameter -Iinclude -Ibpf -I/usr/include/$(MULTIARCH)

DAEMON_LIBS := -lbpf -lmnl -lmicrohttpd -levent_core -ljansson -lsqlite3 -lcap-ng -lcrypto -lm
CLI_LIBS := -lcurl -ljansson -lyaml

LIB_SRC := $(wildcard daemon/*/*.c)
CLI_SRC := $(wildcard cli/*.c)
BPF_SRC := $(wildcard bpf/*.bpf.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
BPFTEST_SRC := $(wildcard tests/bpf/test_*.c)
TOOL_SRC := $(wildcard tests/support/tool_*.c)
PRELOAD_SRC := $(wildcard tests/support/preload_*.c)
SUPPORT_SRC := $(filter-out $(TOOL_SRC) $(PRELOAD_SRC),$(wildcard tests/support/*.c))
BENCH_SRC := $(wildcard bench/bench_*.c)
GENERATE_SRC := $(filter-out %.bpf.c,$(wildcard bench/generate*.c))

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
SKEL := $(BUILD)/gen/secg.skel.h
LIB := $(BUILD)/libsecg.a
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(UNIT_SRC))
BPFTEST := $(patsubst tests/bpf/%.c,$(BUILD)/tests/bpf/%,$(BPFTEST_SRC))
TOOL := $(patsubst tests/support/tool_%.c,$(BUILD)/tests/%,$(TOOL_SRC))
BENCH := $(patsubst bench/bench_%.c,$(BUILD)/bench/%,$(BENCH_SRC))
GENERATE := $(BUILD)/bench/generate
PRELOAD := $(patsubst tests/support/%.c,$(BUILD)/tests/%.so,$(PRELOAD_SRC))

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

.PHONY: all deps bpf secgd sgctl tests
all: secgd sgctl ## build daemon and CLI
secgd: $(BUILD)/secgd
sgctl: $(BUILD)/sgctl
bpf: $(BUILD)/secg.bpf.o
tests: $(UNIT) $(BPFTEST) $(TOOL) $(PRELOAD) $(BENCH) $(GENERATE)

deps: ## install the Debian packages that build, demo and tests need
	$(Q)sh tests/support/deps.sh

# ── kernel side: one object from all of bpf/*.bpf.c, and its skeleton ──────────────────────────────
$(BUILD)/obj/bpf/%.bpf.o: bpf/%.bpf.c
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/secg.bpf.o: $(patsubst bpf/%.bpf.c,$(BUILD)/obj/bpf/%.bpf.o,$(BPF_SRC))
	$(say) BPFLINK $@
	$(Q)bpftool gen object $@ $^
$(SKEL): $(BUILD)/secg.bpf.o
	$(say) SKEL $@
	$(Q)mkdir -p $(@D)
	$(Q)bpftool gen skeleton $< name secg > $@.tmp && mv $@.tmp $@

# the packet generator's own program, beside secg's object
$(BUILD)/obj/bench/%.bpf.o: bench/%.bpf.c
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/gen/%.skel.h: $(BUILD)/obj/bench/%.bpf.o
	$(say) SKEL $@
	$(Q)mkdir -p $(@D)
	$(Q)bpftool gen skeleton $< name $* > $@.tmp && mv $@.tmp $@

# ── the description of the API, in the daemon and in `sgctl explain` ────────────────────────────────
OPENAPI := docs/tools/openapi.py docs/openapi.yaml include/secg/reason.h daemon/engine/doctor_codes.h
DESCRIPTION := $(BUILD)/gen/openapi.h $(BUILD)/gen/explain_table.h
$(BUILD)/gen/openapi.h: FORM := daemon
$(BUILD)/gen/explain_table.h: FORM := explain
$(DESCRIPTION): $(OPENAPI)
	$(say) OPENAPI $@
	$(Q)mkdir -p $(@D)
	$(Q)$(PYTHON) docs/tools/openapi.py $(FORM) > $@.tmp && mv $@.tmp $@

# ── userspace ──────────────────────────────────────────────────────────────────────────────────────
$(BUILD)/obj/daemon/compile/%.o: CFLAGS += -Wconversion
$(BUILD)/obj/%.o: %.c | $(SKEL) $(DESCRIPTION)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@
$(LIB): $(call obj,$(LIB_SRC))
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^
$(BUILD)/secgd: $(BUILD)/obj/daemon/main.o $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(DAEMON_LIBS)
$(BUILD)/sgctl: $(call obj,$(CLI_SRC))
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(CLI_LIBS)
$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(call obj,$(SUPPORT_SRC)) $(call obj,$(filter-out cli/main.c,$(CLI_SRC))) $(LIB)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ -lcmocka $(DAEMON_LIBS) $(CLI_LIBS)
$(BUILD)/tests/bpf/%: $(BUILD)/obj/tests/bpf/%.o $(call obj,$(SUPPORT_SRC)) $(LIB)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ -lcmocka $(DAEMON_LIBS)
$(BUILD)/tests/%: $(BUILD)/obj/tests/support/tool_%.o $(call obj,$(SUPPORT_SRC)) $(LIB)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(DAEMON_LIBS) -lcurl
$(BUILD)/obj/bench/generate.o: $(BUILD)/gen/generate.skel.h
$(BUILD)/tests/preload_%.so: tests/support/preload_%.c
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fPIE -fsanitize=%,$(CFLAGS)) -fPIC -shared $< -o $@ -lbpf -ldl
$(GENERATE): $(call obj,$(GENERATE_SRC) $(SUPPORT_SRC)) $(LIB)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(DAEMON_LIBS)
$(BUILD)/bench/%: $(BUILD)/obj/bench/bench_%.o $(call obj,$(SUPPORT_SRC)) $(LIB)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(DAEMON_LIBS)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.SECONDARY:

# ── what a person runs ─────────────────────────────────────────────────────────────────────────────
.PHONY: demo check check-unit check-bpf check-e2e check-mutants check-cases soak
demo: deps ## a namespace lab, a policy, allowed and refused traffic (root)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(BUILD) sh tests/support/demo.sh

check: deps ## install what is missing, build, run every test (root)
	$(Q)$(MAKE) --no-print-directory lint all tests
	$(Q)$(MAKE) --no-print-directory check-unit
	$(Q)$(MAKE) --no-print-directory check-bpf
	$(Q)$(MAKE) --no-print-directory check-e2e
	$(Q)$(MAKE) --no-print-directory check-mutants
	$(Q)$(MAKE) --no-print-directory check-cases

check-unit: $(UNIT) ## unit tests (cmocka)
	$(Q)for t in $(sort $(UNIT)); do echo "== $$t"; $$t || exit 1; done
check-bpf: $(BPFTEST) ## the real BPF objects through BPF_PROG_TEST_RUN (cmocka, root)
	$(Q)for t in $(sort $(BPFTEST)); do echo "== $$t"; $$t || exit 1; done
check-e2e: all $(TOOL) $(PRELOAD) $(GENERATE) ## real packets in network namespaces (pytest, root)
	$(Q)BUILD=$(abspath $(BUILD)) $(PYTHON) -m pytest -q -p no:cacheprovider tests/e2e $(PYTEST_ARGS)
check-mutants: all $(TOOL) ## break the BPF source in one place at a time: the differential test must see it
	$(Q)BUILD=$(abspath $(BUILD)) sh tests/support/mutants.sh
check-cases: all tests ## every case of tests/cases.txt has a test that passes, and that fails on its mutant (root)
	$(Q)BUILD=$(abspath $(BUILD)) $(PYTHON) tests/support/cases.py $(CASES)
T ?= 600
soak: all $(GENERATE) ## T seconds of sessions by the million under churn: all frames accounted for, memory flat (root)
	$(Q)BUILD=$(abspath $(BUILD)) $(PYTHON) tests/e2e/soak.py --seconds $(T)

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')
.PHONY: lint format docs clean install bench
lint: ## layout, licences, static checks
	$(Q)sh tests/support/lint.sh
format: ## rewrite the C files in the project's layout
	$(Q)clang-format -i $(C_FILES)
POLICY_PAGE := docs/man/secg-policy.5
docs: ## write docs/schema.md from docs/openapi.yaml, and the examples into secg-policy(5)
	$(Q)$(PYTHON) docs/tools/openapi.py markdown > docs/schema.md.tmp && mv docs/schema.md.tmp docs/schema.md
	$(Q)$(PYTHON) docs/tools/manual.py < $(POLICY_PAGE) > $(POLICY_PAGE).tmp && mv $(POLICY_PAGE).tmp $(POLICY_PAGE)
bench: all $(BENCH) ## measure; JSON lines in $(BUILD)/bench/*.jsonl (root)
	$(Q)for b in $(sort $(BENCH)); do echo "== $$b"; $$b || exit 1; done
bench-%: all $(BUILD)/bench/%
	$(Q)$(BUILD)/bench/$*
SHARE := $(DESTDIR)$(PREFIX)/share
install: all ## copy daemon, CLI, man pages, completion, examples and the systemd unit to $(DESTDIR)$(PREFIX)
	install -D -m 755 $(BUILD)/secgd $(DESTDIR)$(PREFIX)/sbin/secgd
	install -D -m 755 $(BUILD)/sgctl $(DESTDIR)$(PREFIX)/bin/sgctl
	install -D -m 644 -t $(SHARE)/man/man1 docs/man/sgctl.1
	install -D -m 644 -t $(SHARE)/man/man5 docs/man/secg-policy.5
	install -D -m 644 -t $(SHARE)/man/man8 docs/man/secgd.8
	install -D -m 644 cli/completion/sgctl.bash $(SHARE)/bash-completion/completions/sgctl
	install -D -m 644 -t $(SHARE)/zsh/vendor-completions cli/completion/_sgctl
	install -D -m 644 -t $(SHARE)/doc/secg/examples docs/examples/*.yaml
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|@SBINDIR@|$(PREFIX)/sbin|' daemon/secgd.service >$(DESTDIR)$(PREFIX)/lib/systemd/system/secgd.service
clean: ## remove what was built
	rm -rf $(BUILD)
