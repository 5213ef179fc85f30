// SPDX-License-Identifier: Apache-2.0
// An application with the classes of tests/relay/deploy.relay: the whole program, and what a region has beside
// execute(). Arguments: the folder of the weights, and the name of a device; without it, NNAPI chooses.
#include "program.h"
#include "tvmgen_default_nnapi_main_0.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int N = 40;

void must(bool ok, const char *what) {
    if (ok) return;
    std::printf("wrong: %s\n", what);
    std::exit(1);
}

float weight(int k) { return static_cast<float>(k % 7) - 3.25f; }

// The program: the operand transposed, with weights, and both as integers.
void whole(const nnapi_region_configuration &configuration) {
    float x[N], sums[N];
    int32_t both[2 * N];
    program p(configuration);
    must(p.error() == ANEURALNETWORKS_NO_ERROR, p.where());
    for (int run = 0; run < 3; run++) {
        for (int k = 0; k < N; k++) x[k] = static_cast<float>(k * (run + 1)) * 0.75f - 9;
        must((run < 2 ? p.execute(x, both, sums) : p.burst(x, both, sums)) == ANEURALNETWORKS_NO_ERROR, "execute");
        for (int k = 0; k < N; k++) {
            const float moved = x[k % 2 * 20 + k / 2];
            must(sums[k] == moved + weight(k), "a sum");
            must(both[k] == static_cast<int32_t>(sums[k]) && both[N + k] == static_cast<int32_t>(moved), "an integer");
        }
    }
}

// Inputs and outputs in one memory object, which an execution that is set up once runs over and over.
void memory(const nnapi_region_configuration &configuration) {
    const tvmgen_default_nnapi_main_0 region(configuration);
    const int fd = memfd_create("values", 0);
    must(fd >= 0 && ftruncate(fd, 2 * sizeof(float[N])) == 0, "memfd");
    auto values = static_cast<float *>(mmap(nullptr, 2 * sizeof(float[N]), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    ANeuralNetworksMemory *shared = nullptr;
    must(values != MAP_FAILED && ANeuralNetworksMemory_createFromFd(2 * sizeof(float[N]), PROT_READ | PROT_WRITE, fd, 0,
                                                                    &shared) == ANEURALNETWORKS_NO_ERROR,
         "memory");
    {
        nnapi_region::Execution execution(region, nnapi_region::Execution::REUSABLE | nnapi_region::Execution::TIMED);
        must(execution.input(0, shared) == 0, "input");
        must(execution.output(0, shared, sizeof(float[N])) == 0, "output");
        for (int run = 0; run < 3; run++) {
            for (int k = 0; k < N; k++) values[k] = static_cast<float>(k + run);
            must(execution.run() == 0, "run");
            for (int k = 0; k < N; k++) must(values[N + k] == values[k] + weight(k), "a value in memory");
        }
        execution.duration(ANEURALNETWORKS_DURATION_IN_DRIVER); // which a device need not know
        must(execution.input(7, shared) == ANEURALNETWORKS_BAD_DATA, "an input that is not there");
        must(execution.run() == ANEURALNETWORKS_BAD_DATA, "an execution with an error");
    }
    ANeuralNetworksMemory_free(shared);
    munmap(values, 2 * sizeof(float[N]));
    close(fd);
}

// The weights at a place of a file that is no multiple of a page, as an asset in an application's package.
void asset(nnapi_region_configuration configuration) {
    const std::string from = std::string(configuration.folder) + "/weights.bin";
    char name[] = "asset-XXXXXX";
    std::vector<char> bytes(5000, 'x');
    std::FILE *f = std::fopen(from.c_str(), "rb");
    for (int c; f && (c = std::fgetc(f)) != EOF;) bytes.push_back(static_cast<char>(c));
    must(f != nullptr, "weights.bin");
    std::fclose(f);
    bytes.push_back('x');
    nnapi_region_file file = {mkstemp(name), 5000};
    must(write(file.descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "asset");
    unlink(name);
    configuration.folder = "/nonexistent";
    configuration.weights = &file;
    whole(configuration);
    file.offset = 5002;
    must(program(configuration).error() == ANEURALNETWORKS_UNMAPPABLE, "a file that is too short");
    close(file.descriptor);
}

} // namespace

int main(int argc, char **argv) {
    nnapi_region_configuration configuration = {};
    const char *const devices[] = {argc > 2 ? argv[2] : nullptr};
    configuration.folder = argc > 1 ? argv[1] : ".";
    whole(configuration);
    asset(configuration);
    configuration.preference = NNAPI_REGION_SUSTAINED_SPEED;
    configuration.devices = devices;
    configuration.device_count = argc > 2;
    whole(configuration);
    if (argc > 2) memory(configuration);
    if (argc > 3) { // a device of feature level 4
        configuration.priority = ANEURALNETWORKS_PRIORITY_LOW;
        configuration.compile_timeout = configuration.run_timeout = 10000000000;
        whole(configuration);
        configuration.priority = 1;
        must(program(configuration).error() == ANEURALNETWORKS_BAD_DATA, "a priority that is none");
    }
    std::puts("right");
    return 0;
}
