/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_SCENES_SCENE_PRIVATE_H
#define TFS_TESTS_UNIT_SCENES_SCENE_PRIVATE_H

/* What the files of a scene share: its clock, its device and its recording so far. */

#include "rules/timeline/timeline.h"
#include "tests/unit/scenes/scene.h"

#define SCENE_MOST 1280u
#define SCENE_CALL_NS 3000u
#define SCENE_BACK_NS 2000u

struct scene_event {
	uint64_t handle;
	uint64_t ns;
};

struct scene {
	struct builder *builder;
	uint32_t kernel; /* what library calls run */
	uint32_t blocks; /* of the kernel that is launched; 0 = not known */
	uint64_t now;
	uint64_t address;
	uint64_t index;
	uint32_t correlation;
	bool in_window;
	bool watched;
	bool nameless;
	bool older;
	const char *apis[SCENE_MOST];
	unsigned api_count;
	struct {
		uint32_t unit;
		uint64_t start_ns;
	} latest;
	unsigned device, last_device;
	unsigned streams;
	uint16_t stream_ids[SCENE_MOST];
	uint32_t stream_flags[SCENE_MOST];
	uint64_t free_ns[SCENE_MOST];
	struct {
		const char *name;
		uint16_t id;
		enum tfs_family family;
	} functions[SCENE_MOST];
	unsigned function_count;
	struct {
		unsigned line;
		uint32_t id;
	} sites[SCENE_MOST];
	unsigned site_count;
	struct scene_event events[SCENE_MOST];
	unsigned event_count;
	struct tfs_aggregate totals[SCENE_MOST];
	unsigned total_count;
	struct tfs_trace *trace;
	struct tfs_timeline *timeline;
	struct tfs_judgement *judgement;
};

/* Ends the test unless it held. */
void scene_need(bool held, const char *what);

/* Puts the call at the host's clock, which then shows its end; returns its unit. */
uint32_t scene_put_call(struct scene *scene, struct builder_call *call, uint64_t end);
/* The same for work that it caused. */
void scene_put_op(struct scene *scene, uint32_t unit, struct tfs_device_op_record *op);

/* Gives a stream work; returns when it ends. */
uint64_t scene_run_work(
	struct scene *scene, unsigned stream, uint64_t work_ns, uint64_t *out_start);
/* When all work ends, and when work of this stream can begin: blocking streams and the legacy one
 * wait for each other. */
uint64_t scene_all_done(const struct scene *scene);
uint64_t scene_stream_ready(const struct scene *scene, unsigned stream);

#endif
