/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The walk over IPv6 extension headers, for a packet and for what an ICMP error carries. Needs of the
 * hook: load_bytes(), `hook_context` (the type of its context), HOOK(name).
 */
#ifndef SECG_BPF_EXTENSIONS_H
#define SECG_BPF_EXTENSIONS_H

#include <bpf/bpf_endian.h>

#include "scratch.h"

#define PARSE_MAX_EXTENSIONS 8

__inline int is_extension(__u8 type)
{
	switch (type) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_FRAGMENT:
	case IPPROTO_AH:
	case IPPROTO_DSTOPTS:
	case PROTO_MOBILITY:
	case PROTO_HIP:
	case PROTO_SHIM6:
		return 1;
	default:
		return 0;
	}
}

/* Nothing follows a message of these (RFC 6275 §6.1.1, RFC 7401 §5.1, RFC 5533 §5.1): it is the protocol. */
__inline int is_message(__u8 type, __u8 next)
{
	return next == IPPROTO_NONE &&
	       (type == PROTO_MOBILITY || type == PROTO_HIP || type == PROTO_SHIM6);
}

/* Bytes of an extension, given its length field (RFC 8200 §4, RFC 4302 §2.2). */
__inline __u32 extension_size(__u8 type, __u8 length)
{
	if (type == IPPROTO_FRAGMENT)
		return 8;
	if (type == IPPROTO_AH)
		return (length + 2) * 4;
	return (length + 1) * 8;
}

/* Reads the extension at e->at and moves on; the reason where it cannot. */
__inline __u32 extension_step(struct hook_context *ctx, struct extensions *e, __u32 end)
{
	__u32 cut = e->fragment ? SECG_REASON_FRAG_TINY : SECG_REASON_MALFORMED;
	__u32 at = e->at;
	__u8 type = e->type;

	if (at > 0x7fff || at + 8 > end || load_bytes(ctx, at, e->header, 8))
		return cut;
	if (type == IPPROTO_FRAGMENT) {
		__u16 fragment = e->header[2] << 8 | e->header[3];

		/* Neither an offset nor more to come: an atomic fragment is whole (RFC 6946). */
		if (fragment & 0xfff9) {
			e->fragment = fragment & 0xfff8 ? FRAGMENT_LATER : FRAGMENT_FIRST;
			e->fragment_edge = fragment & 0xfff8 ? fragment & 0xfff8 : end - at - 8;
			__builtin_memcpy(&e->fragment_id, e->header + 4, 4);
		}
	}
	at += extension_size(type, e->header[1]);
	if (at > end)
		return cut;
	e->is_last = is_message(type, e->header[0]);
	if (e->is_last)
		return SECG_REASON_NONE;
	e->at = at;
	e->type = e->header[0];
	return SECG_REASON_NONE;
}

/*
 * Walks from the extension `type` at offset `at` to the first header that is none, or to a fragment
 * header that is not the first of its datagram. `end` is where the IP packet ends. The result is in the
 * scratch; returns its reason.
 */
__attribute__((noinline)) int HOOK(extensions_walk)(struct hook_context *ctx, __u32 type, __u32 at,
						    __u32 end)
{
	struct scratch *scratch = scratch_get();
	struct extensions *e;

	if (!scratch)
		return SECG_REASON_MALFORMED;
	e = &scratch->ext;
	e->at = at;
	e->type = type;
	e->fragment = FRAGMENT_NONE;
	e->fragment_id = 0;
	e->fragment_edge = 0;
	e->is_last = 0;
	for (__u32 i = 0; i < PARSE_MAX_EXTENSIONS; i++) {
		e->reason = extension_step(ctx, e, end);
		if (e->reason || e->is_last || e->fragment == FRAGMENT_LATER ||
		    !is_extension(e->type))
			return e->reason;
	}
	e->reason = SECG_REASON_EXT_DEPTH;
	return e->reason;
}

#endif
