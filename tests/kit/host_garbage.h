/* SPDX-License-Identifier: Apache-2.0 */
/** @file host_garbage.h Nonsense for the two sides of the protocol of the driver "host", the same for each seed. */
#ifndef KIT_HOST_GARBAGE_H
#define KIT_HOST_GARBAGE_H

#include "tests/kit/driver.h"

enum { ANSWER_MS = 5000 };

extern uint64_t random_state;

uint32_t below(uint32_t n);

uint32_t nasty(void);

void mutate_payload(uint8_t *data, size_t bytes);

int descriptors(void);

const char *drivers_folder(void);

#endif
