/* SPDX-License-Identifier: Apache-2.0 */
/* The ring buffer read. */
#include "dp/events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "dp/internal.h"
#include "secg.skel.h"

struct drain {
	struct ring_buffer *ring;
	/* while dp_events_drain runs */
	unsigned int budget, taken;
	void (*each)(const struct secg_event *event, void *data);
	void *data;
};

static size_t size_of(const struct secg_event *event)
{
	return event->kind == SECG_EVENT_REJECT ? sizeof(struct secg_event_reject)
						: sizeof(struct secg_event);
}

/* The record counts as read whatever is returned; a negative value ends the reading. */
static int take(void *data, void *record, size_t size)
{
	struct drain *drain = data;
	const struct secg_event *event = record;

	if (size >= sizeof(*event) && size >= size_of(event))
		drain->each(event, drain->data);
	return ++drain->taken < drain->budget ? 0 : -ECANCELED;
}

int drain_new(struct drain **ret_drain, const struct dp *dp)
{
	struct drain *drain = calloc(1, sizeof(*drain));

	if (!drain)
		return -ENOMEM;
	drain->ring = ring_buffer__new(bpf_map__fd(dp->skel->maps.secg_events), take, drain, NULL);
	if (!drain->ring) {
		int r = -errno;

		free(drain);
		return r;
	}
	*ret_drain = drain;
	return 0;
}

void drain_free(struct drain *drain)
{
	ring_buffer__free(drain->ring);
	free(drain);
}

int dp_events_fd(const struct dp *dp)
{
	return ring_buffer__epoll_fd(dp->drain->ring);
}

int dp_events_drain(struct dp *dp, unsigned int budget,
		    void (*each)(const struct secg_event *event, void *data), void *data)
{
	struct drain *drain = dp->drain;
	int r;

	drain->budget = budget;
	drain->taken = 0;
	drain->each = each;
	drain->data = data;
	r = ring_buffer__consume(drain->ring);
	return r < 0 && r != -ECANCELED ? r : (int)drain->taken;
}
