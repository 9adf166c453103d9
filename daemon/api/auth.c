/* SPDX-License-Identifier: Apache-2.0 */
/* Rights by peer credentials. */
#include "api/auth.h"

#include <grp.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/cleanup.h"

static bool is_member(const struct peer *peer, gid_t group)
{
	if (peer->gid == group)
		return true;
	for (size_t i = 0; i < peer->group_count; i++)
		if (peer->groups[i] == group)
			return true;
	return false;
}

enum right auth_decide(const struct peer *peer, const struct auth_groups *groups)
{
	if (!peer->uid)
		return RIGHT_WRITE;
	if (groups->has_write && is_member(peer, groups->write))
		return RIGHT_WRITE;
	if (groups->has_read && is_member(peer, groups->read))
		return RIGHT_READ;
	return RIGHT_NONE;
}

static bool find_group(gid_t *ret_gid, const char *name)
{
	_cleanup_free_ char *buffer = NULL;
	struct group *found = NULL;
	struct group entry;
	size_t size = 1024;
	int r;

	do {
		char *larger = realloc(buffer, size);

		if (!larger)
			return false;
		buffer = larger;
		r = getgrnam_r(name, &entry, buffer, size, &found);
		size *= 4;
	} while (r == ERANGE && size <= 64u << 20);
	if (r || !found)
		return false;
	*ret_gid = found->gr_gid;
	return true;
}

void auth_groups_refresh(struct auth_groups *groups)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (groups->loaded_at && now.tv_sec - groups->loaded_at < AUTH_GROUPS_AGE_S)
		return;
	groups->loaded_at = now.tv_sec;
	groups->has_write = find_group(&groups->write, AUTH_GROUP_WRITE);
	groups->has_read = find_group(&groups->read, AUTH_GROUP_READ);
}

/* Supplementary groups of the peer; the first call learns the size. */
static int peer_groups(gid_t **ret_groups, size_t *ret_count, int fd)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t size = 0;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size)) {
		*ret_groups = NULL;
		*ret_count = 0;
		return 0;
	}
	if (errno != ERANGE)
		return -errno;
	groups = malloc(size);
	if (!groups)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return -errno;
	*ret_groups = TAKE_PTR(groups);
	*ret_count = size / sizeof(gid_t);
	return 0;
}

int auth_peer(uid_t *ret_uid, enum right *ret_right, int fd, struct auth_groups *groups)
{
	_cleanup_free_ gid_t *supplementary = NULL;
	struct peer peer = {0};
	struct ucred credentials;
	socklen_t size = sizeof(credentials);
	int r;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
		return -errno;
	r = peer_groups(&supplementary, &peer.group_count, fd);
	if (r < 0)
		return r;
	peer.uid = credentials.uid;
	peer.gid = credentials.gid;
	peer.groups = supplementary;
	if (peer.uid)
		auth_groups_refresh(groups);
	*ret_uid = peer.uid;
	*ret_right = auth_decide(&peer, groups);
	return 0;
}

const char *auth_explain(enum right needed)
{
	return needed == RIGHT_WRITE ? "changing needs uid 0 or the group " AUTH_GROUP_WRITE
				     : "reading needs uid 0 or one of the groups " AUTH_GROUP_READ
				       " and " AUTH_GROUP_WRITE;
}
