/* SPDX-License-Identifier: Apache-2.0 */
/** @file library.c Loading a library, and what its answers mean. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/text.h"
#include "ndk.h"
#include "nnvts/ndk_results.h"

void ndk_tell(const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "ndk: %s\n", text);
}

/* --------------------------------------------------------------------- loading */

/** dlopen; NULL and *error, in one line, when it can't be loaded. */
static void *load(const char *path, const char **error) {
    struct stat s;
    if (strchr(path, '/') && stat(path, &s) != 0) {
        *error = common_keep_textf("'%s': no such file", path);
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle) return handle;
    const char *why = dlerror();
    const size_t n = strlen(path);
    if (why && strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0) why += n + 2;
    *error = common_keep_textf("'%s' can't be loaded: %s", path, why ? why : "unknown error");
    return NULL;
}

/** Sets the function pointer at `to` to the symbol's address; false if there is none. */
static bool find(void *handle, const char *symbol, void *to) {
    void *address = dlsym(handle, symbol);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

/** Names the functions of this level that the library lacks; none above level 8. */
static void tell_missing(struct ndk_library *library, int level) {
    char *to = library->missing;
    size_t at = 0;
    const char *between = ": ";
    if (level <= 8) at = (size_t)snprintf(to, sizeof library->missing, "%d", level);
#define TELL(function, since)                                                                                          \
    if ((since) == level && !library->fn.function && at < sizeof library->missing) {                                   \
        at += (size_t)snprintf(to + at, sizeof library->missing - at, "%s" #function, between);                        \
        between = ", ";                                                                                                \
    }
    NNVTS_NDK_FUNCTIONS(TELL)
#undef TELL
}

int ndk_level(int64_t code) {
    enum { ANDROID_BASE = ANEURALNETWORKS_FEATURE_LEVEL_1 - 1, LATER_BASE = ANEURALNETWORKS_FEATURE_LEVEL_6 - 6 };
    if (code >= ANEURALNETWORKS_FEATURE_LEVEL_1 && code <= ANEURALNETWORKS_FEATURE_LEVEL_5)
        return (int)(code - ANDROID_BASE);
    if (code >= ANEURALNETWORKS_FEATURE_LEVEL_6 && code <= ANEURALNETWORKS_FEATURE_LEVEL_8)
        return (int)(code - LATER_BASE);
    return code > ANEURALNETWORKS_FEATURE_LEVEL_8 ? 8 : 0;
}

const char *ndk_load(const char *path, struct ndk_library *library) {
    const char *error = NULL, *missing = NULL;
    void *handle = load(path, &error);
    if (!handle) return error;
    int lacking = 9; /* the lowest level of which a function is missing */
#define FIND(function, since)                                                                                          \
    if (!find(handle, "ANeuralNetworks" #function, &library->fn.function) && (since) < lacking) {                      \
        lacking = (since);                                                                                             \
        missing = #function;                                                                                           \
    }
    NNVTS_NDK_FUNCTIONS(FIND)
#undef FIND
    tell_missing(library, lacking);
    find(handle, "nnvts_runtime_computed", &library->computed);
#define FIND(function, since) find(handle, "ANeuralNetworks" #function, &library->fn.function);
    NNVTS_NDK_OPTIONAL_FUNCTIONS(FIND)
#undef FIND
    if (lacking == 1) {
        dlclose(handle);
        return common_keep_textf("'%s' is not an NNAPI library: it has no ANeuralNetworks%s", path, missing);
    }
    /* The function that tells the level came with level 5. */
    library->level = lacking <= 4 ? lacking - 1 : 4;
    if (library->fn._getRuntimeFeatureLevel) {
        const int64_t code = library->fn._getRuntimeFeatureLevel();
        library->level = ndk_level(code);
        if (library->level == 0)
            return common_keep_textf("'%s' says that its feature level is %lld, which is none", path, (long long)code);
    }
    return NULL;
}

/** A function of level 1 that the table lacks; NULL: it has them all. */
static const char *missing_member(const struct nnvts_ndk *fn, const char *path) {
    const char *missing = NULL;
#define LOOK(function, since)                                                                                          \
    if ((since) == 1 && !fn->function) missing = #function;
    NNVTS_NDK_TABLE_FUNCTIONS(LOOK)
#undef LOOK
    return missing ? common_keep_textf("'%s': its table has no ANeuralNetworks%s", path, missing) : NULL;
}

const char *ndk_load_table(const char *path, struct ndk_library *library) {
    const char *error = NULL;
    NnApiSLDriverImpl *(*get)(void);
    void *handle = load(path, &error);
    if (!handle) return error;
    if (!find(handle, "ANeuralNetworks_getSLDriverImpl", &get)) {
        dlclose(handle);
        return common_keep_textf("'%s' is not a Support Library: it has no ANeuralNetworks_getSLDriverImpl", path);
    }
    const NnApiSLDriverImpl *base = get();
    if (!base) return common_keep_textf("'%s': ANeuralNetworks_getSLDriverImpl returned NULL", path);
    library->level = ndk_level(base->implFeatureLevel);
    if (library->level < 5)
        return common_keep_textf("'%s' says that its table is of feature level %lld, which is not one of 5 to 8", path,
                                 (long long)base->implFeatureLevel);
    const NnApiSLDriverImplFL5 *t = library->table = (const NnApiSLDriverImplFL5 *)base;
    library->takes_first = true;
    struct nnvts_ndk *fn = &library->fn;
#define TAKE(function, since) fn->function = t->ANeuralNetworks##function;
    NNVTS_NDK_TABLE_FUNCTIONS(TAKE)
#undef TAKE
    fn->Memory_createFromAHardwareBuffer = t->ANeuralNetworksMemory_createFromAHardwareBuffer;
    fn->Device_getExtensionSupport = t->ANeuralNetworksDevice_getExtensionSupport;
    fn->Model_getExtensionOperandType = t->ANeuralNetworksModel_getExtensionOperandType;
    fn->Model_getExtensionOperationType = t->ANeuralNetworksModel_getExtensionOperationType;
    fn->Model_setOperandExtensionData = t->ANeuralNetworksModel_setOperandExtensionData;
    if (library->level >= 8) {
        const NnApiSLDriverImplFL8 *newer = (const NnApiSLDriverImplFL8 *)base;
        fn->Compilation_addExtensionAttribute = newer->ANeuralNetworksCompilation_addExtensionAttribute;
        fn->Execution_addExtensionAttribute = newer->ANeuralNetworksExecution_addExtensionAttribute;
    }
    return missing_member(fn, path);
}

/* --------------------------------------------------------------------- answers */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[160]; /* of any thread: executions end in threads of their own */

void ndk_forget(void) {
    pthread_mutex_lock(&lock);
    *last_error = 0;
    pthread_mutex_unlock(&lock);
}

const char *ndk_last_error(struct nnvts_device *device) {
    static _Thread_local char copy[sizeof last_error];
    (void)device;
    pthread_mutex_lock(&lock);
    memcpy(copy, last_error, sizeof copy);
    pthread_mutex_unlock(&lock);
    return *copy ? copy : NULL;
}

__attribute__((format(printf, 1, 2))) static void keep_error(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    pthread_mutex_lock(&lock);
    vsnprintf(last_error, sizeof last_error, fmt, ap);
    pthread_mutex_unlock(&lock);
    va_end(ap);
}

/** which: "", or "(3)" */
static void remember(const char *function, const char *which, int code) {
#define X(NAME) [ANEURALNETWORKS_##NAME] = #NAME,
    static const char *const names[] = {NNVTS_NDK_RESULTS(X)};
#undef X
    if (code == ANEURALNETWORKS_NO_ERROR) return;
    const bool known = code > 0 && (size_t)code < sizeof names / sizeof *names && names[code];
    if (known)
        keep_error("ANeuralNetworks%s%s answered %s", function, which, names[code]);
    else
        keep_error("ANeuralNetworks%s%s answered %d", function, which, code);
}

static enum nnvts_status status_of(const char *function, int code) {
    enum { NO_STATUS = 1000 };
    switch (code) {
    case ANEURALNETWORKS_NO_ERROR:
        return NNVTS_STATUS_NONE;
    case ANEURALNETWORKS_BAD_DATA:
    case ANEURALNETWORKS_UNEXPECTED_NULL:
    case ANEURALNETWORKS_UNMAPPABLE:
        return NNVTS_STATUS_INVALID_ARGUMENT;
    case ANEURALNETWORKS_OP_FAILED:
    case ANEURALNETWORKS_BAD_STATE:
    case ANEURALNETWORKS_INCOMPLETE:
        return NNVTS_STATUS_GENERAL_FAILURE;
    case ANEURALNETWORKS_OUT_OF_MEMORY:
    case ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT:
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    case ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE:
        return NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
    case ANEURALNETWORKS_UNAVAILABLE_DEVICE:
        return NNVTS_STATUS_DEVICE_UNAVAILABLE;
    case ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT:
        return NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT;
    case ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT:
        return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    case ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT:
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
    case ANEURALNETWORKS_DEAD_OBJECT:
        return NNVTS_STATUS_DEAD_OBJECT;
    default:
        ndk_tell("ANeuralNetworks%s answered %d, which is no result code", function, code);
        return (enum nnvts_status)(NO_STATUS + (code & 0xffff));
    }
}

enum nnvts_status ndk_status(const char *function, int code) {
    remember(function, "", code);
    return status_of(function, code);
}

enum nnvts_status ndk_status_at(const char *function, uint32_t index, int code) {
    char which[16];
    snprintf(which, sizeof which, "(%u)", index);
    remember(function, which, code);
    return status_of(function, code);
}

enum nnvts_status ndk_made(const char *function, int code, const void *out) {
    const enum nnvts_status st = ndk_status(function, code);
    const void *object;
    memcpy(&object, out, sizeof object);
    if (st != NNVTS_STATUS_NONE || object) return st;
    keep_error("ANeuralNetworks%s answered NO_ERROR without an object", function);
    ndk_tell("%s", ndk_last_error(NULL));
    return NNVTS_STATUS_GENERAL_FAILURE;
}

uint64_t ndk_time_left(uint64_t deadline_ns) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return deadline_ns > now ? deadline_ns - now : 1;
}
