#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One of each: mechanisms that once stood several times stay where they are. A row names what to look for (an extended
# regular expression), in which files, and the only places where it may stand. docs/architecture.md says what they are.
set -eu
cd "$(dirname "$0")/.."

rows() {
    cat <<'T'
HTML heads, in reports/html/page.c|<html|*.c|reports/html/page.c
content security policies, in reports/html/page.c|Content-Security-Policy|*.c|reports/html/page.c
files in memory, in harness/client/memory.c|memfd_create\(|harness/*.c|harness/client/memory.c
compiling on a driver, in harness/client/prepare.c|->prepare_model\(|harness/*.c|harness/client/prepare.c harness/suites/device.c harness/suites/partition/partial.c harness/suites/validate/validate.c harness/debug/spec_c/spec_c_text.c
modes of execution, in harness/client/execute.c|->create_burst\(|harness/*.c|harness/client/execute.c harness/suites/partition/partial_prepared.c
modes of execution, in harness/client/execute.c|->create_execution\(|harness/*.c|harness/client/execute.c harness/suites/partition/partial_prepared.c
modes of execution, in harness/client/execute.c|->execute_async\(|harness/*.c|harness/client/execute.c harness/suites/partition/partial_prepared.c
modes of execution, in harness/client/execute.c|->execute_fenced\(|harness/*.c|harness/client/execute.c harness/suites/partition/partial_prepared.c
what glibc alone has, in harness/runner/worker/resources.c|\<mall[io][np][a-z]+2?\(|*.c|harness/runner/worker/resources.c
what glibc alone has, in harness/runner/worker/resources.c|\<malloc_[a-z]+\(|*.c|harness/runner/worker/resources.c
what glibc alone has, in harness/runner/worker/resources.c|\<backtrace[a-z_]*\(|*.c|harness/runner/worker/resources.c
what glibc alone has, in harness/runner/worker/resources.c|\<strerror_[a-z_]+\(|*.c|harness/runner/worker/resources.c
what glibc alone has, in harness/runner/worker/resources.c|\<sig[a-z]+_np\(|*.c|harness/runner/worker/resources.c
what glibc alone has, in harness/runner/worker/resources.c|\<close_range\(|*.c|harness/runner/worker/resources.c
what glibc alone has, in harness/runner/worker/resources.c|\<renameat2\(|*.c|harness/runner/worker/resources.c
memory errors, in base/status.h|"out of memory"|base/*.[ch] compiler/*.[ch] harness/*.[ch] mlts/*.[ch] randgraph/*.[ch] reference/*.[ch] reports/*.[ch]|base/status.h
T
}

files() { git ls-files -co --exclude-standard "$@" | grep -v -e '^tests/' -e '^tools/'; }

bad=$(
    rows | while IFS='|' read -r what pattern where allowed; do
        # shellcheck disable=SC2086
        files $where | xargs grep -sHnE -e "$pattern" | while IFS=: read -r file line _; do
            case " $allowed " in *" $file "*) ;; *) echo "$file:$line: $what" ;; esac
        done
    done
    # A debugger, ctags and a newcomer know a struct by its tag.
    files '*.h' | xargs grep -HoE '^(struct|union|enum) [A-Za-z_0-9]+ \{' | sort -t: -k2 |
        awk -F: '{sub(/ \{$/, "", $2)} $2 == tag {print $1 ": " $2 " is also declared in " file} {tag = $2; file = $1}'
    files '*.c' '*.h' '*.cpp' | xargs wc -l | awk '$2 != "total" && $1 > 500 {print $2 ": " $1 " lines: a file holds one idea in at most 500"}'
    # Folders are read like maps. base is many small ideas, a pair of files each.
    files '*.c' '*.h' | sed 's|/[^/]*$||' | sort | uniq -c |
        awk '$1 > ($2 == "base" ? 46 : 32) {print $2 ": " $1 " files: a folder holds one idea"}'
)
if [ -n "$bad" ]; then
    echo "$bad" >&2
    exit 1
fi
echo "house: ok"
