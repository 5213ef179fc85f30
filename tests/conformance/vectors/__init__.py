# SPDX-License-Identifier: Apache-2.0
"""The project's own vectors: a module a family of operations, each with a function cases(out)."""
