/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.c The device: functions that are messages to the host of a driver. */
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* --------------------------------------------------------------------- calls */

static bool same_device(const struct host_in *a, const struct host_in *b) {
    return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/** Another process in place of one that has died; d->lock is held. */
static void open_again(struct host_device *d) {
    struct host_link *link = NULL;
    const char *error = NULL;
    struct host_in *hello = malloc(sizeof *hello);
    if (!hello || host_link_open(d->transport, d->driver, d->options, &link, hello, &error) != NNVTS_STATUS_NONE) {
        free(hello);
        return;
    }
    if (same_device(hello, &d->hello)) { /* a device never changes while it is open */
        host_link_unref(d->link);
        d->link = link;
    } else {
        host_link_unref(link);
    }
    host_in_end(hello);
    free(hello);
}

struct host_link *host_device_link(struct host_device *d) {
    pthread_mutex_lock(&d->lock);
    if (atomic_load(&d->link->dead)) open_again(d);
    struct host_link *link = atomic_load(&d->link->dead) ? NULL : d->link;
    if (link) host_link_ref(link);
    pthread_mutex_unlock(&d->lock);
    return link;
}

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    struct host_link *link = host_device_link((struct host_device *)self);
    struct host_out o = {0};
    struct host_in in;
    enum nnvts_device_status answer = NNVTS_DEVICE_OFFLINE;
    if (!link) return answer;
    if (host_ask(link, HOST_STATUS, &o, &in) == NNVTS_STATUS_NONE) {
        answer = (enum nnvts_device_status)(int32_t)host_get_u32(&in);
        if (host_answered(link, &in, NNVTS_STATUS_NONE) != NNVTS_STATUS_NONE) answer = NNVTS_DEVICE_OFFLINE;
    }
    host_link_unref(link);
    return answer;
}

/** The model, with its pools as they can be sent; *pools is to be ended on NONE. */
static enum nnvts_status put_model(struct host_out *o, const struct nnvts_model *model, struct host_pools *pools) {
    enum nnvts_status st = host_pools_begin(pools, model->pools, model->pool_count);
    if (st != NNVTS_STATUS_NONE) return st;
    struct nnvts_model sent = *model;
    sent.pools = pools->sent;
    host_model(host_writing(o), &sent);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    struct host_pools pools;
    struct host_out o = {0};
    struct host_in in;
    if (!model || !supported) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct host_link *link = host_device_link((struct host_device *)self);
    if (!link) return NNVTS_STATUS_DEAD_OBJECT;
    enum nnvts_status st = put_model(&o, model, &pools);
    if (st == NNVTS_STATUS_NONE) {
        st = host_ask(link, HOST_SUPPORTED, &o, &in);
        host_pools_end(&pools);
        if (st == NNVTS_STATUS_NONE) {
            st = host_get_status(&in);
            uint32_t count;
            const uint8_t *answers = host_get_array(&in, 1, &count);
            if (count != 0 && count != model->main.operation_count) in.failed = true;
            if (count && host_in_done(&in)) memcpy(supported, answers, count);
            st = host_answered(link, &in, st);
        }
    }
    host_out_end(&o);
    host_link_unref(link);
    return st;
}

/** The answer to PREPARE or PREPARE_FROM_CACHE. */
static enum nnvts_status take_prepared(struct host_device *d, struct host_link *link, struct host_in *in,
                                       uint32_t outputs, struct nnvts_prepared_model **out) {
    enum nnvts_status st = host_get_status(in);
    struct nnvts_prepared_model *prepared = host_prepared_new(d, link, in, outputs);
    st = host_answered(link, in, st);
    if (st == NNVTS_STATUS_NONE)
        *out = prepared;
    else if (prepared)
        host_prepared_release(prepared);
    return st;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct host_pools pools;
    struct host_out o = {0};
    struct host_in in;
    if (!model || !config || !out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct host_link *link = host_device_link((struct host_device *)self);
    if (!link) return NNVTS_STATUS_DEAD_OBJECT;
    struct nnvts_prepare_config sent = *config;
    enum nnvts_status st = put_model(&o, model, &pools);
    host_prepare_config(host_writing(&o), &sent);
    if (st == NNVTS_STATUS_NONE) {
        st = host_ask(link, HOST_PREPARE, &o, &in);
        host_pools_end(&pools);
        if (st == NNVTS_STATUS_NONE)
            st = take_prepared((struct host_device *)self, link, &in, model->main.output_count, out);
    }
    host_out_end(&o);
    host_link_unref(link);
    return st;
}

static enum nnvts_status prepare_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    struct host_out o = {0};
    struct host_in in;
    if (!cache || !out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct host_link *link = host_device_link((struct host_device *)self);
    if (!link) return NNVTS_STATUS_DEAD_OBJECT;
    host_cache(host_writing(&o), &cache);
    host_deadline(host_writing(&o), &deadline_ns);
    enum nnvts_status st = host_ask(link, HOST_PREPARE_FROM_CACHE, &o, &in);
    if (st == NNVTS_STATUS_NONE) st = take_prepared((struct host_device *)self, link, &in, UINT32_MAX, out);
    host_link_unref(link);
    return st;
}

static void device_free(struct host_device *d) {
    host_in_end(&d->hello);
    pthread_cond_destroy(&d->none_pending);
    pthread_mutex_destroy(&d->lock);
    free(d->driver);
    free(d->options);
    free(d);
}

static void release(struct nnvts_device *self) {
    struct host_device *d = (struct host_device *)self;
    pthread_mutex_lock(&d->lock);
    while (d->pending) pthread_cond_wait(&d->none_pending, &d->lock);
    pthread_mutex_unlock(&d->lock);
    host_link_close(d->link);
    host_link_unref(d->link);
    device_free(d);
}

/* ------------------------------------------------------------------- opening */

static void fill_device(struct host_device *d) {
    uint32_t has = 0;
    d->base = (struct nnvts_device){
        .struct_size = sizeof d->base,
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .prepare_from_cache = prepare_from_cache,
        .allocate = host_allocate,
        .release = release,
    };
    host_device(host_reading(&d->hello), &d->base, &has);
    host_keep_functions(&d->base, offsetof(struct nnvts_device, prepare_from_cache),
                        offsetof(struct nnvts_device, release), has);
}

enum nnvts_status host_device_open(const struct host_transport *transport, char *driver, char *options,
                                   struct nnvts_device **out, const char **error) {
    const char *reason = NULL;
    struct host_device *d = calloc(1, sizeof *d);
    if (!d) {
        free(driver);
        free(options);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    *d = (struct host_device){.transport = transport, .driver = driver, .options = options};
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->none_pending, NULL);
    enum nnvts_status st = host_link_open(transport, d->driver, d->options, &d->link, &d->hello, &reason);
    if (st == NNVTS_STATUS_NONE) {
        fill_device(d);
        if (host_in_done(&d->hello)) {
            *out = &d->base;
            return st;
        }
        host_link_died(d->link);
        host_link_unref(d->link);
        reason = "the driver's process does not speak this version of the protocol";
        st = NNVTS_STATUS_GENERAL_FAILURE;
    }
    if (error && reason) *error = reason;
    device_free(d);
    return st;
}
