/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured packets, one after the other: the classic pcap format, both byte orders, microseconds and
 * nanoseconds (draft-ietf-opsawg-pcap). Links: Ethernet, and raw IP for ports without Ethernet header.
 */
#ifndef CLI_PCAP_H
#define CLI_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PCAP_MAX_BYTES    262144u /* of one packet: what capture programs take at most */
#define PCAP_MESSAGE_SIZE 160

struct pcap {
	FILE *file; /* lent */
	bool is_swapped;
	bool is_raw;     /* packets begin with the IP header */
	uint64_t number; /* of the last packet, from 1 */
	uint8_t *bytes;  /* of the last packet */
	size_t size;     /* captured */
	size_t length;   /* on the wire: not less than size */
};

/* Reads the head of the file. -EINVAL: `message` says what is wrong and what to type. */
int pcap_open(struct pcap *ret_pcap, FILE *file, char message[PCAP_MESSAGE_SIZE]);
/* 1: a packet; 0: the end; -EINVAL: the file is cut off or damaged there, `message` says how. */
int pcap_next(struct pcap *pcap, char message[PCAP_MESSAGE_SIZE]);
void pcap_fini(struct pcap *pcap);

#endif
