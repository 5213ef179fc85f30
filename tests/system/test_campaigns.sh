#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The campaigns of tests/campaigns, short: make campaigns runs them in full.
. "$(dirname "$0")/lib.sh"

campaign() {
    command -v python3 >/dev/null || skip "python3 is not there"
    check 0 timeout 600 python3 "$ROOT/tests/campaigns/$1.py" "$NNVTS_BUILD" "${@:2}"
}
test_killed_at_random_moments() {
    campaign kills --kills 12 --seed "$RANDOM" --within 20
    has "$OUT" "all reports valid, no verdict lost"
}
test_injected_faults() {
    campaign faults --faults 20 --seed "$RANDOM"
    has "$OUT" "of 10 kinds, each in its case; no neighbour harmed"
}
# The campaign itself sees what it is for: a neighbour that changes, a verdict that is not the kind's.
test_a_wrong_attribution_is_seen() {
    command -v python3 >/dev/null || skip "python3 is not there"
    python3 - "$ROOT/tests/campaigns/faults.py" <<'P' || fail "the campaign is blind"
import re, sys
source = open(sys.argv[1], encoding="utf-8").read()
space = {"__name__": "faults"}
exec(source.replace("sys.exit(main())", ""), space)
check, wrong = space["Campaign"].check, space["Wrong"]
good = {"ops/A/t/0": {"verdict": "PASS", "compared": 3}, "ops/B/t/0": {"verdict": "PASS", "compared": 4}}
crash = {"verdict": "CRASH", "compared": 0, "reason": "driver died with SIGSEGV in execute"}
struck = {"ops/A/t/0"}
assert check(None, "segv", "A", "t", good, struck, {**good, "ops/A/t/0": crash}) == 1
for records in (
    good,
    {**good, "ops/A/t/0": {**crash, "verdict": "TIMEOUT"}},
    {**good, "ops/A/t/0": {**crash, "reason": "driver died with SIGABRT in execute"}},
    {"ops/A/t/0": crash, "ops/B/t/0": crash},
    {"ops/A/t/0": crash, "ops/B/t/0": {"verdict": "PASS", "compared": 3}},
    {"ops/A/t/0": crash},
    {"ops/A/t/0": crash, "ops/B/t/0": {**good["ops/B/t/0"], "log": "printed by the driver"}},
):
    try:
        check(None, "segv", "A", "t", good, struck, records)
    except wrong:
        continue
    sys.exit(f"not seen: {records}")
P
}
run_tests
