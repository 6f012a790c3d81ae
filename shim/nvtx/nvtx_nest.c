/* SPDX-License-Identifier: MIT */
#include "shim/nvtx/nvtx_nest.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/heap.h"
#include "shim/base/spin.h"
#include "shim/nvtx/nvtx_names.h"
#include "shim/nvtx/nvtx_steps.h"
#include "shim/record/recorder.h"
#include "shim/steps/windows.h"

#define NESTED 64u   /* pushed ranges of a thread that are timed; deeper ones are only counted */
#define STARTED 512u /* ranges that one call opens and another one closes */

struct tfs_nvtx_range {
	uint64_t ticks;
	uint32_t name;
	uint16_t domain;
	uint16_t level;
};

/* A thread's open ranges. */
struct nest {
	struct nest *next_idle;
	uint32_t tid;
	uint32_t count;
	struct tfs_nvtx_range ranges[NESTED];
	uint16_t depths[TFS_NVTX_DOMAINS];
};

static __thread struct nest *own_nest __attribute__((tls_model("initial-exec")));
static pthread_key_t nest_key;
static pthread_once_t nest_key_made = PTHREAD_ONCE_INIT;
static bool have_nest_key;
static struct tfs_spin idle_lock;
static struct nest *idle_nests;

static struct tfs_spin started_lock;
static struct {
	uint64_t id;
	struct tfs_nvtx_range range;
} started[STARTED];
static uint64_t last_id;

/* By domain; 0 is the default one. */
static _Atomic uint32_t domain_names[TFS_NVTX_DOMAINS];

static void retire(void *argument)
{
	struct nest *nest = argument;

	own_nest = NULL;
	tfs_spin_lock(&idle_lock);
	nest->next_idle = idle_nests;
	idle_nests = nest;
	tfs_spin_unlock(&idle_lock);
}

static void make_key(void)
{
	have_nest_key = pthread_key_create(&nest_key, retire) == 0;
}

static struct nest *make_nest(void)
{
	const int saved = errno;

	pthread_once(&nest_key_made, make_key);
	tfs_spin_lock(&idle_lock);
	struct nest *nest = idle_nests;
	if (nest)
		idle_nests = nest->next_idle;
	tfs_spin_unlock(&idle_lock);
	if (!nest)
		nest = tfs_heap_alloc(sizeof(*nest));
	errno = saved;
	if (!nest)
		return NULL;
	memset(nest, 0, sizeof(*nest));
	nest->tid = (uint32_t)syscall(SYS_gettid);
	if (have_nest_key)
		pthread_setspecific(nest_key, nest);
	own_nest = nest;
	return nest;
}

static struct nest *get_nest(void)
{
	return own_nest ? own_nest : make_nest();
}

static void write_range(const struct tfs_nvtx_range *range, enum tfs_range_kind kind, uint32_t tid)
{
	const struct tfs_range_record record = {
		.record = {.kind = TFS_RECORD_range, .units = sizeof(record) / TFS_UNIT},
		.range = (uint16_t)kind,
		.name = tfs_nvtx_name_string(range->name),
		.start_ticks = range->ticks,
		.duration_ticks =
			kind == TFS_RANGE_MARK ? 0 : (float)(tfs_clock_ticks() - range->ticks),
		.tid = tid,
		.domain = tfs_nvtx_name_string(atomic_load(&domain_names[range->domain])),
		.level = range->level,
	};

	tfs_recorder_put(&record, TFS_RECORD_range, sizeof(record));
}

/* Opened by a call of the program, not by one of ours or of a library inside ours. */
static void opened(uint32_t name, uint64_t ticks, const void *caller)
{
	if (!tfs_nvtx_is_inside_hook())
		tfs_nvtx_steps_opened(name, ticks, caller);
}

static void closed(const struct tfs_nvtx_range *range, enum tfs_range_kind kind)
{
	if (!tfs_recording.header || tfs_nvtx_is_inside_hook())
		return;
	if (kind != TFS_RANGE_MARK)
		tfs_nvtx_steps_closed(range->name);
	if (tfs_windows_open() && range->name != 0) {
		const struct nest *nest = get_nest();

		write_range(range, kind, nest ? nest->tid : 0);
	}
}

int tfs_nvtx_push(uint16_t domain, uint32_t name, const void *caller)
{
	struct nest *nest = get_nest();

	if (!nest)
		return -1;
	const uint16_t level = nest->depths[domain];
	if (level == UINT16_MAX)
		return -1;
	nest->depths[domain]++;
	if (nest->count < NESTED) {
		nest->ranges[nest->count++] =
			(struct tfs_nvtx_range){tfs_clock_ticks(), name, domain, level};
		opened(name, nest->ranges[nest->count - 1].ticks, caller);
	}
	return level;
}

int tfs_nvtx_pop(uint16_t domain)
{
	struct nest *nest = get_nest();

	if (!nest || nest->depths[domain] == 0)
		return -1;
	const uint16_t level = --nest->depths[domain];
	uint32_t at = nest->count;
	while (at > 0 && nest->ranges[at - 1].domain != domain)
		at--;
	if (at > 0 && nest->ranges[at - 1].level == level) {
		const struct tfs_nvtx_range range = nest->ranges[at - 1];

		memmove(&nest->ranges[at - 1], &nest->ranges[at],
			(nest->count - at) * sizeof(range));
		nest->count--;
		closed(&range, TFS_RANGE_PUSHED);
	}
	return level;
}

/* Where all places are taken, the range is not timed. */
uint64_t tfs_nvtx_begin(uint16_t domain, uint32_t name, uint64_t id, const void *caller)
{
	const struct tfs_nvtx_range range = {tfs_clock_ticks(), name, domain, 0};

	tfs_spin_lock(&started_lock);
	if (id == 0)
		id = ++last_id;
	for (uint32_t i = 0; i < STARTED; i++) {
		const uint32_t at = (uint32_t)((id + i) % STARTED);

		if (started[at].range.ticks == 0) {
			started[at].id = id;
			started[at].range = range;
			break;
		}
	}
	tfs_spin_unlock(&started_lock);
	opened(name, range.ticks, caller);
	return id;
}

void tfs_nvtx_end(uint64_t id)
{
	struct tfs_nvtx_range range = {0};

	tfs_spin_lock(&started_lock);
	for (uint32_t i = 0; i < STARTED && range.ticks == 0; i++) {
		const uint32_t at = (uint32_t)((id + i) % STARTED);

		if (started[at].range.ticks != 0 && started[at].id == id) {
			range = started[at].range;
			started[at].range.ticks = 0;
		}
	}
	tfs_spin_unlock(&started_lock);
	if (range.ticks != 0)
		closed(&range, TFS_RANGE_STARTED);
}

void tfs_nvtx_mark(uint16_t domain, uint32_t name)
{
	const struct tfs_nvtx_range range = {tfs_clock_ticks(), name, domain, 0};

	closed(&range, TFS_RANGE_MARK);
}

void tfs_nvtx_domain(uint16_t domain, uint32_t name)
{
	atomic_store(&domain_names[domain], name);
}
