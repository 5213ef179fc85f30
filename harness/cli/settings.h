/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h The configuration file: defaults of options, by verb.
 *
 * The first of these is read: $NNVTS_CONFIG (empty: none), ./.nnvts, $XDG_CONFIG_HOME/nnvts/config (or
 * ~/.config/nnvts/config). Lines are "[verb]", "[*]" for all verbs, "option = value", a flag's name alone, or comments
 * behind "#". The command line wins.
 */
#ifndef NNV_CLI_SETTINGS_H
#define NNV_CLI_SETTINGS_H

#include "base/opts.h"

/** A line of such a file. */
struct nnv_setting {
    const char *path;
    size_t number;
    const char *section;
    const char *name;  /**< NULL: the line begins the section */
    const char *value; /**< NULL: there is none */
};
typedef enum nnv_status nnv_setting_reader(void *context, const struct nnv_setting *s, struct nnv_err *err);
/** Gives each line that says something to read. NNV_INVALID names file and line. */
NNV_USE_RESULT enum nnv_status nnv_settings_read(const char *path, nnv_setting_reader *read, void *context,
                                                 struct nnv_err *err);

/**
 * Puts what the file says of the verb into the table's values. Under [*], options that the verb does not have are left
 * out; elsewhere they are an error. NNV_INVALID names file and line; no file is no error.
 */
NNV_USE_RESULT enum nnv_status nnv_settings_apply(const char *verb, const struct nnv_opt *table, struct nnv_err *err);
/** The file that is read, or NULL; lives as long as the process. */
const char *nnv_settings_path(void);

#endif
