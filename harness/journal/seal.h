/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file seal.h Checksums of the journal's lines: a last member "sum", the hash of all that stands before it. They show
 * what a disk, a copy or an editor has changed; they do not protect against deliberate forgery.
 */
#ifndef NNV_JOURNAL_SEAL_H
#define NNV_JOURNAL_SEAL_H

#include "base/text.h"

enum nnv_seal {
    NNV_SEAL_NONE, /**< the line has no checksum */
    NNV_SEAL_WHOLE,
    NNV_SEAL_BROKEN
};

/** Seals the JSON object that stands in the text from byte `from` to its end, anew where it was sealed. */
void nnv_seal(struct nnv_text *t, size_t from);
/** What the checksum of the n bytes of a line, without its end, says. */
enum nnv_seal nnv_seal_check(const char *line, size_t n);

#endif
