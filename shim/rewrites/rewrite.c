/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/rewrite.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/record/files.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/breaker/breaker.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/measure_file.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/holding.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/rewrites/rewrite_modes.h"
#include "shim/rewrites/rewrite_ops.h"
#include "shim/rewrites/rewrites_list.h"
#include "shim/state/capture.h"
#include "shim/steps/windows.h"
#include "shim/trace/format/format.h"

#define X(name) extern const struct tfs_rewrite tfs_rewrite_##name;
TFS_REWRITES(X)
#undef X

const struct tfs_rewrite *const tfs_rewrite_all[] = {
#define X(name) &tfs_rewrite_##name,
	TFS_REWRITES(X) NULL
#undef X
};

_Atomic enum tfs_rewrite_mode tfs_rewrite_mode_of[TFS_REWRITES_MOST];

_Static_assert(
	sizeof(tfs_rewrite_all) / sizeof(tfs_rewrite_all[0]) <= TFS_REWRITES_MOST, "room for all");

static bool forgotten;

static void say_unknown(const char *word, int length)
{
	tfs_log_say("TFSHIM_REWRITE: unknown rewrite or mode '%.*s': ignored", length, word);
}

static bool is_to_act(size_t i)
{
	return tfs_rewrite_mode_of[i] == TFS_MODE_APPLY ||
	       tfs_rewrite_mode_of[i] == TFS_MODE_SHADOW;
}

static const char *off_file; /* an earlier run ended abnormally while one acted; or NULL */

/* All that is read of what earlier runs left. */
static void fetch(void)
{
	const char *file;
	bool any = false;

	for (size_t i = 0; tfs_rewrite_all[i]; i++) {
		any |= is_to_act(i);
		if (tfs_rewrite_mode_of[i] != TFS_MODE_OFF && tfs_rewrite_all[i]->fetch)
			tfs_rewrite_all[i]->fetch();
	}
	if (any && tfs_breaker_tripped(&file))
		off_file = file;
	tfs_measure_file_fetch();
}

static bool is_any_on(void)
{
	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_mode_of[i] != TFS_MODE_OFF)
			return true;
	return false;
}

/* Where the folder does not answer, it is not known what earlier runs left there. */
static void fetch_in_time(void)
{
	if (!is_any_on() || tfs_files_ask(fetch))
		return;
	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		tfs_rewrite_mode_of[i] = TFS_MODE_OFF;
	tfs_options.rewrite = "off";
	tfs_options.measure = 0;
	tfs_recorder_fact(TFS_FACT_folder_late, NULL, 0, 0);
	if (tfs_options.rank == 0 && !tfs_options.quiet)
		tfs_log_say("the recording's file system does not respond: rewrites are off");
}

static void leave_off(void)
{
	const char *file = off_file;

	if (!is_any_on() || !file)
		return;
	for (size_t i = 0; tfs_rewrite_all[i]; i++) {
		if (!is_to_act(i))
			continue;
		tfs_rewrite_mode_of[i] = TFS_MODE_OFF;
		tfs_rewrite_explain(tfs_rewrite_all[i], TFS_REASON_ended_abnormally, file);
	}
	tfs_recorder_fact(TFS_FACT_rewrites_off, file, 0, 0);
	if (tfs_options.rank == 0 && !tfs_options.quiet)
		tfs_log_say(
			"rewrites are off, because an earlier run ended abnormally while a rewrite acted; "
			"delete %s to allow rewrites again",
			file);
}

void tfs_rewrite_start(void)
{
	uint32_t wanting = 0;
	uint32_t switchable = 0;

	tfs_rewrite_modes(tfs_options.rewrite, tfs_rewrite_all, tfs_rewrite_mode_of, say_unknown);
	fetch_in_time();
	leave_off();
	for (size_t i = 0; tfs_rewrite_all[i]; i++) {
		const struct tfs_rewrite *rewrite = tfs_rewrite_all[i];

		tfs_ledger_start(i);
		if (tfs_rewrite_mode_of[i] == TFS_MODE_OFF)
			continue;
		if (tfs_rewrite_mode_of[i] == TFS_MODE_SHADOW && !rewrite->compares) {
			tfs_log_say("TFSHIM_REWRITE: %s has no shadow mode; it runs in report mode",
				rewrite->name);
			tfs_rewrite_mode_of[i] = TFS_MODE_REPORT;
		}
		if (rewrite->start && !rewrite->start()) {
			tfs_rewrite_mode_of[i] = TFS_MODE_OFF;
			continue;
		}
		if (rewrite->switchable && tfs_rewrite_mode_of[i] == TFS_MODE_APPLY)
			switchable |= 1u << i;
		wanting |= tfs_rewrite_ops_add(i);
	}
	if ((wanting & TFS_OP_BIT(TFS_OP_MADE)) != 0)
		__atomic_fetch_or(&tfs_wanted, TFS_WANT_WORK, __ATOMIC_RELAXED);
	tfs_measure_start(switchable);
	__atomic_store_n(&tfs_rewrites_wanting, wanting, __ATOMIC_RELAXED);
	tfs_rewrite_offer();
}

static bool is_on(size_t i)
{
	return !tfs_rewrite_all[i]->switchable ||
	       (tfs_windows_rewrites() &&
		       (__atomic_load_n(&tfs_measure_on, __ATOMIC_RELAXED) >> i & 1) != 0);
}

bool tfs_rewrite_takes_part(size_t i)
{
	return tfs_rewrite_mode_of[i] != TFS_MODE_OFF && is_on(i);
}

void tfs_rewrite_step(uint64_t ns, uint64_t bytes)
{
	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_all[i]->switchable && tfs_rewrite_takes_part(i))
			tfs_ledger_step(i);
	tfs_measure_step(ns, bytes);
}

void tfs_rewrite_tidy(bool driver, uint32_t device)
{
	const int saved = errno;
	const uint32_t against = __atomic_load_n(&tfs_measure_against, __ATOMIC_RELAXED);

	if (tfs_capturing())
		return;
	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if ((tfs_rewrite_all[i]->acts & TFS_OP_BIT(TFS_OP_FREE)) != 0 &&
			tfs_rewrite_mode_of[i] == TFS_MODE_APPLY && (against >> i & 1) == 0)
			return;
	tfs_blocks_flush(driver, device);
	errno = saved;
}

bool tfs_rewrite_any_switchable(void)
{
	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_all[i]->switchable && tfs_rewrite_mode_of[i] == TFS_MODE_APPLY &&
			is_on(i) && tfs_rewrite_applied((uint32_t)i) > 0)
			return true;
	return false;
}

void tfs_rewrite_keep(void)
{
	tfs_measure_keep();
}

void tfs_rewrite_finish(void)
{
	if (forgotten)
		return;
	tfs_rewrite_ops_finish();
	tfs_rewrite_offer();
	for (size_t i = 0; tfs_rewrite_all[i]; i++) {
		if (tfs_rewrite_all[i]->finish && tfs_rewrite_mode_of[i] != TFS_MODE_OFF)
			tfs_rewrite_all[i]->finish();
		tfs_rewrite_decided((uint32_t)i);
	}
	tfs_ledger_write_refusals();
	tfs_files_ask_last(tfs_measure_keep);
	tfs_breaker_disarm();
}

void tfs_rewrite_forget(void)
{
	forgotten = true;
	tfs_held_forget();
	__atomic_store_n(&tfs_rewrites_wanting, 0, __ATOMIC_RELAXED);
}
