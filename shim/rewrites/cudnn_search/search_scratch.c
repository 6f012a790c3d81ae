/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_scratch.h"

#include <string.h>

#include "shim/rewrites/search/search_numbers.h"

#define LEAST_WORKSPACE (UINT64_C(1) << 20)
#define RED_BYTES 256u
#define RED 0xa5

static enum tfs_numbers numbers_of(int type)
{
	switch (type) {
	case CUDNN_DATA_FLOAT:
		return TFS_NUMBERS_FLOAT;
	case CUDNN_DATA_DOUBLE:
		return TFS_NUMBERS_DOUBLE;
	case CUDNN_DATA_HALF:
		return TFS_NUMBERS_HALF;
	case CUDNN_DATA_BFLOAT16:
		return TFS_NUMBERS_BFLOAT16;
	default:
		return TFS_NUMBERS_BITS;
	}
}

/* With a red zone behind it. */
static void *guarded(struct tfs_search_device *device, uint64_t bytes)
{
	void *memory = tfs_search_allocate(device, bytes + RED_BYTES, device->stream);

	if (memory)
		tfs_search_set(device, (char *)memory + bytes, RED, RED_BYTES);
	return memory;
}

static void *tensor(struct tfs_search_device *device, const struct tfs_tensor *shape_of)
{
	void *memory = guarded(device, shape_of->bytes);

	if (memory)
		tfs_search_numbers(device, memory, shape_of->bytes, numbers_of(shape_of->type));
	return memory;
}

/* As much as can be had up to the limits: algorithms that need more are not tried. */
static void get_workspace(struct tfs_search_device *device, const struct tfs_search_limits *limits,
	uint64_t rest, struct tfs_scratch *out)
{
	uint64_t bytes = rest < limits->workspace ? rest : limits->workspace;

	while (!out->workspace && bytes > 0) {
		out->workspace = guarded(device, bytes);
		out->workspace_bytes = bytes;
		bytes = bytes > LEAST_WORKSPACE ? bytes / 2 : 0;
	}
	if (!out->workspace)
		out->workspace_bytes = 0;
}

bool tfs_scratch_get(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_search_limits *limits, struct tfs_scratch *out)
{
	struct tfs_tensor x;
	struct tfs_tensor w;
	struct tfs_tensor y;

	memset(out, 0, sizeof(*out));
	if (!tfs_tensor_read(search->x, &x) || !tfs_filter_read(search->w, &w) ||
		!tfs_tensor_read(search->y, &y))
		return false;
	const struct tfs_tensor *output = search->family == TFS_FAMILY_conv_forward         ? &y
					  : search->family == TFS_FAMILY_conv_backward_data ? &x
											    : &w;
	const uint64_t bytes = x.bytes + w.bytes + y.bytes + output->bytes;
	if (bytes > limits->memory)
		return false;
	out->x = tensor(device, &x);
	out->w = tensor(device, &w);
	out->y = tensor(device, &y);
	out->other = tensor(device, output);
	out->output_bytes = output->bytes;
	out->type = output->type;
	if (out->x && out->w && out->y && out->other) {
		get_workspace(device, limits, limits->memory - bytes, out);
		return true;
	}
	tfs_scratch_give_back(device, out);
	return false;
}

void *tfs_scratch_output(const struct tfs_scratch *scratch, enum tfs_family family)
{
	return family == TFS_FAMILY_conv_forward         ? scratch->y
	       : family == TFS_FAMILY_conv_backward_data ? scratch->x
							 : scratch->w;
}

static bool is_red(struct tfs_search_device *device, const void *memory, uint64_t bytes)
{
	unsigned char zone[RED_BYTES];

	if (!memory)
		return true;
	if (!tfs_search_fetch(device, zone, (const char *)memory + bytes, RED_BYTES))
		return false;
	for (uint32_t i = 0; i < RED_BYTES; i++)
		if (zone[i] != RED)
			return false;
	return true;
}

void tfs_scratch_guard(
	struct tfs_search_device *device, const struct tfs_scratch *scratch, uint64_t bytes)
{
	if (scratch->workspace)
		tfs_search_set(device, (char *)scratch->workspace + bytes, RED, RED_BYTES);
}

bool tfs_scratch_whole(struct tfs_search_device *device, const struct tfs_scratch *scratch,
	enum tfs_family family, uint64_t bytes)
{
	return is_red(device, tfs_scratch_output(scratch, family), scratch->output_bytes) &&
	       is_red(device, scratch->other, scratch->output_bytes) &&
	       is_red(device, scratch->workspace, bytes);
}

void tfs_scratch_give_back(struct tfs_search_device *device, const struct tfs_scratch *scratch)
{
	tfs_search_free(scratch->x, device->stream);
	tfs_search_free(scratch->w, device->stream);
	tfs_search_free(scratch->y, device->stream);
	tfs_search_free(scratch->other, device->stream);
	tfs_search_free(scratch->workspace, device->stream);
	tfs_search_device_settle(device);
}
