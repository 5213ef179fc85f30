/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file interpreter.c Which nodes a delegate took is seen in the execution plan that it leaves: those that it took have
 * gone from it, and nodes of the delegate stand in their place. The C interface shows no plan, but a delegate sees it:
 * a delegate of our own stands before the one that is asked for, hands its call on, and looks.
 */
#include "interpreter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/library.h"
#include "common/text.h"

struct tf_interpreter {
    const struct tf_library *lib;
    const struct tf_accelerator *accelerator;
    uint8_t *file;
    void *model, *options, *handle;
    struct tf_delegate *inner, outer; /**< outer: our own, in front of inner, if there is one */
    bool *took;
    uint32_t operator_count;
    bool looked;
};

/* ----------------------------------------------------------------------- words */

static void report_args(void *user, const char *format, va_list args) {
    (void)user;
    common_tell_first(format, args);
}

static void report(const char *text) {
    if (!common_told()) common_tell("%s", text);
}

/* -------------------------------------------------------------------- delegates */

const char *tf_open_plugin(const char *path, struct tf_accelerator *out) {
    void *handle = NULL;
    const char *error = common_open(path, &handle);
    if (error) return error;
    if (COMMON_SYMBOL(handle, "tflite_plugin_create_delegate", out->create) &&
        COMMON_SYMBOL(handle, "tflite_plugin_destroy_delegate", out->destroy)) {
        common_forget();
        struct tf_delegate *trial = out->create(out->options.keys, out->options.values, out->options.count, report);
        if (trial) out->destroy(trial);
        if (trial) return NULL;
        return common_keep_textf("the delegate refused to be created: %s",
                                 common_told() ? common_told() : "it does not say why");
    }
    return common_keep_textf("%s is no plug-in of TensorFlow Lite: it lacks tflite_plugin_create_delegate", path);
}

/** Notes which operators have gone from the plan: operators are the first nodes, in the order of the file. */
static int look(struct tf_context *context, struct tf_interpreter *i) {
    struct tf_int_array *plan = NULL;
    const int st = context->get_execution_plan(context, &plan);
    if (st != TF_OK || !plan) return st;
    for (uint32_t k = 0; k < i->operator_count; k++) i->took[k] = true;
    for (int k = 0; k < plan->size; k++)
        if (plan->data[k] >= 0 && (uint32_t)plan->data[k] < i->operator_count) i->took[plan->data[k]] = false;
    i->looked = true;
    return TF_OK;
}

static int prepare_and_look(struct tf_context *context, struct tf_delegate *self) {
    struct tf_interpreter *i = self->data;
    const int st = i->inner ? i->inner->prepare(context, i->inner) : TF_OK;
    return st == TF_OK ? look(context, i) : st;
}

/** The delegate that is asked for; false if it can't be had. */
static bool create_delegate(struct tf_interpreter *i, uint32_t threads) {
    struct tf_accelerator *a = (struct tf_accelerator *)(uintptr_t)i->accelerator; /* keys and values are not changed */
    switch (a->kind) {
    case TF_DELEGATE_NONE:
    case TF_DELEGATE_NNAPI:
        return true;
    case TF_DELEGATE_XNNPACK:
        i->inner =
            i->lib->XNNPackDelegateCreate(&(struct tf_xnnpack_options){(int32_t)threads, TF_XNNPACK_QUANTISED, {0}});
        break;
    case TF_DELEGATE_PLUGIN:
        i->inner = a->create(a->options.keys, a->options.values, a->options.count, report);
        break;
    }
    if (i->inner && i->inner->prepare) return true;
    if (i->inner)
        common_tell("the delegate has no function Prepare: it needs a newer TensorFlow Lite");
    else
        report("the delegate refused to be created");
    return false;
}

static void destroy_delegate(struct tf_interpreter *i) {
    if (i->inner && i->accelerator->kind == TF_DELEGATE_XNNPACK) i->lib->XNNPackDelegateDelete(i->inner);
    if (i->inner && i->accelerator->kind == TF_DELEGATE_PLUGIN) i->accelerator->destroy(i->inner);
}

/* ----------------------------------------------------------------- interpreters */

/** The delegate for NNAPI is inside the library, and comes after all others: it is looked at when it has come. */
static bool apply(struct tf_interpreter *i) {
    const enum tf_delegate_kind kind = i->accelerator->kind;
    if (kind == TF_DELEGATE_NONE) return true;
    if (kind == TF_DELEGATE_NNAPI) {
        enum { ALLOW_DYNAMIC_TENSORS = 1 };
        i->outer = (struct tf_delegate){.data = i, .prepare = prepare_and_look, .flags = ALLOW_DYNAMIC_TENSORS};
        return i->lib->InterpreterModifyGraphWithDelegate(i->handle, &i->outer) == TF_OK && i->looked;
    }
    return i->looked;
}

static bool start(struct tf_interpreter *i, size_t bytes, uint32_t threads) {
    const struct tf_library *lib = i->lib;
    const enum tf_delegate_kind kind = i->accelerator->kind;
    i->model = lib->ModelCreate(i->file, bytes);
    i->options = lib->InterpreterOptionsCreate();
    if (!i->model || !i->options) return false;
    lib->InterpreterOptionsSetErrorReporter(i->options, report_args, NULL);
    lib->InterpreterOptionsSetNumThreads(i->options, (int32_t)threads);
    if (kind == TF_DELEGATE_NNAPI) lib->InterpreterOptionsSetUseNNAPI(i->options, true);
    if (!create_delegate(i, threads)) return false;
    if (i->inner) {
        i->outer = (struct tf_delegate){.data = i, .prepare = prepare_and_look, .flags = i->inner->flags};
        lib->InterpreterOptionsAddDelegate(i->options, &i->outer);
    }
    i->handle = lib->InterpreterCreate(i->model, i->options);
    return i->handle && apply(i) && lib->InterpreterAllocateTensors(i->handle) == TF_OK;
}

struct tf_interpreter *tf_interpret(const struct tf_library *lib, const struct tf_accelerator *a, uint32_t threads,
                                    uint8_t *file, size_t bytes, bool *took, uint32_t operator_count) {
    struct tf_interpreter *i = calloc(1, sizeof *i);
    if (!i) {
        free(file);
        return NULL;
    }
    *i = (struct tf_interpreter){
        .lib = lib, .accelerator = a, .file = file, .took = took, .operator_count = operator_count};
    for (uint32_t k = 0; k < operator_count; k++) took[k] = true;
    const bool ok = start(i, bytes, threads);
    i->operator_count = 0; /* took is the caller's: a delegate may be applied again later */
    if (ok) return i;
    tf_interpreter_free(i);
    return NULL;
}

void *tf_interpreter_handle(const struct tf_interpreter *i) { return i->handle; }

void tf_interpreter_free(struct tf_interpreter *i) {
    if (!i) return;
    if (i->handle) i->lib->InterpreterDelete(i->handle);
    if (i->options) i->lib->InterpreterOptionsDelete(i->options);
    if (i->model) i->lib->ModelDelete(i->model);
    destroy_delegate(i);
    free(i->file);
    free(i);
}
