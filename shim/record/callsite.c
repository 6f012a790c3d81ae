/* SPDX-License-Identifier: MIT */
#include "shim/record/callsite.h"

#include <errno.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/heap.h"
#include "shim/record/callsite_python.h"
#include "shim/record/hook.h"
#include "shim/record/intern.h"
#include "shim/record/listeners.h"
#include "shim/record/recorder.h"
#include "shim/record/unwind.h"
#include "shim/resolve/lookup_versions.h"

#define SITES 32768u
#define FARTHEST (8u << 20) /* stack slots beyond this are not noted */

/* One after another: a site of its own page would cost a page fault each. */
struct kept {
	_Atomic uint32_t used; /* words of `frames` */
	struct {
		_Atomic uint32_t count; /* stored last */
		uint32_t first;
	} sites[SITES];
	uint64_t frames[SITES * TFS_MAX_FRAMES];
};

static _Atomic uint64_t sites[SITES];
static _Atomic(struct kept *) all_kept;

static struct kept *kept_frames(void)
{
	struct kept *kept = atomic_load(&all_kept);

	if (kept)
		return kept;
	struct kept *fresh = tfs_heap_alloc(sizeof(*fresh));
	if (!fresh)
		return NULL;
	if (atomic_compare_exchange_strong(&all_kept, &kept, fresh))
		return fresh;
	tfs_heap_free(fresh, sizeof(*fresh));
	return kept;
}

uint32_t tfs_callsite_frames(uint32_t site, const uint64_t **out_frames)
{
	struct kept *kept = atomic_load(&all_kept);

	if (!kept || site == 0 || site > SITES)
		return 0;
	const uint32_t count =
		atomic_load_explicit(&kept->sites[site - 1].count, memory_order_acquire);
	/* Before its count is there, where they are is not either. */
	*out_frames = count ? &kept->frames[kept->sites[site - 1].first] : kept->frames;
	return count;
}

static void keep(uint32_t site, const uint64_t *frames, uint32_t count)
{
	struct kept *kept = kept_frames();

	if (!kept)
		return;
	const uint32_t first = atomic_fetch_add(&kept->used, count);
	memcpy(&kept->frames[first], frames, count * sizeof(*frames));
	kept->sites[site - 1].first = first;
	atomic_store_explicit(&kept->sites[site - 1].count, count, memory_order_release);
}

static uint32_t intern_site(const uint64_t *frames, uint32_t count)
{
	struct {
		struct tfs_site_record head;
		uint64_t frames[TFS_MAX_FRAMES];
	} definition;
	const uint64_t hash = tfs_intern_hash(frames, count * sizeof(*frames));
	bool fresh;
	const uint32_t site = tfs_intern_claim(sites, SITES, hash, &fresh);

	if (site == 0)
		tfs_recorder_lost(TFS_LOSS_sites_full, 1);
	if (site == 0 || !fresh)
		return site;
	definition.head = (struct tfs_site_record){.frames = (uint16_t)count, .id = site};
	memcpy(definition.frames, frames, count * sizeof(*frames));
	tfs_recorder_put(
		&definition, TFS_RECORD_site, sizeof(definition.head) + count * sizeof(*frames));
	keep(site, frames, count);
	return site;
}

/* C frames that Python code called, for the sites of its lines: a number that no record explains,
 * and of which the frames are kept. 0 = no room. */
static uint32_t intern_own(const uint64_t *frames, uint32_t count)
{
	const uint64_t hash = ~tfs_intern_hash(frames, count * sizeof(*frames)) | 1;
	bool fresh;
	const uint32_t own = tfs_intern_claim(sites, SITES, hash, &fresh);

	if (own != 0 && fresh)
		keep(own, frames, count);
	return own;
}

/* Notes where the callers' return addresses lie, for the next hit to be verified. */
static void note_checks(
	struct tfs_cache_entry *entry, const struct tfs_stack_frame *frames, uint32_t count)
{
	for (uint32_t i = 1; i < count && entry->checks < TFS_CHECKED_FRAMES; i++) {
		const uint64_t slot = frames[i].pointer - sizeof(uint64_t);

		if (frames[i].pointer == 0 || slot <= entry->frame ||
			slot - entry->frame > FARTHEST ||
			*(const uint64_t *)slot != frames[i].address)
			continue;
		entry->offsets[entry->checks] = (uint32_t)(slot - entry->frame);
		entry->values[entry->checks++] = frames[i].address;
	}
}

static void tell_versions(void)
{
	tfs_lookup_recheck();
	const uint32_t fresh = tfs_lookup_came_twice();
	for (uint32_t i = 1; i < TFS_LOOKUP_LIBRARIES; i++)
		if ((fresh >> i & 1) != 0)
			tfs_recorder_fact(TFS_FACT_several_versions, tfs_lookup_file(i), i, 0);
}

/* Calls of the runtime's that cannot succeed without the driver. */
static const uint64_t needs_driver =
	UINT64_C(1) << TFS_FAMILY_alloc | UINT64_C(1) << TFS_FAMILY_free |
	UINT64_C(1) << TFS_FAMILY_host_alloc | UINT64_C(1) << TFS_FAMILY_copy |
	UINT64_C(1) << TFS_FAMILY_copy_async | UINT64_C(1) << TFS_FAMILY_set |
	UINT64_C(1) << TFS_FAMILY_set_async | UINT64_C(1) << TFS_FAMILY_launch |
	UINT64_C(1) << TFS_FAMILY_device_sync | UINT64_C(1) << TFS_FAMILY_stream_sync |
	UINT64_C(1) << TFS_FAMILY_stream_create | UINT64_C(1) << TFS_FAMILY_event_create;

void tfs_callsite_look_back(const struct tfs_thread *thread)
{
	const struct tfs_cache_entry *latest = thread ? thread->latest : NULL;

	if (!latest || !latest->aggregate)
		return;
	if (latest->function->library == TFS_LIBRARY_cudart &&
		latest->aggregate->count > latest->aggregate->failures &&
		(needs_driver >> latest->function->family & 1) != 0)
		tfs_lookup_called(TFS_LIBRARY_cuda);
}

/* What the entry stood for so far may be asked about once more. */
static void begin_entry(struct tfs_thread *thread, struct tfs_cache_entry *entry, uint64_t address,
	uint64_t frame, struct tfs_function *function)
{
	if (thread->latest == entry) {
		thread->evicted = *entry;
		thread->latest = &thread->evicted;
	}
	memset(entry, 0, sizeof(*entry));
	entry->address = address;
	entry->frame = frame;
	entry->function = function;
}

static void end_entry(struct tfs_thread *thread, struct tfs_cache_entry *entry,
	const uint64_t *frames, uint32_t count)
{
	const uint16_t id = tfs_hook_id(entry->function);

	entry->site = intern_site(frames, count);
	entry->head = TFS_RECORD_call | (uint64_t)id << 16 | (uint64_t)entry->site << 32;
	if (!__atomic_load_n(&entry->function->aside, __ATOMIC_RELAXED))
		entry->flags |= tfs_listeners.site_flags(entry->site);
	entry->aggregate = tfs_recorder_aggregate(thread, entry->site, id);
	if (thread->latest)
		tfs_listeners.first_call_done();
}

/* Returns how many; none without an unwinder. */
static uint32_t unwind(uint64_t address, uint32_t checks, struct tfs_stack_frame *out_stack,
	uint32_t most, uint64_t *out_frames)
{
	const uint32_t count =
		tfs_options.unwind ? tfs_unwind(address, checks, out_stack, most) : 0;

	for (uint32_t i = 0; i < count; i++)
		out_frames[i] = out_stack[i].address;
	return count;
}

bool tfs_callsite_resolve(struct tfs_thread *thread, struct tfs_cache_entry *entry,
	uint64_t address, uint64_t frame, struct tfs_function *function)
{
	struct tfs_stack_frame stack[TFS_MAX_FRAMES];
	uint64_t frames[TFS_MAX_FRAMES];
	const int saved = errno;

	if (tfs_listeners.forget_parents())
		return false;
	/* Asked before: an unwinder that came in between was not asked for this stack. */
	const bool settled = tfs_unwind_settled();
	uint32_t count = unwind(address, TFS_CHECKED_FRAMES + 1, stack, TFS_MAX_FRAMES, frames);

	tfs_hook_seen(function);
	tfs_lookup_called((enum tfs_library)function->library);
	tfs_callsite_look_back(thread);
	tell_versions();
	begin_entry(thread, entry, address, frame, function);
	note_checks(entry, stack, count);
	const uint32_t own = tfs_callsite_until_python(frames, count);
	if (own < count) {
		entry->flags = TFS_SITE_PYTHON;
		entry->head = tfs_intern_hash(frames, own * sizeof(*frames));
		entry->site = intern_own(frames, own);
		errno = saved;
		return true;
	}
	if (count == 0) {
		frames[0] = address;
		count = 1;
		/* Not lost while the unwinder is still being loaded: the next call here tries
		 * again. */
		if (tfs_options.unwind && !settled)
			entry->flags |= TFS_SITE_SHORT;
		else
			tfs_recorder_lost(TFS_LOSS_stacks_short, tfs_options.unwind);
	}
	end_entry(thread, entry, frames, count);
	errno = saved;
	return true;
}

struct tfs_cache_entry *tfs_callsite_search(
	struct tfs_thread *thread, uint64_t address, uint64_t frame, struct tfs_function *function)
{
	struct tfs_cache_entry *room,
		*found = tfs_callsite_cached(&thread->cache, address, frame, function, NULL, &room);

	if (found)
		return found;
	return tfs_callsite_resolve(thread, room, address, frame, function) ? room : NULL;
}

/* The C frames that Python code called, as they were when the entry was made. */
static uint32_t list_own(const struct tfs_cache_entry *entry, uint64_t *out_frames)
{
	const uint64_t *kept;
	const uint32_t count = tfs_callsite_frames(entry->site, &kept);

	if (count > 0)
		memcpy(out_frames, kept, count * sizeof(*kept));
	else
		out_frames[0] = entry->address;
	return count > 0 ? count : 1;
}

/* The C frames that Python code called, and its own; without any, the whole C stack. */
static uint32_t list_frames(struct tfs_thread *thread, const struct tfs_cache_entry *entry,
	const struct tfs_python_stack *python, uint64_t *out_frames)
{
	struct tfs_stack_frame stack[TFS_MAX_FRAMES];

	if (python->count == 0) {
		const uint32_t count = unwind(entry->address, 0, stack, TFS_MAX_FRAMES, out_frames);

		if (count == 0)
			out_frames[0] = entry->address;
		return count > 0 ? count : 1;
	}
	const uint32_t own = list_own(entry, out_frames);
	const uint32_t room = TFS_MAX_FRAMES - python->count;
	const uint32_t count = own < room ? own : room;
	return count + tfs_callsite_python_frames(
			       &thread->python, python, out_frames + count, TFS_MAX_FRAMES - count);
}

struct tfs_cache_entry *tfs_callsite_python(
	struct tfs_thread *thread, const struct tfs_cache_entry *entry)
{
	const uint64_t address = entry->address;
	struct tfs_function *function = entry->function;
	uint64_t frames[TFS_MAX_FRAMES];
	struct tfs_python_stack python;

	tfs_callsite_python_stack(&thread->python, &python);
	/* In the place of a stack pointer, which never has the top bit. */
	const uint64_t key = (entry->head ^ python.hash) | UINT64_C(1) << 63;
	struct tfs_cache_entry *room,
		*found = tfs_callsite_cached(&thread->cache, address, key, function, entry, &room);

	if (found)
		return found;
	begin_entry(thread, room, address, key, function);
	end_entry(thread, room, frames, list_frames(thread, entry, &python, frames));
	return room;
}

uint32_t tfs_callsite_single(uint64_t address)
{
	return intern_site(&address, 1);
}

bool tfs_callsite_can_unwind(void)
{
	return tfs_unwind_ready();
}

void tfs_callsite_load(void)
{
	if (tfs_options.unwind)
		tfs_unwind_load();
}
