/* SPDX-License-Identifier: MIT */
#include "shim/nvtx/nvtx_steps.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/heap.h"
#include "shim/base/log.h"
#include "shim/nvtx/nvtx.h"
#include "shim/nvtx/nvtx_family.h"
#include "shim/nvtx/nvtx_names.h"
#include "shim/nvtx/nvtx_search.h"
#include "shim/record/recorder.h"
#include "shim/steps/steps.h"

#define BY_NAME 16u /* occurrences after which a name that says "step" is believed */

static _Atomic(struct tfs_nvtx_search *) search;
static _Atomic uint32_t step_name;                    /* a family */
static _Atomic uint16_t occurred[TFS_NVTX_NAMES + 1]; /* by family; saturates */

/* Ranges that a library opens inside a call of ours belong to that call. */
bool tfs_nvtx_is_inside_hook(void)
{
	return tfs_self.busy || (tfs_self.owned && !tfs_self.active);
}

/* The ranges of a family are the steps; `before` of them were opened until that was known. */
static void choose(uint32_t family, uint64_t before)
{
	tfs_recorder_fact(TFS_FACT_steps_warmup, NULL, before, 0);
	atomic_store(&step_name, family);
}

/* Does a range of this family, opened now, begin a step? */
static bool begins_step(uint32_t family, uint32_t name)
{
	const uint32_t known = atomic_load_explicit(&step_name, memory_order_relaxed);

	if (known != 0 || family == 0)
		return family != 0 && known == family;
	if (tfs_options.step_range != 0) {
		const char *wanted = tfs_env_text(tfs_options.step_range);

		if (strcmp(wanted, tfs_nvtx_name_text(family)) != 0 &&
			strcmp(wanted, tfs_nvtx_name_text(name)) != 0)
			return false;
		atomic_store(&step_name, family);
	} else {
		if ((tfs_steps_count() != 0 && !tfs_steps_doubtful()) ||
			atomic_load(&occurred[family]) == UINT16_MAX ||
			atomic_fetch_add(&occurred[family], 1) + 1u < BY_NAME ||
			!tfs_nvtx_family_says_step(tfs_nvtx_name_text(family)))
			return false;
		choose(family, BY_NAME - 1);
	}
	return true;
}

static struct tfs_nvtx_search *get_search(void)
{
	struct tfs_nvtx_search *now = atomic_load(&search);
	void *memory;

	if (now)
		return now;
	memory = tfs_heap_alloc(tfs_nvtx_search_bytes());
	if (!memory)
		return NULL;
	if (!atomic_compare_exchange_strong(&search, &now, tfs_nvtx_search_init(memory)))
		tfs_heap_free(memory, tfs_nvtx_search_bytes());
	return atomic_load(&search);
}

/* Only the steps' thread feeds the search, which another one may become at any time. */
static struct tfs_nvtx_search *searching(void)
{
	const bool wanted = (__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_STEPS) != 0;

	return wanted && tfs_steps_is_owner() ? get_search() : NULL;
}

void tfs_nvtx_steps_opened(uint32_t name, uint64_t ticks, const void *caller)
{
	const uint32_t family = tfs_nvtx_name_family(name);

	if (!tfs_recording.header)
		return;
	if (begins_step(family, name))
		tfs_steps_begin(TFS_STEP_NVTX, ticks, (uint64_t)(uintptr_t)caller);
	struct tfs_nvtx_search *own = family != 0 ? searching() : NULL;
	if (own)
		tfs_nvtx_search_enter(own, tfs_self.owned, family);
}

void tfs_nvtx_steps_closed(uint32_t name)
{
	struct tfs_nvtx_search *own = searching();

	if (own)
		tfs_nvtx_search_leave(own, tfs_self.owned, tfs_nvtx_name_family(name));
}

bool tfs_nvtx_feed(uint32_t site, const struct tfs_loops_operand *operands, uint32_t count)
{
	static _Atomic bool feeding;
	/* Without any range so far there is none. */
	struct tfs_nvtx_search *own = atomic_load_explicit(&search, memory_order_acquire);

	/* A call made at the same moment as another thread's is not worth a wait. */
	if (!own || tfs_options.step_range != 0 ||
		atomic_exchange_explicit(&feeding, true, memory_order_acquire))
		return false;
	const uint32_t name = tfs_nvtx_search_feed(own, tfs_self.owned, site, operands, count);
	atomic_store_explicit(&feeding, false, memory_order_release);
	if (name != 0) {
		tfs_recorder_fact(TFS_FACT_step_range, tfs_nvtx_name_text(name), 0, 0);
		tfs_log(TFS_LOG_INFO, "training step: NVTX range '%s'", tfs_nvtx_name_text(name));
		choose(name, atomic_load(&occurred[name]));
	}
	return name != 0;
}
