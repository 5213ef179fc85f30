/* SPDX-License-Identifier: Apache-2.0 */
/** @file objects.c The objects of a client. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { OBJECTS = 1 << 16 }; /* of a client, at once */

void host_members(void *out, size_t size, const void *object, uint32_t struct_size) {
    memset(out, 0, size);
    memcpy(out, object, struct_size < size ? struct_size : size);
}

/** A free place, with the lock held; count of the table if there is none. */
static uint32_t find_place(struct host_table *t) {
    for (uint32_t i = 0; i < t->count; i++)
        if (!t->item[i]) return i;
    uint32_t room = t->count ? t->count * 2 : 16;
    struct host_object **grown = room > OBJECTS ? NULL : realloc(t->item, room * sizeof(void *));
    if (!grown) return t->count;
    memset(grown + t->count, 0, (room - t->count) * sizeof(void *));
    t->item = grown;
    uint32_t place = t->count;
    t->count = room;
    return place;
}

bool host_object_add(struct host_session *s, const struct host_object *o, uint64_t *id) {
    struct host_object *copy = malloc(sizeof *copy);
    if (!copy) return false;
    *copy = *o;
    pthread_mutex_lock(&s->lock);
    uint32_t place = find_place(&s->table);
    bool ok = place < s->table.count;
    if (ok) {
        copy->refs = 1;
        copy->id = *id = ++s->table.generation << 32 | place;
        if (copy->parent) copy->parent->refs++;
        s->table.item[place] = copy;
    }
    pthread_mutex_unlock(&s->lock);
    if (!ok) free(copy);
    return ok;
}

/** The place of an object, with the lock held; NULL if there is no such object. */
static struct host_object **find(struct host_session *s, uint64_t id) {
    uint32_t place = (uint32_t)id;
    if (place >= s->table.count || !s->table.item[place] || s->table.item[place]->id != id) return NULL;
    return &s->table.item[place];
}

struct host_object *host_object_get(struct host_session *s, uint64_t id, enum host_object_type type) {
    pthread_mutex_lock(&s->lock);
    struct host_object **at = find(s, id), *o = at && (*at)->type == type ? *at : NULL;
    if (o) o->refs++;
    pthread_mutex_unlock(&s->lock);
    return o;
}

static void release(struct host_object *o) {
    switch (o->type) {
    case HOST_PREPARED:
        if (o->members.prepared.release) o->members.prepared.release(o->inner.prepared);
        break;
    case HOST_EXECUTION:
        if (o->members.execution.release) o->members.execution.release(o->inner.execution);
        break;
    case HOST_BUFFER:
        if (o->members.buffer.release) o->members.buffer.release(o->inner.buffer);
        break;
    case HOST_BURST:
        if (o->members.burst.release) o->members.burst.release(o->inner.burst);
        break;
    case HOST_FENCED:
        if (o->members.fenced.release) o->members.fenced.release(o->members.fenced.context);
        break;
    }
    host_keep_end(&o->keep);
}

void host_object_put(struct host_session *s, struct host_object *o) {
    while (o) {
        pthread_mutex_lock(&s->lock);
        bool last = --o->refs == 0;
        pthread_mutex_unlock(&s->lock);
        if (!last) return;
        struct host_object *parent = o->parent;
        release(o);
        free(o);
        o = parent;
    }
}

bool host_object_remove(struct host_session *s, uint64_t id) {
    pthread_mutex_lock(&s->lock);
    struct host_object **at = find(s, id), *o = at ? *at : NULL;
    if (o) *at = NULL;
    pthread_mutex_unlock(&s->lock);
    host_object_put(s, o);
    return o != NULL;
}

/** One that is left; prepared models only if `prepared`. 0: none. */
static uint64_t any_object(struct host_session *s, bool prepared) {
    uint64_t id = 0;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->table.count && !id; i++)
        if (s->table.item[i] && (prepared || s->table.item[i]->type != HOST_PREPARED)) id = s->table.item[i]->id;
    pthread_mutex_unlock(&s->lock);
    return id;
}

void host_objects_remove_all(struct host_session *s) {
    uint64_t id;
    for (int prepared = 0; prepared < 2; prepared++)
        while ((id = any_object(s, prepared)) != 0) host_object_remove(s, id);
}
