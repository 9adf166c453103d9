/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words to the service manager (sd_notify(3)), without its library.
 */
#ifndef SECG_CORE_NOTIFY_H
#define SECG_CORE_NOTIFY_H

/* Sends "READY=1" and the like to $NOTIFY_SOCKET; without one, or when it cannot be reached, nothing. */
void notify(const char *state);

#endif
