/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces followed through rtnetlink: what is there, what comes, changes, goes, and what was missed. */
#include <poll.h>
#include <sys/socket.h>

#include "dp_lab.h"
#include "net/net.h"

/* Every event, as "added secg-a". */
struct journal {
	char text[16384];
};

static void note(enum net_event event, const struct net_link *link, void *data)
{
	static const char *const words[] = {"added", "changed", "removed"};
	struct journal *journal = data;
	size_t used = strlen(journal->text);

	snprintf(journal->text + used, sizeof(journal->text) - used, "%s %s;", words[event],
		 link->name);
}

static struct journal journal;

static struct net *open_net(void)
{
	struct net *net = NULL;

	journal.text[0] = '\0';
	assert_int_equal(net_open(&net, note, &journal), 0);
	return net;
}

/* Reads events until there are none for a while. */
static void dispatch(struct net *net)
{
	struct pollfd poll_fd = {.fd = net_fd(net), .events = POLLIN};

	while (poll(&poll_fd, 1, 200) > 0)
		assert_int_equal(net_dispatch(net), 0);
}

/* Lets what the set-up has stirred up pass: a link that comes up changes more than once. */
static void forget(struct net *net)
{
	dispatch(net);
	journal.text[0] = '\0';
}

static void test_present(void **state)
{
	_cleanup_(net_closep) struct net *net = open_net();
	const struct net_link *link = net_find_name(net, "secg-a");

	(void)state;
	assert_non_null(strstr(journal.text, "added lo;"));
	assert_non_null(strstr(journal.text, "added secg-a;"));
	assert_non_null(link);
	assert_ptr_equal(net_find_ifindex(net, link->ifindex), link);
	assert_string_equal(link->kind, "veth");
	assert_int_equal(link->mtu, 1500);
	assert_int_equal(link->ifindex, if_nametoindex("secg-a"));
	assert_true(link->flags & IFF_UP);
	assert_true(link->mac[0] | link->mac[1] | link->mac[2]);
	assert_true(net_link_has_ethernet(link));
	assert_true(net_link_is_workload(link));
	assert_null(net_find_name(net, "secg"));
	assert_null(net_find_ifindex(net, 99999));
}

static void test_kinds(void **state)
{
	_cleanup_(net_closep) struct net *net = NULL;

	(void)state;
	lab_run("ip tuntap add secg-tun mode tun && ip tuntap add secg-tap mode tap && "
		"ip link add secg-br type bridge && ip link set secg-a master secg-br");
	net = open_net();
	assert_false(net_link_has_ethernet(net_find_name(net, "secg-tun")));
	assert_false(net_link_is_workload(net_find_name(net, "secg-tun")));
	assert_true(net_link_has_ethernet(net_find_name(net, "secg-tap")));
	assert_true(net_link_is_workload(net_find_name(net, "secg-tap")));
	assert_true(net_link_has_ethernet(net_find_name(net, "secg-br")));
	assert_false(net_link_is_workload(net_find_name(net, "secg-br")));
	assert_true(net_link_has_ethernet(net_find_name(net, "lo")));
	assert_string_equal(net_find_name(net, "secg-br")->kind, "bridge");
	assert_int_equal(net_find_name(net, "secg-a")->master,
			 net_find_name(net, "secg-br")->ifindex);

	/* Leaving a bridge is no end of the interface, though the bridge says so in its own way. */
	forget(net);
	lab_run("ip link set secg-a nomaster");
	dispatch(net);
	assert_null(strstr(journal.text, "removed"));
	assert_non_null(strstr(journal.text, "changed secg-a;"));
	assert_int_equal(net_find_name(net, "secg-a")->master, 0);
	lab_run("ip link del secg-tun && ip link del secg-tap && ip link del secg-br");
	dispatch(net);
	assert_non_null(strstr(journal.text, "removed secg-br;"));
	assert_null(net_find_name(net, "secg-tap"));
}

static void test_changes(void **state)
{
	_cleanup_(net_closep) struct net *net = open_net();
	int ifindex = net_find_name(net, "secg-a")->ifindex;

	(void)state;
	forget(net);
	lab_run("ip link set secg-a mtu 1400");
	dispatch(net);
	assert_string_equal(journal.text, "changed secg-a;");
	assert_int_equal(net_find_ifindex(net, ifindex)->mtu, 1400);

	forget(net);
	lab_run("ip link set secg-a down && ip link set secg-a name secg-c");
	dispatch(net);
	assert_non_null(strstr(journal.text, "changed secg-c;"));
	assert_null(net_find_name(net, "secg-a"));
	assert_int_equal(net_find_name(net, "secg-c")->ifindex, ifindex);
	lab_run("ip link set secg-c name secg-a");
}

/* Deleted, made again, and moved away. */
static void test_removal(void **state)
{
	_cleanup_(net_closep) struct net *net = open_net();
	int before = net_find_name(net, "secg-a")->ifindex;

	forget(net);
	lab_run("ip link del secg-a");
	lab_make_links(state);
	dispatch(net);
	assert_non_null(strstr(journal.text, "removed secg-a;"));
	assert_non_null(strstr(journal.text, "added secg-a;"));
	assert_int_not_equal(net_find_name(net, "secg-a")->ifindex, before);

	forget(net);
	lab_run("unshare --net sleep 3 & pid=$!; sleep 0.5; ip link set secg-b netns $pid");
	dispatch(net);
	assert_non_null(strstr(journal.text, "removed secg-b;"));
	assert_null(net_find_name(net, "secg-b"));
}

/* A buffer that is too small for what happens: the differences are told all the same. */
static void test_overrun(void **state)
{
	_cleanup_(net_closep) struct net *net = open_net();
	int small = 1;

	(void)state;
	assert_int_equal(setsockopt(net_fd(net), SOL_SOCKET, SO_RCVBUFFORCE, &small, sizeof(small)),
			 0);
	forget(net);
	lab_run("for i in 1 2 3 4 5 6 7 8 9; do ip link add secg-n$i type veth peer name secg-m$i;"
		" done; ip link del secg-n3; ip link del secg-a");
	dispatch(net);
	assert_non_null(strstr(journal.text, "removed secg-a;"));
	assert_non_null(strstr(journal.text, "added secg-n9;"));
	assert_non_null(net_find_name(net, "secg-n9"));
	assert_null(net_find_name(net, "secg-n3"));
	assert_null(net_find_name(net, "secg-a"));
	lab_run("for i in 1 2 4 5 6 7 8 9; do ip link del secg-n$i; done");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, lab_make_links, lab_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_present), TEST(test_kinds),   TEST(test_changes),
		TEST(test_removal), TEST(test_overrun),
	};

	return cmocka_run_group_tests(tests, lab_open, NULL);
}
