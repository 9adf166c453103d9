/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help that belongs to no verb.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

extern const char help_overview[]; /* sgctl --help */
extern const char help_policy[];   /* sgctl help policy */
extern const char help_services[]; /* sgctl help services */

#endif
