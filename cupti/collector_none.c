/* SPDX-License-Identifier: MIT */
#include "cupti/collector.h"

#include "shim/record/recorder.h"

void tfs_collector_start(void)
{
	tfs_recorder_fact(TFS_FACT_cupti_not_built, NULL, 0, 0);
}

bool tfs_collector_ready(void)
{
	return false;
}

bool tfs_collector_window(bool open)
{
	(void)open;
	return false;
}

void tfs_collector_poll(void)
{
}

void tfs_collector_push(uint64_t unit)
{
	(void)unit;
}

void tfs_collector_pop(void)
{
}

void tfs_collector_finish(void)
{
}

bool tfs_collector_leave(bool *out_was_on)
{
	(void)out_was_on;
	return false;
}

void tfs_collector_taken(const char *by)
{
	(void)by;
}

bool tfs_collector_return(struct tfs_cupti_refusal *out_refusal)
{
	(void)out_refusal;
	return false;
}

void *tfs_collector_share(void *request, void *complete)
{
	(void)request;
	return complete;
}

void tfs_collector_forget(void)
{
}
