/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running out of memory at every single allocation of reading, parsing, normalising, merging and
 * comparing: -ENOMEM or NULL each time, nothing lost, and the right result once all succeed. The
 * program's own allocator counts and fails; a sanitizer brings its own, so there the test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "memory_lab.h"
#include "model/document.h"

static const char before_text[] =
	"{\"services\":{\"s\":[{\"protocol\":[\"tcp\",\"ping\"]},{\"protocol\":\"udp\",\"dst_ports\":[1,\"3-4\"]}]},"
	"\"macip\":{\"m\":{\"entries\":[{\"mac\":\"52:54:00:00:00:01\",\"prefixes\":[\"10.0.0.0/8\"]},"
	"{\"mac\":\"52:54:00:00:00:02\"}],\"allow_ra\":true}},"
	"\"security_groups\":{\"g\":{\"stateful\":false,\"rules\":["
	"{\"id\":\"a\",\"direction\":\"to\",\"remote\":[\"@g\",\"@b\"],\"service\":\"ssh\"},"
	"{\"id\":\"b\",\"direction\":\"from\",\"protocol\":\"tcp\",\"dst_ports\":9}]}},"
	"\"groups\":{\"l\":{\"ports\":\"p\",\"select\":{\"x\":\"y\",\"z\":\"z\"},\"groups\":\"g\"},\"a\":{\"prefixes\":[\"10.0.0.0/8\",\"::/0\"],\"except\":\"10.0.0.1\"},\"b\":{\"groups\":[\"a\"]}},"
	"\"acls\":{\"w\":{\"labels\":{\"x\":\"y\"},\"rules\":["
	"{\"id\":\"a\",\"action\":\"allow\",\"src\":\"@a\",\"dst\":[\"@b\",\"192.0.2.1\"],\"service\":[\"s\",\"dns\"]},"
	"{\"id\":\"b\",\"action\":\"drop\",\"protocol\":[\"icmp\",\"icmpv6\"],\"icmp_type\":\"echo-request\"},"
	"{\"id\":\"c\",\"action\":\"drop\",\"protocol\":\"tcp\",\"src_ports\":5,\"dst_ports\":[7,\"9-10\",8]},"
	"{\"id\":\"d\",\"action\":\"allow\",\"enabled\":false,\"vlan\":[1,2],\"src_mac\":\"52:54:00:00:00:01\","
	"\"dst_mac\":[\"52:54:00:00:00:02\"],\"protocol\":\"tcp\",\"tcp_flags\":\"syn/syn\",\"dscp\":[\"ef\",3],"
	"\"fragment\":false,\"timeout\":5,\"log\":{\"rate\":3,\"what\":\"all\"},\"sample\":{\"new\":2}},"
	"{\"id\":\"e\",\"action\":\"reject\",\"ethertypes\":[\"llc\",\"0x88cc\"],\"log\":true}],\"audit\":true}},"
	"\"ports\":{\"p\":{\"interface\":\"e\",\"from\":\"w\",\"to\":[],\"default\":{\"to\":{\"action\":\"allow\",\"log\":true}},"
	"\"labels\":{\"x\":\"y\",\"z\":\"z\"},\"groups\":\"b\",\"security_groups\":[\"g\"],\"macip\":\"m\",\"domain\":\"d\","
	"\"addresses\":[{\"mac\":\"52:54:00:00:00:03\",\"ips\":[\"10.0.0.5\",\"10.0.0.6\",\"2001:db8::1\"]}],"
	"\"limits\":{\"sessions\":5},\"pickup_s\":1,\"fail_mode\":\"open\",\"audit\":true,"
	"\"infrastructure\":[\"arp\"],\"timeouts\":{\"icmp\":3}}}}";
static const char patch_text[] =
	"{\"groups\":{\"c\":{\"prefixes\":\"192.0.2.7\"}},\"ports\":{\"p\":{\"hook\":\"tc\",\"to\":[\"w\"]}}}";

/* One pass over everything; 0, or -ENOMEM from wherever it ran out. */
static int pass(struct errors *errors, size_t *ret_changes)
{
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(config_freep) struct config *merged_config = NULL;
	json_auto_t *document = NULL;
	json_auto_t *patch = NULL;
	json_auto_t *normal = NULL;
	json_auto_t *merged = NULL;
	json_auto_t *merged_normal = NULL;
	json_auto_t *without = NULL;
	json_auto_t *changes = NULL;
	int r;

	r = document_read(&document, before_text, strlen(before_text), errors);
	if (!r)
		r = document_read(&patch, patch_text, strlen(patch_text), errors);
	if (!r)
		r = config_parse(&config, document, NULL, errors);
	if (r < 0)
		return r;
	normal = config_document(config);
	if (!normal)
		return -ENOMEM;
	merged = document_merge(normal, patch);
	if (!merged)
		return -ENOMEM;
	r = config_parse(&merged_config, merged, NULL, errors);
	if (r < 0)
		return r;
	merged_normal = config_document(merged_config);
	if (!merged_normal)
		return -ENOMEM;
	without = document_with(merged_normal, OBJECT_GROUP, "c", NULL);
	if (!without)
		return -ENOMEM;
	changes = document_diff(normal, without);
	if (!changes)
		return -ENOMEM;
	*ret_changes = json_array_size(changes);
	return 0;
}

static const char wrong_text[] =
	"{\"groups\":{\"a\":{\"groups\":\"b\"},\"b\":{\"groups\":\"a\"}},"
	"\"acls\":{\"w\":{\"rules\":[{\"id\":5,\"action\":\"x\",\"src\":\"y\",\"z\":1}]}}}";

static int pass_wrong(struct errors *errors, size_t *ret_changes)
{
	json_auto_t *document = NULL;
	struct config *config = NULL;
	int r = document_read(&document, wrong_text, strlen(wrong_text), errors);

	if (!r)
		r = config_parse(&config, document, NULL, errors);
	assert_null(config);
	*ret_changes = errors->count;
	return r;
}

static void test_memory_runs_out(void **state)
{
	(void)state;
	exhaust(pass, 0, 2);
	exhaust(pass_wrong, -EINVAL, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
