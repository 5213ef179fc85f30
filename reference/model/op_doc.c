/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/op_doc.h"

#include <stdio.h>
#include <string.h>

enum { CELL = 400, COLUMNS = 4 };

struct doc {
    const struct nnv_op *op;
    bool markdown;
    struct nnv_text *out;
};

static const char *const variables[NNV_VARS] = {
    [NNV_T] = "T", [NNV_W] = "W", [NNV_B] = "B", [NNV_S] = "S", [NNV_O] = "O", [NNV_V] = "V"};

/* ------------------------------------------------------------------------- layout */

static void heading(const struct doc *d, const char *text) {
    nnv_text_addf(d->out, d->markdown ? "\n## %s\n\n" : "\n%s\n", text);
}

static void row(const struct doc *d, const char *const cells[COLUMNS]) {
    static const int widths[COLUMNS] = {4, 34, 24, 0};
    nnv_text_add(d->out, d->markdown ? "|" : " ");
    for (int i = 0; i < COLUMNS; i++) {
        bool last = i == COLUMNS - 1 || !cells[i + 1];
        if (d->markdown)
            nnv_text_addf(d->out, " %s |", cells[i]);
        else
            nnv_text_addf(d->out, " %-*s", last ? 0 : widths[i], cells[i]);
        if (last) break;
    }
    nnv_text_add(d->out, "\n");
}

static void table_head(const struct doc *d, const char *const cells[COLUMNS]) {
    static const char *const rules[] = {"---", "---", "---", "---"};
    if (!d->markdown) return;
    row(d, cells);
    row(d, rules);
}

static void line(const struct doc *d, const char *text) {
    nnv_text_addf(d->out, d->markdown ? "- %s\n" : "  %s\n", text);
}

/* -------------------------------------------------------------------------- slots */

/* Appends ", more" or "more" to the terminated text in buf. */
static void join(char buf[CELL], const char *more) {
    size_t at = strlen(buf);
    if (more[0]) snprintf(buf + at, CELL - at, "%s%s", at ? "; " : "", more);
}

static const char *rule_words(enum nnv_rule rule) {
    switch (rule) {
    case NNV_FUSE:
        return "fused activation: 0 none, 1 RELU, 2 RELU1, 3 RELU6";
    case NNV_PADDING_CODE:
        return "1 SAME, 2 VALID";
    case NNV_POSITIVE:
        return "above 0";
    case NNV_NOT_NEGATIVE:
        return "0 or more";
    case NNV_AXIS:
        return "an axis of input 0, negative ones count from the end";
    case NNV_ANY:
    case NNV_RULE_COUNT:
        break;
    }
    return "";
}

static const char *quant_words(enum nnv_quant_rule rule) {
    switch (rule) {
    case NNV_Q_SAME:
        return "quantised as input 0";
    case NNV_Q_SAME_1:
        return "quantised as input 1";
    case NNV_Q_SAME_2:
        return "quantised as input 2";
    case NNV_Q_BIAS:
        return "INT32: scale of input 0 times scale of input 1, or 0 beside channel scales; zero point 0";
    case NNV_Q_UNIT_256:
        return "quantised: scale 1/256, zero point the least code";
    case NNV_Q_UNIT_128:
        return "quantised: scale 1/128, zero point the middle code";
    case NNV_Q_ONE:
        return "quantised: scale 1, zero point 0";
    case NNV_Q_EIGHTH:
        return "quantised: scale 1/8, zero point 0";
    case NNV_Q_FREE:
        break;
    }
    return "";
}

void nnv_slot_rank_words(const struct nnv_slot *s, char *buf, size_t room) {
    buf[0] = 0;
    if (s->flags & NNV_SCALAR)
        snprintf(buf, room, "scalar");
    else if (s->rank_min && s->rank_min == s->rank_max)
        snprintf(buf, room, "rank %u", s->rank_min);
    else if (s->rank_max)
        snprintf(buf, room, "rank %u to %u", s->rank_min ? s->rank_min : 1, s->rank_max);
    else if (s->rank_min > 1)
        snprintf(buf, room, "rank %u or more", s->rank_min);
}

void nnv_slot_rule_words(const struct nnv_slot *s, char *buf, size_t room) {
    snprintf(buf, room, "%s", rule_words((enum nnv_rule)s->rule));
}

void nnv_slot_quant_words(const struct nnv_slot *s, char *buf, size_t room) {
    snprintf(buf, room, "%s", quant_words((enum nnv_quant_rule)s->quant));
}

static const char *judged_words(enum nnv_judged judged) {
    switch (judged) {
    case NNV_JUDGED_LARGEST:
    case NNV_JUDGED_LEAST:
        return "of equal numbers any is right";
    case NNV_JUDGED_CHOICE:
        return "follows from a choice among equal numbers: any is right";
    case NNV_JUDGED_SAMPLES:
        return "random: compared with its distribution";
    case NNV_JUDGED_VALUE:
    case NNV_JUDGED_COUNT:
        break;
    }
    return "";
}

static void slot_words(const struct nnv_op *op, const struct nnv_slot *s, char buf[CELL]) {
    char more[64];
    nnv_slot_rank_words(s, buf, CELL);
    if (s->flags & NNV_REPEAT) join(buf, s->group ? "any number" : "one or more");
    if (s->flags & NNV_ANY_TYPE) join(buf, "each of any type");
    if (s->flags & NNV_OMITTABLE) join(buf, "may be omitted");
    join(buf, rule_words((enum nnv_rule)s->rule));
    join(buf, quant_words((enum nnv_quant_rule)s->quant));
    join(buf, judged_words((enum nnv_judged)s->judged));
    if (s->flags & NNV_IGNORED) join(buf, "contents unspecified, not compared");
    if (s->group && !(s->flags & NNV_REPEAT)) {
        snprintf(more, sizeof more, s->flags & NNV_SCALAR ? "optional, %g if absent" : "optional", s->dflt);
        join(buf, more);
    }
    if (s->level > op->level) {
        snprintf(more, sizeof more, "since level %u", s->level);
        join(buf, more);
    }
}

static void slots(const struct doc *d, const struct nnv_slot *slots, uint8_t n) {
    static const char *const head[COLUMNS] = {"#", "name", "type", "rules"};
    table_head(d, head);
    for (uint8_t i = 0; i < n; i++) {
        char number[8], words[CELL];
        const struct nnv_slot *s = &slots[i];
        snprintf(number, sizeof number, "%u", i);
        slot_words(d->op, s, words);
        const char *cells[COLUMNS] = {number, s->name,
                                      s->flags & NNV_ANY_TYPE ? "any"
                                      : s->var == NNV_FIXED   ? nnv_type(s->type)->name
                                                              : variables[s->var],
                                      words};
        row(d, cells);
    }
}

static void form_heading(const struct doc *d, const char *what, const char *form) {
    char title[80];
    snprintf(title, sizeof title, "%s%s%s", what, form[0] ? ", form " : "", form);
    heading(d, title);
}

static void forms(const struct doc *d) {
    const struct nnv_form *all = d->op->forms;
    bool inputs = false, outputs = false; /* do the forms differ there? */
    for (int f = 1; f < d->op->nforms; f++) {
        inputs |= all[f].in != all[0].in;
        outputs |= all[f].out != all[0].out;
    }
    for (int f = 0; f < (inputs ? d->op->nforms : 1); f++) {
        form_heading(d, "Inputs", inputs ? all[f].name : "");
        slots(d, all[f].in, all[f].nin);
    }
    for (int f = 0; f < (outputs ? d->op->nforms : 1); f++) {
        form_heading(d, "Outputs", outputs ? all[f].name : "");
        slots(d, all[f].out, all[f].nout);
    }
}

/* -------------------------------------------------------------------------- types */

void nnv_op_sig_words(const struct nnv_op *op, int sig, struct nnv_text *out) {
    const char *comma = "";
    int level = op->sigs[sig].level;
    for (int v = 0; v < NNV_VARS; v++) {
        const struct nnv_type *t = nnv_type(op->sigs[sig].type[v]);
        if (!nnv_op_uses(op, v)) continue;
        if (level < t->level) level = t->level;
        nnv_text_addf(out, "%s%s %s", comma, variables[v], t->name);
        comma = ", ";
    }
    nnv_text_addf(out, "%ssince level %d", *comma ? ": " : "", level);
}

static void types(const struct doc *d) {
    heading(d, "Types");
    for (int sig = 0; sig < d->op->nsigs; sig++) {
        nnv_text_add(d->out, d->markdown ? "- " : "  ");
        nnv_op_sig_words(d->op, sig, d->out);
        nnv_text_add(d->out, "\n");
    }
    if (d->op->check_subgraphs) line(d, "T is the type of the generated cases: what is passed may be of any");
}

/* ------------------------------------------------------------------- everything else */

const char *nnv_rounding_words(enum nnv_rounding r) {
    switch (r) {
    case NNV_ROUND_NONE:
        return "none: values are moved or chosen, results are exact";
    case NNV_ROUND_LINEAR:
        return "sums of products; quantised: one multiplier from the integer sum to the result's unit";
    case NNV_ROUND_RESCALE:
        return "one rounding of the result; quantised: inputs are rescaled to the result's unit";
    case NNV_ROUND_TABLE:
        return "functions; quantised: tables or fixed point, within one unit";
    case NNV_ROUND_FLOOR:
        return "the result is a floor: near an integer both neighbours are right";
    case NNV_ROUND_COUNT:
        break;
    }
    return "";
}

const char *nnv_zero_words(enum nnv_zero z) {
    switch (z) {
    case NNV_ZERO_REFUSED:
        return "no input may have an extent of 0";
    case NNV_ZERO_ANY:
        return "inputs may be zero-sized since level 3";
    case NNV_ZERO_BATCH:
        return "the batch may be 0 since level 3";
    }
    return "";
}

bool nnv_op_has_limits(const struct nnv_op *op) {
    bool numbers = false, limits = false; /* truth values have no limits */
    for (uint8_t i = 0; i < op->nsigs; i++)
        numbers = numbers || op->sigs[i].type[NNV_T] != ANEURALNETWORKS_TENSOR_BOOL8;
    for (uint8_t i = 0; i < op->forms->nin; i++)
        limits = limits || op->forms->in[i].domain != NNV_DOMAIN_DRAWN || op->forms->in[i].nedges > 0;
    return numbers && limits;
}

bool nnv_op_has_lines(const struct nnv_op *op) {
    if (op->unary || op->pairs || op->check_subgraphs || op->raw || op->sizes) return false;
    if (op->rounding == NNV_ROUND_NONE) return !op->moves && nnv_op_has_limits(op);
    return op->code != ANEURALNETWORKS_REDUCE_PROD; /* a product of so large ones says nothing */
}

static void cases(const struct doc *d) {
    heading(d, "Rounding and sizes");
    line(d, nnv_rounding_words(d->op->rounding));
    line(d, nnv_zero_words(d->op->zero));
    if (d->op->sizes) line(d, "extents of outputs depend on values");
    if (d->op->any_order) line(d, "results in any order, as far as the last output is equal");
    heading(d, "Generated cases");
    char text[CELL] = "variants:";
    for (int i = 0; d->op->variants[i]; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, " %s", d->op->variants[i]);
    }
    line(d, text);
    line(d, "values at the edges of types and clamps");
    line(d, "ramps and impulses");
    if (nnv_op_has_lines(d->op)) line(d, "lines of zeros, one-hot, equal, of a large mean; large values of one sign");
    line(d, "models with one mistake, to be refused");
    if (d->op->linear) line(d, "exact cases: integer values, no tolerance");
    if (d->op->unary) line(d, "sweeps over all codes of 8 bits and of float16, and over the exponents of float32");
    if (d->op->pairs) line(d, "sweeps over all pairs of codes of 8 bits");
    if (nnv_op_has_limits(d->op)) line(d, "limits of types, and values at which the operation changes its ways");
    if (d->op->zero != NNV_ZERO_REFUSED) line(d, "zero-sized inputs");
}

void nnv_op_doc(const struct nnv_op *op, enum nnv_doc_style style, struct nnv_text *out) {
    struct doc d = {.op = op, .markdown = style == NNV_DOC_MARKDOWN, .out = out};
    nnv_text_addf(out, "%s%s%s", d.markdown ? "# " : "", op->name, d.markdown ? "\n\n" : "  ");
    nnv_text_addf(out, "operation %d, since level %u (%s)\n\n", op->code, op->level, nnv_level_name(op->level));
    nnv_text_addf(out, d.markdown ? "`%s`\n" : "  %s\n", op->formula);
    forms(&d);
    types(&d);
    cases(&d);
}

void nnv_op_doc_line(const struct nnv_op *op, struct nnv_text *out) {
    nnv_text_addf(out, "%-30s level %u  %2u types  %s\n", op->name, op->level, op->nsigs, op->formula);
}
