/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities of the process. */
#include "core/privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const struct {
	unsigned int number;
	const char *name;
} needed[] = {
	{CAP_BPF, "CAP_BPF"},
	{CAP_NET_ADMIN, "CAP_NET_ADMIN"},
	{CAP_PERFMON, "CAP_PERFMON"},
};

int privileges_check(char message[PRIVILEGES_MESSAGE_SIZE])
{
	capng_get_caps_process();
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (capng_have_capability(CAPNG_EFFECTIVE, needed[i].number))
			continue;
		snprintf(message, PRIVILEGES_MESSAGE_SIZE, "%s is missing: run secgd as root",
			 needed[i].name);
		return -EPERM;
	}
	return 0;
}

void privileges_raise_memlock(void)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

	/* not allowed in some containers, and not needed on newer kernels: then loading tells */
	(void)setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

int privileges_drop(bool keeps_dac_override, char message[PRIVILEGES_MESSAGE_SIZE])
{
	capng_clear(CAPNG_SELECT_BOTH);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, needed[i].number);
	if (keeps_dac_override)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_DAC_OVERRIDE);
	/* needs CAP_SETPCAP, which a process that did not start with it has not: no_new_privs below
	 * does the same for execve */
	(void)capng_apply(CAPNG_SELECT_BOUNDS);
	if (capng_apply(CAPNG_SELECT_CAPS) < 0) {
		snprintf(message, PRIVILEGES_MESSAGE_SIZE, "capabilities cannot be dropped");
		return -EPERM;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		snprintf(message, PRIVILEGES_MESSAGE_SIZE, "no_new_privs cannot be set");
		return -errno;
	}
	return 0;
}
