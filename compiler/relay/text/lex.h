/* SPDX-License-Identifier: Apache-2.0 */
/** @file lex.h Tokens of Relay text, and of TVMScript. */
#ifndef NNV_COMPILER_RELAY_LEX_H
#define NNV_COMPILER_RELAY_LEX_H

#include "compiler/relay/relay.h"

enum nnv_relay_token_kind {
    NNV_RELAY_END,
    NNV_RELAY_BROKEN, /**< text says what: "a comment that does not end" */
    NNV_RELAY_WORD,   /**< identifier or keyword, parts joined by dots: nn.conv2d */
    NNV_RELAY_LOCAL,  /**< %name: text is all that could be the name, the reader takes what is declared of it */
    NNV_RELAY_GRAPH,  /**< %12: text is the digits */
    NNV_RELAY_AT,     /**< @name: text without the @ */
    NNV_RELAY_WHOLE,  /**< 3, 3i64 */
    NNV_RELAY_REAL,   /**< 0.5f, 1e-05f, 2f16 */
    NNV_RELAY_QUOTED, /**< text between the quotes, escapes as written; of TVMScript perhaps of many lines */
    NNV_RELAY_MARK,   /**< punctuation, one or two characters */
    NNV_RELAY_HEADER, /**< #[version = "0.0.5"]: text is the version */
    NNV_RELAY_METADATA_MARK,
};

struct nnv_relay_token {
    enum nnv_relay_token_kind kind;
    const char *text;
    size_t len;
    struct nnv_relay_span span;
    const char *note; /**< the last comment before the token, without its marks; NULL: none */
    size_t note_len;
};

struct nnv_relay_lexer {
    const char *text, *end;
    const char *at;         /**< behind the last token */
    const char *line_start; /**< of the line that at is in */
    uint32_t line;
    bool script; /**< TVMScript: # begins a comment, 'x' and """x""" are strings */
};

/** Begins at the beginning. */
void nnv_relay_lex_start(struct nnv_relay_lexer *lexer, const char *text, size_t len, bool script);
/** The next token; at the end, NNV_RELAY_END again and again. */
struct nnv_relay_token nnv_relay_lex(struct nnv_relay_lexer *lexer);
/** Goes back to behind the first len bytes of a token, which is the last one and has no line end in it. */
void nnv_relay_lex_back(struct nnv_relay_lexer *lexer, const struct nnv_relay_token *token, size_t len);
/** True if the token is this punctuation or word. */
bool nnv_relay_lex_is(const struct nnv_relay_token *token, const char *text);

#endif
