/* SPDX-License-Identifier: MIT */
/*
 * Which records a window has that is opened late, by how CUPTI was told what to record: late HOW...
 * Words of HOW: "apis" names single calls of the runtime, "kinds" all of them, "mixed" first these,
 * then those; "tried" switches all on and off before the first call; "twice" opens a window before
 * this one; "thread" opens it in a thread of its own, "zeroed" says that buffers come zeroed. "fact
 * late HOW COUNTS". See fact.h.
 */
#include <cupti_runtime_cbid.h>

#include "tests/cupti/cupti_client.h"
#include "tests/gpu/facts/fact.h"

enum { SETS = 20, BYTES = 1 << 20 };

static const CUpti_ActivityKind others[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
static const CUpti_CallbackId calls[] = {CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020};

static bool by_kinds, switched_on;
static void *memory;

static void switch_all(void)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		OK((switched_on ? cuptiActivityEnable : cuptiActivityDisable)(others[i]));
	if (by_kinds)
		OK((switched_on ? cuptiActivityEnable : cuptiActivityDisable)(
			CUPTI_ACTIVITY_KIND_RUNTIME));
	for (size_t i = 0; !by_kinds && i < sizeof(calls) / sizeof(calls[0]); i++)
		OK(cuptiActivityEnableRuntimeApi(calls[i], switched_on));
}

static void *in_thread(void *none)
{
	switch_all();
	return none;
}

static void turn(bool on, bool threaded)
{
	pthread_t thread;

	switched_on = on;
	if (!threaded) {
		switch_all();
	} else if (TEST_EQ(pthread_create(&thread, NULL, in_thread, NULL), 0)) {
		pthread_join(thread, NULL);
	}
}

static void work(void)
{
	uint64_t last;

	OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 7));
	for (unsigned i = 0; i < SETS; i++)
		OK(cudaMemsetAsync(memory, 0, BYTES, NULL));
	OK(cudaStreamSynchronize(NULL));
	OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
}

static void CUPTIAPI zeroed_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	give_buffer(buffer, size, max_records);
	if (*buffer)
		memset(*buffer, 0, *size);
}

static void say_zeroed(void)
{
	uint8_t yes = 1;
	size_t bytes = sizeof(yes);

	OK(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &yes));
	OK(cuptiActivityRegisterCallbacks(zeroed_buffer, take_buffer));
}

static void counts(char *text, size_t bytes, const char *when)
{
	const size_t used = strlen(text);

	snprintf(text + used, bytes - used, "%s%s: %u calls, %u ties, %u sets, %u waits",
		used ? "; " : "", when, count_records(CUPTI_ACTIVITY_KIND_RUNTIME),
		count_records(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION),
		count_records(CUPTI_ACTIVITY_KIND_MEMSET),
		count_records(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
}

int main(int count, char **words)
{
	bool apis_later = false, tried = false, twice = false, threaded = false, zeroed = false;
	CUpti_SubscriberHandle subscriber;
	char name[128] = "", text[512] = "";

	for (int i = 1; i < count; i++) {
		apis_later = apis_later || strcmp(words[i], "mixed") == 0;
		by_kinds = by_kinds || apis_later || strcmp(words[i], "kinds") == 0;
		tried = tried || strcmp(words[i], "tried") == 0;
		twice = twice || strcmp(words[i], "twice") == 0;
		threaded = threaded || strcmp(words[i], "thread") == 0;
		zeroed = zeroed || strcmp(words[i], "zeroed") == 0;
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s%s", i > 1 ? "-" : "",
			words[i]);
	}
	if (!start_client(&subscriber))
		return test_skip("CUPTI has no device, or another tool has it");
	if (zeroed)
		say_zeroed();
	if (tried) {
		turn(true, false);
		turn(false, false);
	}
	OK(cudaMalloc(&memory, BYTES));
	work();
	if (twice) {
		turn(true, threaded);
		work();
		turn(false, threaded);
		work();
		OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	}
	record_count = 0;
	by_kinds = by_kinds && !apis_later;
	turn(true, threaded);
	work();
	OK(cuptiActivityFlushAll(0));
	counts(text, sizeof(text), "open");
	turn(false, threaded);
	OK(cuptiActivityFlushAll(0));
	counts(text, sizeof(text), "closed");
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	counts(text, sizeof(text), "forced");
	fact("late", name, "%s", text);
	return test_result();
}
