#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make lint`: layout, licences, sizes, leftovers, cppcheck. Prints every finding; exits 1 if there is one.
set -eu
cd "$(dirname "$0")/../.."

findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
c_files=$(git ls-files '*.c' '*.h')
source_files=$(git ls-files '*.c' '*.h' '*.py' '*.sh' '*.yaml' '*.yml' Makefile .ci/run)

# Layout: .clang-format decides.
echo "$c_files" | xargs -r clang-format --dry-run -Werror 2>>"$findings" || true

# Licences: a line in the first three of each file; the kernel's side and what it shares is dual-licensed.
for file in $source_files; do
	case $file in
	bpf/* | include/secg/* | *.bpf.c | *.bpf.h) licence='(GPL-2.0-only OR BSD-2-Clause)' ;;
	plugins/*) licence='GPL-2.0-or-later' ;;
	*) licence='Apache-2.0' ;;
	esac
	head -n 3 "$file" | grep -qF "SPDX-License-Identifier: $licence" ||
		echo "$file:1: no line SPDX-License-Identifier: $licence" >>"$findings"
done

# Sizes: a file is one noun.
for file in $(git ls-files bpf daemon cli include | grep -E '\.[ch]$'); do
	lines=$(wc -l <"$file")
	[ "$lines" -le 500 ] || echo "$file:500: $lines lines, more than 500" >>"$findings"
done

# What is made from the description of the API is as new as the description.
{ /usr/bin/python3 docs/tools/openapi.py markdown 2>>"$findings" || true; } | cmp -s - docs/schema.md ||
	echo "docs/schema.md:1: is not what docs/openapi.yaml says, run make docs" >>"$findings"
/usr/bin/python3 docs/tools/manual.py <docs/man/secg-policy.5 | cmp -s - docs/man/secg-policy.5 ||
	echo "docs/man/secg-policy.5:1: does not have the policies of docs/examples, run make docs" >>"$findings"

# Leftovers. The pattern is put together so that this file does not find itself.
words='TO''DO|FIX''ME|XX''X|HA''CK'
git grep -nwE "$words" -- $source_files '*.md' >>"$findings" || true

# cppcheck, without the system's headers: what it cannot see it does not judge. Not asked for:
#   memleak, resourceLeak       it does not know the cleanup attribute; sanitizer builds look for leaks
#   preprocessorErrorDirective, unknownMacro   come from the headers it does not read
userspace=$(git ls-files daemon cli tests/unit tests/bpf tests/support bench | grep '\.c$' | grep -v '\.bpf\.c$' || true)
echo "$userspace" | xargs -r cppcheck -q -j 2 --std=c11 --enable=warning,portability --inline-suppr \
	--suppress=memleak --suppress=resourceLeak --suppress=preprocessorErrorDirective \
	--suppress=unknownMacro -D_GNU_SOURCE -Iinclude -Idaemon \
	--template='{file}:{line}: {severity}: {message} [{id}]' 2>>"$findings" || true

if [ -s "$findings" ]; then
	cat "$findings" >&2
	echo "lint: $(grep -cE '^[^ ]+:[0-9]+:' "$findings") findings" >&2
	exit 1
fi
echo "lint: $(echo "$source_files" | wc -w) files, nothing found"
