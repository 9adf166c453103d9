/* SPDX-License-Identifier: Apache-2.0 */
/* Which hook a port gets: design's table, as a pure function. Called by attach.c and the tests. */
#include <stdio.h>
#include <string.h>

#include "dp/internal.h"

/*
 * A bond hands its XDP program to its members. There it runs with the number of the member that received
 * the frame and cannot know which port that is.
 */
static bool is_bond(const struct dp_probe *probe)
{
	return !strcmp(probe->kind, "bond");
}

bool hook_wants_xdp(enum port_hook hook, const struct dp_probe *probe)
{
	/* XDP on these costs more than it gives, or does not exist (design, Hooks). */
	static const char *const kinds[] = {"veth", "tun", "bridge", "vlan"};

	if (is_bond(probe))
		return false;
	if (hook != PORT_HOOK_AUTO)
		return hook == PORT_HOOK_XDP;
	if (!probe->has_ethernet)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(probe->kind, kinds[i]))
			return false;
	return true;
}

void program_text(char ret_text[PROGRAM_TEXT_SIZE], uint32_t id, const char *name)
{
	if (name && name[0])
		snprintf(ret_text, PROGRAM_TEXT_SIZE, "%u (%.*s)", id, SYS_NAME_SIZE, name);
	else
		snprintf(ret_text, PROGRAM_TEXT_SIZE, "%u (bpftool prog show id %u names it)", id,
			 id);
}

static void choose_xdp(struct dp_choice *choice, const struct dp_probe *probe, const char *foreign)
{
	choice->is_xdp = true;
	if (!probe->has_ethernet) {
		choice->is_failed = true;
		snprintf(choice->message, sizeof(choice->message),
			 "the device has no Ethernet header, which XDP needs: use hook tc or auto");
	} else if (is_bond(probe)) {
		choice->is_failed = true;
		snprintf(
			choice->message, sizeof(choice->message),
			"XDP on a bond runs on its members, where the bond is not known: use hook tc "
			"or auto");
	} else if (probe->has_foreign_xdp) {
		choice->is_failed = true;
		snprintf(
			choice->message, sizeof(choice->message),
			"XDP program %s of somebody else is attached: remove it, or use hook tc or auto",
			foreign);
	} else if (!probe->is_native_xdp) {
		choice->is_generic = true;
		snprintf(
			choice->message, sizeof(choice->message),
			"the driver has no native XDP: generic XDP is used, which is slower than hook tc");
	}
}

void dp_choose_hook(struct dp_choice *ret_choice, enum port_hook hook, const struct dp_probe *probe)
{
	struct dp_choice choice = {0};
	char foreign[PROGRAM_TEXT_SIZE];

	program_text(foreign, probe->foreign_xdp_id, probe->foreign_xdp_name);
	switch (hook) {
	case PORT_HOOK_XDP:
		choose_xdp(&choice, probe, foreign);
		break;
	case PORT_HOOK_AUTO:
		if (!hook_wants_xdp(hook, probe))
			break;
		if (probe->has_foreign_xdp)
			snprintf(
				choice.message, sizeof(choice.message),
				"XDP program %s of somebody else is attached: hook tc is used beside it",
				foreign);
		else
			choice.is_xdp = probe->is_native_xdp;
		break;
	case PORT_HOOK_TC:
		break;
	}
	*ret_choice = choice;
}
