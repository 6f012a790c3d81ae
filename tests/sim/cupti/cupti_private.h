/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUPTI_PRIVATE_H
#define TFS_TESTS_SIM_CUPTI_PRIVATE_H

/*
 * The simulated CUPTI: listens to the core (core_record.h), keeps what is enabled, and writes
 * records in the layouts of cupti_activity.h into the client's buffers.
 */

#include <cupti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/core/core.h"
#include "tests/sim/core/core_device.h"

#define CUPTI_KINDS 64
#define CUPTI_CBIDS 1024

/* How this library answers, from TFSIM_CUPTI: "refuse", "missing-driver", "old-driver", "drops"
 * (some records), "holds" (an empty buffer after each flush), "tires" (it refuses to record once it
 * was told to stop), "slow" (it takes 300 ms to subscribe, and must not be in that when the
 * process's exit handlers have taken it down) or unset. */
enum cupti_mood {
	CUPTI_WORKS,
	CUPTI_REFUSES,
	CUPTI_WITHOUT_DRIVER,
	CUPTI_WITH_OLD_DRIVER,
	CUPTI_DROPS,
	CUPTI_HOLDS,
	CUPTI_TIRES,
	CUPTI_IS_SLOW
};

enum cupti_slot { CUPTI_SLOT_THREAD, CUPTI_SLOT_DEVICE };

/* cupti_state.c */
enum cupti_mood cupti_mood(void);
/* What an entry that needs the driver answers now: success, or the error of the mood or a fork. */
CUptiResult cupti_usable(void);
/* What subscribing takes in a slow mood; ends the process where the library was taken down
 * meanwhile, as the real one does by chance. */
void cupti_linger(void);
/* Installs the listener in the core, once. */
void cupti_listen(void);
uint32_t cupti_thread(uint32_t tid);

/* cupti_clock.c: the client's clock for a CLOCK_MONOTONIC time. */
uint64_t cupti_time(uint64_t monotonic_ns);

/* cupti_activity.c */
bool cupti_enabled(CUpti_ActivityKind kind);
/* Device work counts when the kind was on as it was submitted, whenever it runs. */
bool cupti_enabled_for(CUpti_ActivityKind kind, uint64_t submitted_ns);
bool cupti_api_enabled(enum tfsim_domain domain, uint32_t cbid);
size_t cupti_record_size(CUpti_ActivityKind kind);
bool cupti_attribute_flag(CUpti_ActivityAttribute attribute);
bool cupti_all_sync_records(void);

/* cupti_buffer.c: adds a record; it is complete at ready_ns (CLOCK_MONOTONIC), 0 = already. */
void cupti_append(enum cupti_slot slot, const void *record, size_t size, uint64_t ready_ns);
void cupti_buffers_register(
	CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
void cupti_buffers_flush(bool forced);
size_t cupti_buffers_dropped(void);

/* cupti_callback.c */
void cupti_callback_api(struct tfsim_api *api, CUpti_ApiCallbackSite site);
void cupti_callback_fact(const struct tfsim_fact *fact);

/* cupti_correlation.c: one record for each kind of external id the thread is in. */
void cupti_correlation_append(uint32_t correlation);

/* cupti_record.c, cupti_device.c */
void cupti_record_api(const struct tfsim_api *api);
void cupti_record_fact(const struct tfsim_fact *fact);
void cupti_record_devices(void);
/* The record of time that CUPTI itself took in this thread; false when nobody wants it. */
bool cupti_record_overhead(
	CUpti_ActivityOverheadKind kind, uint64_t start_ns, CUpti_ActivityOverhead3 *out_record);

#endif
