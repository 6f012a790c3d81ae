/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_REPLAY_MODELLED_H
#define TFS_TESTS_UNIT_REPLAY_MODELLED_H

/*
 * A trainer for tests of the what-if: its calls are made on the simulated device, and recorded with
 * their modelled times, which are the same on any machine, however busy. What it costs to fix a
 * finding can so be compared with what the fixed program takes. Builds on scene.h: steps, judging
 * and findings are asked for there. Anything that fails ends the test.
 */

#include <driver_types.h>

#include "tests/unit/scenes/scene.h"

struct modelled;

/* Sets the simulated device up as an A100 that computes nothing; before any other call. */
void modelled_prepare(void);

struct modelled *modelled_create(void);
void modelled_destroy(struct modelled *modelled);
struct scene *modelled_scene(struct modelled *modelled);

/* Another stream, which does not wait for the default stream (0). */
unsigned modelled_stream(struct modelled *modelled);
/* From now on calls are those of another host thread (0 is the one that makes the steps), which
 * goes on `after_ns` later. */
void modelled_thread(struct modelled *modelled, unsigned thread, uint64_t after_ns);
/* The same, but that thread's clock shows what it showed when it made its latest call. */
void modelled_thread_beside(struct modelled *modelled, unsigned thread);

/* Something else has the processor for so long during the next call. */
void modelled_interrupt(struct modelled *modelled, uint64_t ns);

void modelled_step(struct modelled *modelled);
/* The host does something of its own. */
void modelled_host(struct modelled *modelled, uint64_t ns);
/* A kernel; with many blocks it fills the device. */
void modelled_launch(struct modelled *modelled, unsigned line, unsigned stream, uint64_t work_ns,
	unsigned blocks);
/* cudaMemcpyAsync to the device. */
void modelled_upload(struct modelled *modelled, unsigned line, unsigned stream,
	enum tfs_memory_kind host, uint64_t bytes);
void modelled_device_sync(struct modelled *modelled, unsigned line);
void modelled_stream_sync(struct modelled *modelled, unsigned line, unsigned stream);
void modelled_event_record(struct modelled *modelled, unsigned line, unsigned stream);
void modelled_stream_wait(struct modelled *modelled, unsigned line, unsigned stream);

/* Judges what was recorded, and returns the mean duration of a judged step. */
double modelled_judge(struct modelled *modelled);

#endif
