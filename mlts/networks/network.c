/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/network.h"

bool nnv_network_is_state(const struct nnv_network *net, uint32_t input) {
    for (uint32_t i = 0; i < net->state_count; i++)
        if (net->states[i].input == input) return true;
    return false;
}
