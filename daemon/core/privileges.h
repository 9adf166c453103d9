/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process may do: as little as the data path needs.
 */
#ifndef SECG_CORE_PRIVILEGES_H
#define SECG_CORE_PRIVILEGES_H

#include <stdbool.h>

#define PRIVILEGES_MESSAGE_SIZE 256

/* -EPERM and a message where loading and attaching BPF programs is not allowed to this process. */
int privileges_check(char message[PRIVILEGES_MESSAGE_SIZE]);
/* Lets kernels before 5.11, which charge maps to RLIMIT_MEMLOCK, hold the maps. */
void privileges_raise_memlock(void);
/*
 * Keeps CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, and CAP_DAC_OVERRIDE where asked (directories of another
 * user); execve(2) gives nothing back. Negative errno and a message.
 */
int privileges_drop(bool keeps_dac_override, char message[PRIVILEGES_MESSAGE_SIZE]);

#endif
