/* SPDX-License-Identifier: Apache-2.0 */
/** @file cache.h What the parts of the suite "cache" share: a fixture with cache files, and what may come of a load. */
#ifndef NNV_SUITES_CACHE_H
#define NNV_SUITES_CACHE_H

#include "harness/suites/kit/context.h"
#include "harness/suites/kit/fixture_models.h"

enum { NNV_CACHE_MAX_FILES = 2 * (NNVTS_MAX_CACHE_FILES + 1) };

/** Cache files in memory: model files first, then data files. */
struct nnv_cache_files {
    uint32_t models, datas;
    int fd[NNV_CACHE_MAX_FILES];
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES];
};
/** What stood in the files; arena's. */
struct nnv_cache_content {
    struct {
        uint8_t *data;
        size_t size;
    } file[NNV_CACHE_MAX_FILES];
};

/** What a case has at hand: a fixture that the driver supports, a request, and files for its cache. */
struct nnv_cache_fixture {
    struct nnv_context *s;
    const struct nnv_fixture_kind *kind;
    struct nnv_fixture fixture;
    struct nnv_request values;
    struct nnv_cache_files files; /**< as many as the driver announces, empty */
};

struct nnv_cache_case {
    const char *name;
    void (*run)(struct nnv_cache_fixture *b);
    bool few;    /**< only of a few fixtures: what is damaged is the file, whatever the model */
    bool always; /**< also for drivers without caching */
};
extern const struct nnv_cache_case nnv_cache_damages[];
extern const size_t nnv_cache_damage_count;

/* ---------------------------------------------------- constants in several pools */

/** Adds c as "ROW/OPERATION_TYPE" for models of operations that take constants, as many as the tier takes. */
NNV_USE_RESULT enum nnv_status nnv_cache_apart_list(const struct nnv_run_config *config, struct nnv_case_list *list,
                                                    const char *row, struct nnv_case c, struct nnv_err *err);
/** The model of such a case: its constants lie in three pools, one in four of the small ones among the copies. */
bool nnv_cache_apart_draw(struct nnv_context *s, const struct nnv_case *c, struct nnv_fixture *fixture);

/* ---------------------------------------------------------------------- files */

/** Empty files; the token follows from salt. ERROR and false if they can't be had. Closed by nnv_cache_close. */
bool nnv_cache_open(struct nnv_context *s, uint32_t models, uint32_t datas, uint32_t salt,
                    struct nnv_cache_files *files);
void nnv_cache_close(struct nnv_cache_files *files);
uint32_t nnv_cache_count(const struct nnv_cache_files *files);
/** The files as the ABI has them; points into files. */
struct nnvts_cache nnv_cache_view(const struct nnv_cache_files *files);
bool nnv_cache_read(struct nnv_context *s, const struct nnv_cache_files *files, struct nnv_cache_content *out);
/** Makes file i hold these bytes and no others. */
bool nnv_cache_put(const struct nnv_cache_files *files, uint32_t i, const void *data, size_t size);
bool nnv_cache_restore(const struct nnv_cache_files *files, const struct nnv_cache_content *content);
/** "model file 0", in buf. */
const char *nnv_cache_name(const struct nnv_cache_files *files, uint32_t i, char buf[32]);

/* ------------------------------------------------------- saving, loading, judging */

/** prepare_model with this cache: NONE is expected, whatever the files are like. NULL: the case is over. */
struct nnvts_prepared_model *nnv_cache_prepare(struct nnv_cache_fixture *b, const struct nnv_fixture *fixture,
                                               const struct nnvts_cache *cache, const char *what);
/** As above with the fixture's model, the model executed and released. */
bool nnv_cache_prepare_right(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what);
/** Saves the fixture's model into its files and reads back what they hold. */
bool nnv_cache_save(struct nnv_cache_fixture *b, struct nnv_cache_content *content);
/** prepare_from_cache; what is given out is checked, and NULL unless the status is NONE. False: FAIL. */
bool nnv_cache_load(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what,
                    enum nnvts_status *status, struct nnvts_prepared_model **out);
/** The values of the fixture's model. */
bool nnv_cache_execute(struct nnv_cache_fixture *b, struct nnvts_prepared_model *prepared, const char *what);
/** It must load, and give the right values. */
bool nnv_cache_must_load(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what);
/** It must be refused, by one of the statuses whose bits are set. */
bool nnv_cache_must_fail(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, uint32_t statuses,
                         const char *what);
/** It must be refused or give the right values. */
bool nnv_cache_may_load(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what);

enum {
    NNV_CACHE_UNFIT = 1u << NNVTS_STATUS_GENERAL_FAILURE,
    NNV_CACHE_REFUSED = 1u << NNVTS_STATUS_GENERAL_FAILURE | 1u << NNVTS_STATUS_INVALID_ARGUMENT,
};

#endif
