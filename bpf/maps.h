/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The maps, shared by all programs: weak, so that the objects of both hooks link into one. Sizes that
 * depend on the host are set by the daemon before it loads. docs/abi.md describes each.
 */
#ifndef SECG_BPF_MAPS_H
#define SECG_BPF_MAPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <secg/event.h>
#include <secg/flow.h>
#include <secg/policy.h>

#define __weak_map __attribute__((weak))

/* Table memory: everything that a generation says, in lines. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, struct secg_line);
} secg_table __weak_map SEC(".maps");

/* enum secg_selector_item. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SECG_SELECTOR_ITEMS);
	__type(key, __u32);
	__type(value, __u64);
} secg_selector __weak_map SEC(".maps");

/* Interface to port: slot ifindex % SECG_IFINDEX_SLOTS, and the hash for a taken slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SECG_IFINDEX_SLOTS);
	__type(key, __u32);
	__type(value, struct secg_ifindex);
} secg_ifindex __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SECG_MAX_PORTS);
	__type(key, __u32);
	__type(value, struct secg_ifindex);
} secg_ifindex_far __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SECG_MAX_PORTS);
	__type(key, __u32);
	__type(value, struct secg_port_counters);
} secg_port_counters __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SECG_MAX_COUNTERS);
	__type(key, __u32);
	__type(value, struct secg_counter);
} secg_rule_counters __weak_map SEC(".maps");

/* Sessions: see secg/flow.h. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct secg_flow_key);
	__type(value, struct secg_flow);
} secg_new __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 262144);
	__type(key, __u32);
	__type(value, struct secg_slot);
} secg_established __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct secg_flow_key);
	__type(value, struct secg_flow);
} secg_overflow __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct secg_fragment_key);
	__type(value, struct secg_fragment);
} secg_fragments __weak_map SEC(".maps");

/* Records for the daemon, which sets the size. What found no room is counted by kind. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} secg_events __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SECG_EVENT_KINDS);
	__type(key, __u32);
	__type(value, __u64);
} secg_events_lost __weak_map SEC(".maps");

/* What is told, and how often (secg/event.h). The daemon makes the entries. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SECG_MAX_COUNTERS + 4 * SECG_MAX_PORTS); /* every rule, every port */
	__type(key, __u32);
	__type(value, struct secg_watch);
} secg_watch __weak_map SEC(".maps");

/* Sessions of ports with limits, by port and by source: secg/flow.h. The daemon counts them anew. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SECG_MAX_PORTS);
	__type(key, __u32);
	__type(value, struct secg_usage);
} secg_usage __weak_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct secg_source_key);
	__type(value, __u32);
} secg_sources __weak_map SEC(".maps");

/* No program looks in here: updating it makes the daemon wait until every running program has ended. */
struct secg_grace_inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct secg_grace_inner);
} secg_grace __weak_map SEC(".maps");

#endif
