/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces of this network namespace, followed through rtnetlink. Called by the engine. */
#include "net/net.h"

#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#define DUMP_SIZE     32768     /* bytes the kernel fills at most in one read of a dump */
#define RECEIVE_BYTES (4 << 20) /* a storm of some thousand links without an overrun */

/* Alias and alternative names, in one piece of memory. */
struct texts {
	const char **altnames;
	size_t altname_count;
	const char *alias;
	size_t size;
	char bytes[]; /* "alias\0altname\0altname\0" */
};

struct known {
	struct net_link link;
	struct texts *texts; /* owned */
	bool is_seen;        /* by the reading of all links that is under way */
};

struct net {
	struct mnl_socket *socket; /* events */
	net_callback callback;
	void *data;
	struct known *known; /* by ifindex */
	size_t count;
	size_t capacity;
	uint64_t version; /* the last one given */
	int error;        /* no memory for a link: the next dispatch reads all anew */
};

/* Index of the first known link at or behind an ifindex. */
static size_t position(const struct net *net, int ifindex)
{
	size_t low = 0, high = net->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (net->known[middle].link.ifindex < ifindex)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct known *find(const struct net *net, int ifindex)
{
	size_t at = position(net, ifindex);

	return at < net->count && net->known[at].link.ifindex == ifindex ? &net->known[at] : NULL;
}

/* Links show the name of their master: whoever is in it has changed too. */
static void touch_members(struct net *net, int master)
{
	for (size_t i = 0; i < net->count; i++)
		if (net->known[i].link.master == master)
			net->known[i].link.version = ++net->version;
}

/* Takes the texts. */
static void set_link(struct net *net, struct known *known, const struct net_link *link,
		     struct texts *texts)
{
	known->link = *link;
	known->texts = texts;
	known->link.alias = texts->alias;
	known->link.altnames = texts->altnames;
	known->link.altname_count = texts->altname_count;
	known->link.version = ++net->version;
	known->is_seen = true;
}

static int add(struct net *net, const struct net_link *link, struct texts **texts)
{
	size_t at = position(net, link->ifindex);

	if (net->count == net->capacity) {
		size_t capacity = net->capacity ? net->capacity * 2 : 64;
		struct known *known = reallocarray(net->known, capacity, sizeof(*known));

		if (!known)
			return -ENOMEM;
		net->known = known;
		net->capacity = capacity;
	}
	memmove(&net->known[at + 1], &net->known[at], (net->count - at) * sizeof(*net->known));
	set_link(net, &net->known[at], link, TAKE_PTR(*texts));
	net->count++;
	touch_members(net, link->ifindex);
	net->callback(NET_LINK_ADDED, &net->known[at].link, net->data);
	return 0;
}

static void drop(struct net *net, size_t at)
{
	struct known known = net->known[at];

	net->count--;
	memmove(&net->known[at], &net->known[at + 1], (net->count - at) * sizeof(*net->known));
	touch_members(net, known.link.ifindex);
	net->callback(NET_LINK_REMOVED, &known.link, net->data);
	free(known.texts);
}

/* Fields are compared one by one: the struct has holes. */
static bool is_same(const struct net_link *a, const struct net_link *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->kind, b->kind) && a->type == b->type &&
	       !memcmp(a->mac, b->mac, sizeof(a->mac)) && a->mtu == b->mtu &&
	       a->flags == b->flags && a->master == b->master;
}

static bool has_same_texts(const struct texts *a, const struct texts *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static int learn(struct net *net, const struct net_link *link, struct texts **texts)
{
	struct known *known = find(net, link->ifindex);
	bool is_renamed;

	if (!known)
		return add(net, link, texts);
	known->is_seen = true;
	if (is_same(&known->link, link) && has_same_texts(known->texts, *texts))
		return 0;
	is_renamed = strcmp(known->link.name, link->name) != 0;
	free(known->texts);
	set_link(net, known, link, TAKE_PTR(*texts));
	if (is_renamed)
		touch_members(net, link->ifindex);
	net->callback(NET_LINK_CHANGED, &known->link, net->data);
	return 0;
}

static void copy_text(char *ret_text, size_t size, const struct nlattr *attribute)
{
	size_t length =
		strnlen(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));

	if (length >= size)
		length = size - 1;
	memcpy(ret_text, mnl_attr_get_payload(attribute), length);
	ret_text[length] = '\0';
}

static void parse_kind(struct net_link *link, const struct nlattr *info)
{
	const struct nlattr *attribute;

	mnl_attr_for_each_nested(attribute,
				 info) if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
		copy_text(link->kind, sizeof(link->kind), attribute);
}

void net_link_parse(struct net_link *ret_link, const struct nlmsghdr *header)
{
	const struct ifinfomsg *message = mnl_nlmsg_get_payload(header);
	const struct nlattr *attribute;
	struct net_link link = {
		.ifindex = message->ifi_index,
		.type = message->ifi_type,
		.flags = message->ifi_flags,
		.alias = "",
	};

	mnl_attr_for_each(attribute, header, sizeof(*message))
	{
		switch (mnl_attr_get_type(attribute)) {
		case IFLA_IFNAME:
			copy_text(link.name, sizeof(link.name), attribute);
			break;
		case IFLA_ADDRESS:
			if (mnl_attr_get_payload_len(attribute) == sizeof(link.mac))
				memcpy(link.mac, mnl_attr_get_payload(attribute), sizeof(link.mac));
			break;
		case IFLA_MTU:
			link.mtu = mnl_attr_get_u32(attribute);
			break;
		case IFLA_MASTER:
			link.master = (int)mnl_attr_get_u32(attribute);
			break;
		case IFLA_LINKINFO:
			parse_kind(&link, attribute);
			break;
		}
	}
	*ret_link = link;
}

/* ── texts ──────────────────────────────────────────────────────────────────────────────────────── */

/* Bytes of a text with its end, however the kernel has sent it. */
static size_t text_size(const struct nlattr *attribute)
{
	return strnlen(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute)) + 1;
}

static const char *put_text(struct texts *texts, const struct nlattr *attribute)
{
	char *text = texts->bytes + texts->size;
	size_t size = text_size(attribute);

	memcpy(text, mnl_attr_get_payload(attribute), size - 1);
	text[size - 1] = '\0';
	texts->size += size;
	return text;
}

static bool is_altname(const struct nlattr *attribute)
{
	return mnl_attr_get_type(attribute) == IFLA_ALT_IFNAME;
}

/* NULL: no memory. */
static struct texts *parse_texts(const struct nlmsghdr *header)
{
	const struct nlattr *attribute, *property, *alias = NULL, *list = NULL;
	size_t count = 0, size = 1;
	struct texts *texts;

	mnl_attr_for_each(attribute, header, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(attribute) == IFLA_IFALIAS)
			alias = attribute;
		if (mnl_attr_get_type(attribute) == IFLA_PROP_LIST)
			list = attribute;
	}
	if (alias)
		size += text_size(alias);
	if (list)
		mnl_attr_for_each_nested(property, list)
		{
			count += is_altname(property);
			size += text_size(property);
		}
	/* The pointers stand behind the texts, at an address that fits them. */
	size = (size + sizeof(char *) - 1) / sizeof(char *) * sizeof(char *);
	texts = malloc(sizeof(*texts) + size + count * sizeof(char *));
	if (!texts)
		return NULL;
	*texts = (struct texts){.altnames = (const char **)(void *)(texts->bytes + size)};
	texts->alias = "";
	if (alias)
		texts->alias = put_text(texts, alias);
	else
		texts->bytes[texts->size++] = '\0';
	if (list)
		mnl_attr_for_each_nested(property, list) if (is_altname(property))
			texts->altnames[texts->altname_count++] = put_text(texts, property);
	return texts;
}

static int see_message(const struct nlmsghdr *header, void *data)
{
	const struct ifinfomsg *message = mnl_nlmsg_get_payload(header);
	_cleanup_free_ struct texts *texts = NULL;
	struct net *net = data;
	struct net_link link;

	if (header->nlmsg_type != RTM_NEWLINK && header->nlmsg_type != RTM_DELLINK)
		return MNL_CB_OK;
	/* A bridge tells of its ports in messages of its own family; leaving one deletes no link. */
	if (message->ifi_family != AF_UNSPEC)
		return MNL_CB_OK;
	if (header->nlmsg_type == RTM_DELLINK) {
		if (find(net, message->ifi_index))
			drop(net, position(net, message->ifi_index));
		return MNL_CB_OK;
	}
	net_link_parse(&link, header);
	texts = parse_texts(header);
	if (!texts || learn(net, &link, &texts) < 0)
		net->error = -ENOMEM;
	return MNL_CB_OK;
}

/* Asks for all links on a socket of its own and hands each answer to see_message. */
static int dump(struct net *net, struct mnl_socket *socket)
{
	char buffer[DUMP_SIZE];
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *message;
	unsigned int port;
	int r = MNL_CB_OK;

	header->nlmsg_type = RTM_GETLINK;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	header->nlmsg_seq = 1;
	message = mnl_nlmsg_put_extra_header(header, sizeof(*message));
	message->ifi_family = AF_UNSPEC;
	mnl_attr_put_u32(header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	if (mnl_socket_sendto(socket, header, header->nlmsg_len) < 0)
		return -errno;
	port = mnl_socket_get_portid(socket);
	while (r > MNL_CB_STOP) {
		ssize_t size = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (size < 0)
			return -errno;
		r = mnl_cb_run(buffer, (size_t)size, 1, port, see_message, net);
		if (r < 0)
			return -errno;
	}
	return 0;
}

#define DUMP_TRIES 10 /* a dump that changes interrupted is begun again */

/* Reads all links and reports the differences to what was known. */
static int read_all(struct net *net)
{
	int r = -EINTR;

	for (int i = 0; i < DUMP_TRIES && r == -EINTR; i++) {
		struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

		if (!socket)
			return -errno;
		for (size_t k = 0; k < net->count; k++)
			net->known[k].is_seen = false;
		net->error = 0;
		r = dump(net, socket);
		mnl_socket_close(socket);
	}
	if (r == 0)
		r = net->error;
	if (r < 0)
		return r;
	for (size_t k = net->count; k--;)
		if (!net->known[k].is_seen)
			drop(net, k);
	return 0;
}

int net_open(struct net **ret_net, net_callback callback, void *data)
{
	_cleanup_(net_closep) struct net *net = calloc(1, sizeof(*net));
	int bytes = RECEIVE_BYTES;
	int r;

	if (!net)
		return -ENOMEM;
	net->callback = callback;
	net->data = data;
	net->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!net->socket)
		return -errno;
	/* Without CAP_NET_ADMIN the buffer stays small and overruns are read up. */
	setsockopt(net_fd(net), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	/* Events first: what changes after the reading is not missed. */
	if (mnl_socket_bind(net->socket, RTMGRP_LINK, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	r = read_all(net);
	if (r < 0)
		return r;
	*ret_net = TAKE_PTR(net);
	return 0;
}

void net_close(struct net *net)
{
	if (net->socket)
		mnl_socket_close(net->socket);
	for (size_t i = 0; i < net->count; i++)
		free(net->known[i].texts);
	free(net->known);
	free(net);
}

int net_fd(const struct net *net)
{
	return mnl_socket_get_fd(net->socket);
}

int net_dispatch(struct net *net)
{
	char buffer[DUMP_SIZE];
	bool has_missed = net->error < 0;

	for (;;) {
		ssize_t size = mnl_socket_recvfrom(net->socket, buffer, sizeof(buffer));

		if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (size < 0 && errno == ENOBUFS) {
			has_missed = true;
			continue;
		}
		if (size < 0 && errno != EINTR)
			return -errno;
		/* Events have no sequence and no port of ours: any will do. */
		if (size > 0 && mnl_cb_run(buffer, (size_t)size, 0, 0, see_message, net) < 0)
			has_missed = true;
	}
	return has_missed || net->error < 0 ? read_all(net) : 0;
}

int net_look(struct net *net)
{
	return read_all(net);
}

const struct net_link *net_find_name(const struct net *net, const char *name)
{
	for (size_t i = 0; i < net->count; i++)
		if (!strcmp(net->known[i].link.name, name))
			return &net->known[i].link;
	return NULL;
}

const struct net_link *net_find_ifindex(const struct net *net, int ifindex)
{
	const struct known *known = find(net, ifindex);

	return known ? &known->link : NULL;
}

size_t net_count(const struct net *net)
{
	return net->count;
}

const struct net_link *net_at(const struct net *net, size_t index)
{
	return &net->known[index].link;
}
