/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of this moment, from the kernel and from the engine. What cannot be known stays unknown. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/doctor.h"
#include "engine/internal.h"

/* ── host ───────────────────────────────────────────────────────────────────────────────────────── */

/* A number in a file of /proc; negative errno. */
static int read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	int number = 0, r = 0;

	if (!file)
		return -errno;
	if (fscanf(file, "%d", &number) != 1 || number < 0)
		r = -EINVAL;
	fclose(file);
	return r < 0 ? r : number;
}

static enum doctor_truth truth_of(int number)
{
	return number < 0 ? DOCTOR_UNKNOWN : number > 0 ? DOCTOR_YES : DOCTOR_NO;
}

static enum doctor_truth find_btf(void)
{
	if (access("/sys/kernel/btf/vmlinux", F_OK) == 0)
		return DOCTOR_YES;
	return errno == ENOENT ? DOCTOR_NO : DOCTOR_UNKNOWN;
}

/* The name is all there is to go by: "…: 0002 0 10000 1 1 12345 /var/run/vm1-vhost.sock". */
static void find_vhost_user(char ret_path[108])
{
	_cleanup_free_ char *line = NULL;
	FILE *file = fopen("/proc/self/net/unix", "re");
	size_t size = 0;

	if (!file)
		return;
	while (!ret_path[0] && getline(&line, &size, file) > 0) {
		char path[108];

		if (strstr(line, "vhost") &&
		    sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %107s", path) == 1)
			memcpy(ret_path, path, sizeof(path));
	}
	fclose(file);
}

static void gather_host(struct doctor_host *host, const struct engine *engine,
			const struct doctor_setup *setup)
{
	struct stat info;
	int unprivileged = read_number("/proc/sys/kernel/unprivileged_bpf_disabled");

	for (int i = 0; i < DP_FEATURE_COUNT; i++)
		host->has_feature[i] = dp_has_feature(engine->dp, (enum dp_feature)i);
	host->has_btf = find_btf();
	host->is_jit_on = truth_of(dp_is_compiled(engine->dp));
	host->is_bpf_unprivileged = unprivileged < 0 ? DOCTOR_UNKNOWN : truth_of(!unprivileged);
	host->folder = dp_folder(engine->dp);
	if (host->folder)
		bpffs_find(&host->bpffs, host->folder);
	host->socket = setup->socket;
	if (setup->socket && stat(setup->socket, &info) < 0)
		host->socket_error = errno;
	else if (setup->socket)
		host->socket_mode = info.st_mode;
	host->has_admin_group = setup->has_admin_group;
	host->has_read_group = setup->has_read_group;
	host->is_store_broken = engine->is_store_broken;
	host->is_path_broken = engine->is_path_broken;
	host->is_net_broken = engine->is_net_broken;
	host->is_claim_broken = engine->is_claim_broken;
	dp_tables_usage(engine->dp, &host->table_used_bytes, &host->table_size_bytes);
	host->has_sessions = dp_session_usage(engine->dp, &host->sessions) == 0;
	find_vhost_user(host->vhost_user);
}

/* ── interfaces ─────────────────────────────────────────────────────────────────────────────────── */

static bool is_forwarding(const char *interface, const char *family)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/net/%s/conf/%.16s/forwarding", family, interface);
	return read_number(path) > 0;
}

static const struct net_device *find_passthru(const struct net_devices *devices, int ifindex)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->items[i].is_passthru && devices->items[i].lower == ifindex)
			return &devices->items[i];
	return NULL;
}

static void gather_port(struct doctor_port *port, const struct engine *engine,
			const struct guard *guard, const struct net_devices *devices)
{
	const struct port *wanted = guard->entry->port;
	const struct net_device *device = net_devices_find(devices, guard->ifindex);

	*port = (struct doctor_port){
		.name = wanted->name,
		.interface = guard->interface,
		.state = guard->state,
		.hook = wanted->hook,
		.attachment = guard->attachment,
		.message = guard->message,
		.device = guard->ifindex ? device : NULL,
	};
	if (!port->device)
		return;
	port->master = net_devices_find(devices, device->link.master);
	port->upper = find_passthru(devices, guard->ifindex);
	dp_find_strangers(engine->dp, guard->ifindex, &port->strangers);
	port->has_offloads = net_offloads_read(&port->offloads, device->link.name) == 0;
	port->is_routed = is_forwarding(device->link.name, "ipv4") ||
			  is_forwarding(device->link.name, "ipv6");
}

static bool is_guarded(const struct engine *engine, int ifindex)
{
	for (size_t i = 0; i < engine->guard_count; i++)
		if (engine->guards[i].ifindex == ifindex)
			return true;
	return false;
}

static void gather_interfaces(struct doctor_facts *facts, const struct engine *engine)
{
	for (size_t i = 0; i < facts->devices.count; i++) {
		const struct net_device *device = &facts->devices.items[i];
		struct doctor_interface *interface = &facts->interfaces[facts->interface_count];

		if (!(device->link.flags & IFF_UP))
			continue;
		interface->device = device;
		interface->is_guarded = is_guarded(engine, device->link.ifindex);
		dp_find_strangers(engine->dp, device->link.ifindex, &interface->strangers);
		facts->interface_count++;
	}
}

int doctor_gather(struct doctor_facts *ret_facts, const struct engine *engine,
		  const struct doctor_setup *setup)
{
	_cleanup_(doctor_facts_fini) struct doctor_facts facts = {0};
	int r = net_devices_read(&facts.devices);

	if (r < 0)
		return r;
	facts.ports = calloc(engine->guard_count + 1, sizeof(*facts.ports));
	facts.interfaces = calloc(facts.devices.count + 1, sizeof(*facts.interfaces));
	if (!facts.ports || !facts.interfaces)
		return -ENOMEM;
	gather_host(&facts.host, engine, setup);
	for (; facts.port_count < engine->guard_count; facts.port_count++)
		gather_port(&facts.ports[facts.port_count], engine,
			    &engine->guards[facts.port_count], &facts.devices);
	gather_interfaces(&facts, engine);
	ssh_look(&facts.ssh, engine->live, engine->claims);
	*ret_facts = facts;
	facts = (struct doctor_facts){0};
	return 0;
}

void doctor_facts_fini(struct doctor_facts *facts)
{
	free(facts->ports);
	free(facts->interfaces);
	net_devices_fini(&facts->devices);
	*facts = (struct doctor_facts){0};
}
