/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bool is_file(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/** FOLDER/NAME.so if there is such a file, else NULL. */
static char *in_folder(const char *folder, size_t folder_length, const char *name) {
    char path[4096];
    int n = snprintf(path, sizeof path, "%.*s/%s.so", (int)folder_length, folder, name);
    return n > 0 && (size_t)n < sizeof path && is_file(path) ? realpath(path, NULL) : NULL;
}

static char *find(const char *name, const char *folder, size_t folder_length) {
    if (strchr(name, '/')) return is_file(name) ? realpath(name, NULL) : NULL;
    char *found = NULL;
    for (const char *at = getenv("NNVTS_DRIVER_PATH"); at && *at && !found;) {
        size_t length = strcspn(at, ":");
        if (length) found = in_folder(at, length, name);
        at += length + (at[length] == ':');
    }
    return found ? found : in_folder(folder, folder_length, name);
}

bool host_find_driver(const char *text, const char *folder, size_t folder_length, char **driver, char **options) {
    const size_t length = strcspn(text, ":");
    char *name = strndup(text, length);
    *driver = name ? find(name, folder, folder_length) : NULL;
    *options = *driver && text[length] && text[length + 1] ? strdup(text + length + 1) : NULL;
    free(name);
    return *driver != NULL;
}

void host_end_text(const char *driver, int status, char text[HOST_END_BYTES]) {
    if (WIFSIGNALED(status))
        snprintf(text, HOST_END_BYTES, "host: the process of driver %.2048s was ended by signal %d (%s)\n", driver,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, HOST_END_BYTES, "host: the process of driver %.2048s ended with exit code %d\n", driver,
                 WEXITSTATUS(status));
}
