/* SPDX-License-Identifier: MIT */
/*
 * What calls cost once CUPTI no longer records, and whether giving it up whole (cuptiFinalize, at
 * the end of a call of the runtime) takes that cost away, can be done again, and while other
 * threads call. With the names of kinds of records, only what these leave behind: residual
 * KIND... "fact residual STAGE ns of each kind of call". See fact.h.
 */
#include <cupti_runtime_cbid.h>
#include <dlfcn.h>
#include <stdatomic.h>

#include "tests/cupti/cupti_client.h"
#include "tests/gpu/facts/fact.h"

enum { CALLS = 400, REPEATS = 15, THREADS = 3, TURNS = 20 };

static const struct {
	const char *name;
	CUpti_ActivityKind kind;
} kinds[] = {{"kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
	{"copies", CUPTI_ACTIVITY_KIND_MEMCPY}, {"fills", CUPTI_ACTIVITY_KIND_MEMSET},
	{"units", CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
	{"waits", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}, {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
	{"driver", CUPTI_ACTIVITY_KIND_DRIVER}, {"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
	{"memory", CUPTI_ACTIVITY_KIND_MEMORY2}};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool asked[KINDS];
static CUptiResult (*finalize)(void);
static CUpti_SubscriberHandle subscriber;
static _Atomic bool leaving, left, over;
static _Atomic unsigned long calls;
static cudaKernel_t idle;
static cudaEvent_t event;
static void *memory;

static void get_device(void)
{
	int device;

	OK(cudaGetDevice(&device));
}

static void record_event(void)
{
	OK(cudaEventRecord(event, NULL));
}

static void set_memory(void)
{
	OK(cudaMemsetAsync(memory, 0, 64, NULL));
}

static void launch_idle(void)
{
	const dim3 one = {1, 1, 1};

	if (idle)
		OK(cudaLaunchKernel((const void *)idle, one, one, NULL, 0, NULL));
}

static double ns_per_call(void (*call)(void))
{
	double ns[REPEATS];

	for (unsigned i = 0; i < REPEATS; i++) {
		const uint64_t start_ns = fact_now_ns();

		for (unsigned k = 0; k < CALLS; k++)
			call();
		ns[i] = (double)(fact_now_ns() - start_ns) / CALLS;
		OK(cudaStreamSynchronize(NULL));
	}
	return fact_median(ns, REPEATS);
}

static void stage(const char *name)
{
	fact("residual", name, "cudaGetDevice %.0f, event %.0f, memset %.0f, launch %.0f",
		ns_per_call(get_device), ns_per_call(record_event), ns_per_call(set_memory),
		ns_per_call(launch_idle));
}

static void switch_all(bool on)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (asked[i])
			OK((on ? cuptiActivityEnable : cuptiActivityDisable)(kinds[i].kind));
	if (!on)
		OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

/* The place that the documentation names for the end. */
static void CUPTIAPI at_call(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
	const CUpti_CallbackData *call = info;

	(void)data;
	(void)id;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && call->callbackSite == CUPTI_API_EXIT &&
		atomic_exchange(&leaving, false)) {
		OK(finalize());
		atomic_store(&left, true);
	}
}

static void leave(void)
{
	int driver;

	OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
		CUPTI_RUNTIME_TRACE_CBID_cudaDriverGetVersion_v3020));
	atomic_store(&left, false);
	atomic_store(&leaving, true);
	OK(cudaDriverGetVersion(&driver));
	TEST_TRUE(atomic_load(&left));
}

/* The records of a window of its own, after which it is left again. */
static unsigned come_back(bool stay)
{
	record_count = 0;
	if (!TEST_TRUE(start_client_with(at_call, &subscriber)))
		return 0;
	switch_all(true);
	for (unsigned i = 0; i < 10; i++)
		set_memory();
	OK(cudaStreamSynchronize(NULL));
	if (!stay)
		switch_all(false);
	return count_records(CUPTI_ACTIVITY_KIND_MEMSET);
}

static void *call_on(void *none)
{
	while (!atomic_load(&over)) {
		get_device();
		record_event();
		set_memory();
		launch_idle();
		calls += 4;
	}
	return none;
}

static void ask_threads(void)
{
	pthread_t threads[THREADS];
	unsigned turns = 0, records_of_all = 0;

	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_create(&threads[i], NULL, call_on, NULL));
	while (turns < TURNS) {
		records_of_all += come_back(false);
		leave();
		turns++;
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_join(threads[i], NULL));
	OK(cudaDeviceSynchronize());
	fact("residual", "beside-threads", "left %u times beside %lu calls, %u records", turns,
		calls, records_of_all);
}

/* Which kinds, and the name of the stage after them. */
static bool ask(int count, char **words, char *stage_name, size_t bytes)
{
	int known = 0;

	snprintf(stage_name, bytes, "off");
	for (unsigned i = 0; i < KINDS; i++) {
		asked[i] = count == 1;
		for (int k = 1; k < count; k++)
			asked[i] = asked[i] || strcmp(words[k], kinds[i].name) == 0;
		known += asked[i] && count > 1;
	}
	for (int k = 1; k < count; k++)
		snprintf(stage_name + strlen(stage_name), bytes - strlen(stage_name), "-%s",
			words[k]);
	return known == count - 1;
}

static bool open_device(void)
{
	cudaLibrary_t library;

	if (!fact_device())
		return false;
	OK(cudaMalloc(&memory, 64));
	OK(cudaEventCreate(&event));
	if (!fact_simulated()) {
		OK(cudaLibraryLoadData(&library, fact_ptx, NULL, NULL, 0, NULL, NULL, 0));
		OK(cudaLibraryGetKernel(&idle, library, "idle"));
	}
	return true;
}

static void ask_finalize(void)
{
	uint64_t start_ns;

	OK(cuptiUnsubscribe(subscriber));
	stage("unsubscribed");
	if (!finalize || fact_simulated()) {
		fact("residual", "finalize-us", "not simulated");
		return;
	}
	if (!start_client_with(at_call, &subscriber))
		return;
	start_ns = fact_now_ns();
	leave();
	fact("residual", "finalize-us", "%.0f", (double)(fact_now_ns() - start_ns) / 1e3);
	stage("finalized");
	start_ns = fact_now_ns();
	fact("residual", "again-records", "%u of 10", come_back(true));
	fact("residual", "again-us", "%.0f", (double)(fact_now_ns() - start_ns) / 1e3);
	stage("on-again");
	switch_all(false);
	stage("off-again");
	leave();
	stage("finalized-again");
	ask_threads();
	stage("at-the-end");
}

int main(int count, char **words)
{
	char after[128];

	if (!TEST_TRUE(ask(count, words, after, sizeof(after))))
		return test_result();
	finalize = (CUptiResult(*)(void))dlsym(RTLD_DEFAULT, "cuptiFinalize");
	if (!open_device())
		return test_skip("no CUDA device");
	if (count == 1)
		stage("before");
	if (!start_client_with(at_call, &subscriber))
		return test_skip("another tool has CUPTI");
	if (count == 1)
		stage("subscribed");
	switch_all(true);
	if (count == 1)
		stage("on");
	switch_all(false);
	stage(after);
	if (count == 1)
		ask_finalize();
	return test_result();
}
