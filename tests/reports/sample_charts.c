/* SPDX-License-Identifier: MIT */
#include "tests/reports/sample_charts.h"

static const struct tfs_chart_node nodes[] = {
	{"whole program", NULL, 7040, 1029632160, 1.4e9, 1.1e8, 0, 0, 1, 0, false},
	{"main", "/src/app/trainers/lenet_naive.c", 7040, 1029632160, 1.4e9, 1.1e8, 2e6, 0, 2, 0,
		false},
	{"train_step", "/src/app/trainers/lenet_naive.c", 6400, 1029632160, 1.39e9, 1.1e8, 1e8, 8e7,
		3, 0, false},
	{"read_loss", "/src/app/trainers/lenet_naive.c", 640, 2560, 7.7e8, 0, 7.7e8, 0, 5, 4,
		false},
	{"upload", "/src/app/trainers/lenet_naive.c", 1920, 1027932160, 4.2e8, 3e7, 4.2e8, 3e7, 6,
		7, false},
	{"cudaDeviceSynchronize", "lenet_naive.c:301", 640, 0, 7.7e8, 0, 7.7e8, 0, 0, 0, true},
	{"cudaMemcpy", "lenet_naive.c:142", 1280, 1027932160, 2.6e8, 3e7, 2.6e8, 3e7, 0, 8, true},
	{"cudnnConvolutionForward", "lenet_naive.c:230", 1280, 0, 9e7, 6e7, 9e7, 6e7, 0, 0, true},
	{"cudaFree", "lenet_naive.c:147", 640, 0, 1.6e8, 0, 1.6e8, 0, 0, 0, true},
};

static const char *const names[] = {"unknown", "copy", "memset", "graph", "cudaMemcpy",
	"cudaDeviceSynchronize", "cudnnConvolutionForward", "cudaFree",
	"implicit_convolve_sgemm<float, 128, 5, 5>", "pooling_fw_4d_kernel<float>"};

/* Durations that look like a program's: steady, some noise, a few outliers. */
static double step_ns(size_t i)
{
	double noise = (double)((i * 2654435761u) % 1000) / 1000;
	if (i < 12)
		return 9e6 - (double)i * 4e5;
	if (i % 97 == 96)
		return 1.9e7;
	return 2.42e6 + noise * 2.2e5;
}

static void make_steps(struct tfs_model *model, size_t count)
{
	struct tfs_chart_step *steps = tfs_arena_alloc(&model->arena, count, sizeof(*steps));
	double now = 1e8;
	for (size_t i = 0; i < count; i++) {
		steps[i].index = i;
		steps[i].start_ns = now;
		steps[i].duration_ns = step_ns(i);
		steps[i].phase = i < 12          ? TFS_CHART_WARMUP
				 : i % 160 > 150 ? TFS_CHART_EVALUATION
						 : TFS_CHART_TRAINING;
		steps[i].in_window = i >= 20 && i < 70;
		now += steps[i].duration_ns;
	}
	model->charts.steps = steps;
	model->charts.step_count = count;
	model->charts.steps_merged = 1;
}

/* 60 MiB and 4 more in each step, of 8 GiB. */
static void make_memory(struct tfs_model *model)
{
	static const struct tfs_chart_window windows[] = {{3e8, 4e8}, {1.2e9, 1.25e9}};
	struct tfs_chart_memory *memory = &model->charts.memory;
	double *parts = tfs_arena_alloc(&model->arena, 100, sizeof(*parts));

	for (size_t i = 0; i < 100; i++)
		parts[i] = i < 5 ? (double)(i << 24) : 67108864;
	*memory = (struct tfs_chart_memory){
		parts, 100, 2e9, 67108864, 1.1e8, 62914560, 8589934592, windows, 2};
}

/* A step of about 2.4 ms: upload, wait, kernels with gaps, read-back, wait. */
static struct tfs_chart_detail make_detail(
	struct tfs_model *model, const char *title, uint64_t index, size_t kernels)
{
	size_t count = kernels * 2 + 6;
	struct tfs_chart_span *spans = tfs_arena_alloc(&model->arena, count, sizeof(*spans));
	double slot = 1.5e6 / (double)kernels;
	size_t n = 0;

	spans[n++] = (struct tfs_chart_span){2e4, 4.3e5, 4, TFS_LANE_HOST};
	for (size_t i = 0; i < kernels; i++)
		spans[n++] = (struct tfs_chart_span){4.5e5 + (double)i * slot * 0.4,
			4.5e5 + (double)i * slot * 0.4 + slot * 0.3, 6, TFS_LANE_HOST};
	spans[n++] = (struct tfs_chart_span){2.3e6, 2.38e6, 7, TFS_LANE_HOST};
	spans[n++] = (struct tfs_chart_span){1.2e6, 2.25e6, 5, TFS_LANE_SYNC};
	for (size_t i = 0; i < kernels; i++)
		spans[n++] = (struct tfs_chart_span){6e5 + (double)i * slot,
			6e5 + (double)i * slot + slot * 0.8, 8 + i % 2, TFS_LANE_COMPUTE};
	spans[n++] = (struct tfs_chart_span){1.2e5, 4.2e5, 1, TFS_LANE_H2D};
	spans[n++] = (struct tfs_chart_span){6.5e5, 9.4e5, 1, TFS_LANE_H2D};
	spans[n++] = (struct tfs_chart_span){2.2e6, 2.21e6, 1, TFS_LANE_D2H};
	return (struct tfs_chart_detail){title, index, 2.42e6, spans, n};
}

void sample_make_charts(struct tfs_model *model, size_t steps, size_t kernels)
{
	static const struct tfs_chart_share shares[] = {
		{"computing", 1.18e6, true},
		{"only copying", 3.1e5, true},
		{"idle, queue empty after the host synchronised", 5.2e5, false},
		{"idle, the host was inside a CUDA call", 2.9e5, false},
		{"idle, the host ran its own code", 1.2e5, false},
	};
	static const char *const titles[] = {"median", "95th percentile", "worst", "first", "last"};
	struct tfs_chart_detail *details = tfs_arena_alloc(&model->arena, 5, sizeof(*details));
	make_steps(model, steps);
	for (size_t i = 0; i < 5; i++)
		details[i] = make_detail(model, titles[i], 20 + i * 11, kernels);
	model->charts.details = details;
	model->charts.detail_count = 5;
	model->charts.names = names;
	model->charts.name_count = sizeof(names) / sizeof(names[0]);
	model->charts.shares = shares;
	model->charts.share_count = sizeof(shares) / sizeof(shares[0]);
	make_memory(model);
	model->charts.nodes = nodes;
	model->charts.node_count = sizeof(nodes) / sizeof(nodes[0]);
}
