/* SPDX-License-Identifier: MIT */
#include "rules/timeline/flow.h"

#include <errno.h>
#include <stdlib.h>

#include "rules/support/sort.h"
#include "rules/timeline/timeline_build.h"

/* Accesses to one start offset of one range, in time order. */
struct place {
	uint64_t offset;
	uint64_t reach; /* greatest end of this place's and all earlier places' accesses */
	uint32_t range;
	uint32_t first;
	uint32_t count;
};

struct tfs_flow {
	struct tfs_access *accesses; /* by range, offset, time */
	uint32_t *earlier_write; /* by access: + 1 of the latest earlier one of its place that may
				    write */
	struct place *places;
	uint32_t *first_place; /* by range; one more at the end */
	size_t count;
	size_t place_count;
	bool broken; /* there was no memory for it */
};

void tfs_flow_destroy(struct tfs_flow *flow)
{
	if (!flow)
		return;
	free(flow->accesses);
	free(flow->earlier_write);
	free(flow->places);
	free(flow->first_place);
	free(flow);
}

/* Calls that do not touch the contents of the memory they name. */
static bool manages(uint16_t family)
{
	switch (family) {
	case TFS_FAMILY_alloc:
	case TFS_FAMILY_alloc_async:
	case TFS_FAMILY_free:
	case TFS_FAMILY_free_async:
	case TFS_FAMILY_host_alloc:
	case TFS_FAMILY_host_free:
	case TFS_FAMILY_host_register:
	case TFS_FAMILY_host_unregister:
		return true;
	default:
		return false;
	}
}

static bool make_access(const struct tfs_timeline *timeline, uint32_t nth,
	const struct tfs_operand *operand, struct tfs_access *out)
{
	const struct tfs_allocation *range;
	uint64_t left;

	if (operand->range == TFS_NONE ||
		!(operand->role & (TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_MAYBE)))
		return false;
	range = &timeline->ranges[operand->range];
	left = range->address + range->bytes - operand->address;
	*out = (struct tfs_access){.offset = operand->address - range->address,
		.bytes = operand->bytes && operand->bytes < left ? operand->bytes : left,
		.start_ns = timeline->calls[nth].start_ns,
		.range = operand->range,
		.call = nth,
		.role = operand->role,
		.bounded = operand->bytes != 0};
	return true;
}

static size_t collect(const struct tfs_timeline *timeline, struct tfs_access *out)
{
	size_t count = 0;

	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		struct tfs_operand operand;
		unsigned cursor = 0;

		if (manages(call->family))
			continue;
		while (tfs_operand_next(timeline, call, &cursor, &operand))
			count += make_access(timeline, i, &operand, &out[count]);
	}
	return count;
}

/* Sorts by time, then offset, then range; each sort keeps the order of the one before. */
static int sort_accesses(struct tfs_access *accesses, size_t count)
{
	struct tfs_key *keys = malloc((count + 1) * sizeof(*keys));
	struct tfs_access *sorted = malloc((count + 1) * sizeof(*sorted));
	int err = !keys || !sorted ? -ENOMEM : 0;

	for (size_t i = 0; i < count && !err; i++)
		keys[i] = (struct tfs_key){accesses[i].start_ns, (uint32_t)i};
	if (!err)
		err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++)
		keys[i].key = accesses[keys[i].value].offset;
	if (!err)
		err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++)
		keys[i].key = accesses[keys[i].value].range;
	if (!err)
		err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++)
		sorted[i] = accesses[keys[i].value];
	for (size_t i = 0; i < count && !err; i++)
		accesses[i] = sorted[i];
	free(sorted);
	free(keys);
	return err;
}

static int index_places(const struct tfs_timeline *timeline, struct tfs_flow *flow)
{
	struct place *place = NULL;
	uint32_t range = 0;

	uint32_t write = 0;

	flow->earlier_write = calloc(flow->count + 1, sizeof(*flow->earlier_write));
	flow->places = calloc(flow->count + 1, sizeof(*flow->places));
	flow->first_place = calloc(timeline->range_count + 1u, sizeof(*flow->first_place));
	if (!flow->earlier_write || !flow->places || !flow->first_place)
		return -ENOMEM;
	for (size_t i = 0; i < flow->count; i++) {
		const struct tfs_access *access = &flow->accesses[i];

		if (!place || place->range != access->range || place->offset != access->offset) {
			bool same = place && place->range == access->range;

			while (range <= access->range)
				flow->first_place[range++] = (uint32_t)flow->place_count;
			place = &flow->places[flow->place_count++];
			place->offset = access->offset;
			place->range = access->range;
			place->first = (uint32_t)i;
			place->reach = same ? place[-1].reach : 0;
			write = 0;
		}
		flow->earlier_write[i] = write;
		if (access->role & (TFS_ROLE_WRITE | TFS_ROLE_MAYBE))
			write = (uint32_t)i + 1;
		place->count++;
		if (access->offset + access->bytes > place->reach)
			place->reach = access->offset + access->bytes;
	}
	while (range <= timeline->range_count)
		flow->first_place[range++] = (uint32_t)flow->place_count;
	return 0;
}

static struct tfs_flow *flow_of(const struct tfs_timeline *timeline)
{
	struct tfs_flow *flow = timeline->private->flow;
	size_t room = tfs_trace_summary(timeline->trace)->operands + 1;

	if (flow)
		return flow->broken ? NULL : flow;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	timeline->private->flow = flow;
	flow->accesses = malloc(room * sizeof(*flow->accesses));
	flow->broken = !flow->accesses;
	if (!flow->broken) {
		flow->count = collect(timeline, flow->accesses);
		flow->broken =
			sort_accesses(flow->accesses, flow->count) || index_places(timeline, flow);
	}
	return flow->broken ? NULL : flow;
}

static bool fits(const struct tfs_access *access, uint64_t offset, uint64_t bytes, uint32_t roles)
{
	return access->role & roles && access->offset < offset + bytes &&
	       offset < access->offset + access->bytes;
}

/* The first access of a place that comes at or after the call. */
static uint32_t first_from(const struct tfs_flow *flow, const struct place *place, uint64_t ns)
{
	uint32_t low = place->first, high = low + place->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (flow->accesses[middle].start_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct tfs_access *before_in(const struct tfs_flow *flow, const struct place *place,
	uint64_t ns, uint64_t offset, uint64_t bytes, uint32_t roles)
{
	uint32_t i = first_from(flow, place, ns); /* + 1 */

	while (i > place->first) {
		if (fits(&flow->accesses[i - 1], offset, bytes, roles))
			return &flow->accesses[i - 1];
		i = roles & TFS_ROLE_READ ? i - 1 : flow->earlier_write[i - 1];
	}
	return NULL;
}

static const struct tfs_access *after_in(const struct tfs_flow *flow, const struct place *place,
	uint64_t ns, uint64_t offset, uint64_t bytes, uint32_t roles)
{
	for (uint32_t i = first_from(flow, place, ns + 1); i < place->first + place->count; i++)
		if (fits(&flow->accesses[i], offset, bytes, roles))
			return &flow->accesses[i];
	return NULL;
}

/* One past the last place of a range that starts below an offset. */
static uint32_t places_below(const struct tfs_flow *flow, uint32_t range, uint64_t offset)
{
	uint32_t low = flow->first_place[range], high = flow->first_place[range + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (flow->places[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct tfs_access *search(const struct tfs_timeline *timeline, uint32_t call,
	uint32_t range, uint64_t offset, uint64_t bytes, uint32_t roles, bool forward)
{
	const struct tfs_flow *flow = flow_of(timeline);
	const struct tfs_access *best = NULL;
	uint32_t window;
	uint64_t ns;

	if (!flow || call >= timeline->call_count || range >= timeline->range_count)
		return NULL;
	ns = timeline->calls[call].start_ns;
	for (uint32_t i = places_below(flow, range, offset + bytes);
		i-- > flow->first_place[range];) {
		const struct place *place = &flow->places[i];
		const struct tfs_access *found;

		if (place->reach <= offset)
			break;
		found = forward ? after_in(flow, place, ns, offset, bytes, roles)
				: before_in(flow, place, ns, offset, bytes, roles);
		if (found && (!best || (forward ? found->start_ns < best->start_ns
						: found->start_ns > best->start_ns)))
			best = found;
	}
	window = tfs_timeline_window_at(timeline, ns);
	if (!best || window == TFS_NONE ||
		tfs_timeline_window_at(timeline, best->start_ns) != window)
		return NULL;
	return best;
}

const struct tfs_access *tfs_flow_before(const struct tfs_timeline *timeline, uint32_t call,
	uint32_t range, uint64_t offset, uint64_t bytes, uint32_t roles)
{
	return search(timeline, call, range, offset, bytes, roles, false);
}

const struct tfs_access *tfs_flow_after(const struct tfs_timeline *timeline, uint32_t call,
	uint32_t range, uint64_t offset, uint64_t bytes, uint32_t roles)
{
	return search(timeline, call, range, offset, bytes, roles, true);
}

static uint64_t extent(const struct tfs_timeline *timeline, const struct tfs_operand *operand)
{
	const struct tfs_allocation *range = &timeline->ranges[operand->range];
	uint64_t left = range->address + range->bytes - operand->address;

	return operand->bytes && operand->bytes < left ? operand->bytes : left;
}

const struct tfs_access *tfs_flow_writer(
	const struct tfs_timeline *timeline, uint32_t call, const struct tfs_operand *operand)
{
	if (operand->range >= timeline->range_count)
		return NULL;
	return tfs_flow_before(timeline, call, operand->range,
		operand->address - timeline->ranges[operand->range].address,
		extent(timeline, operand), TFS_ROLE_WRITE | TFS_ROLE_MAYBE);
}

const struct tfs_access *tfs_flow_next_use(
	const struct tfs_timeline *timeline, uint32_t call, const struct tfs_operand *operand)
{
	if (operand->range >= timeline->range_count)
		return NULL;
	return tfs_flow_after(timeline, call, operand->range,
		operand->address - timeline->ranges[operand->range].address,
		extent(timeline, operand), TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_MAYBE);
}
