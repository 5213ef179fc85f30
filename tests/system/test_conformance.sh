#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The project's own vectors (tests/conformance), whose expected values come from exact arithmetic.
. "$(dirname "$0")/lib.sh"

test_reference() { check 0 nnvts run --driver reference --suite spec --specs "$ROOT/tests/conformance" --out out; same "$(verdict out UNSUPPORTED)" 0; }
test_cpu() { check 0 nnvts run --driver cpu --suite spec --specs "$ROOT/tests/conformance" --out out; }
run_tests
