/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "reports/import/nsight/nsight_part.h"

/* When Nsight's clock said 0, on the one of the day. */
static int take_start(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	int64_t utc_ns;

	if (!tfs_rows_number(rows, 0, &utc_ns) || utc_ns <= 0)
		return 0;
	nsight->collected->base_ns += (uint64_t)utc_ns;
	nsight->collected->undated = false;
	return 0;
}

/* Where the recording began, on Nsight's clock. */
static int take_details(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	int64_t start_ns;

	if (tfs_rows_number(rows, 0, &start_ns) && start_ns > 0)
		nsight->collected->base_ns -= (uint64_t)start_ns;
	return 0;
}

static int take_stream(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	/* Nsight's numbers: 2 does not wait for the default stream, which is 3 */
	static const uint32_t flags[] = {0, 0, 4, 1};
	struct tfs_collected *collected = nsight->collected;
	const uint64_t kind = tfs_rows_whole(rows, 2, 3);
	int64_t stream;

	if (tfs_rows_whole(rows, 0, UINT32_MAX) != TFS_NSIGHT_PID(nsight->process) ||
		!tfs_rows_number(rows, 1, &stream) || stream < 0 || stream > UINT32_MAX ||
		!flags[kind])
		return 0;
	struct tfs_collected_stream *place = tfs_collected_more(
		&collected->streams, &collected->stream_count, sizeof(*collected->streams));
	if (!place)
		return -ENOMEM;
	*place = (struct tfs_collected_stream){(uint32_t)stream, flags[kind]};
	return 0;
}

/* Which of the machine's devices the process knows by which number. */
static int take_number(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	int64_t index, machine;

	if (tfs_rows_whole(rows, 0, UINT32_MAX) == TFS_NSIGHT_PID(nsight->process) &&
		tfs_rows_number(rows, 1, &index) && index >= 0 && index < TFS_NSIGHT_DEVICES &&
		tfs_rows_number(rows, 2, &machine) && machine >= 0 && machine <= UINT16_MAX)
		nsight->devices[index] = (uint32_t)machine + 1, nsight->numbered = true;
	return 0;
}

/* A device that the process worked on, under the number that it knows it by. */
static int take_device(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	struct tfs_collected *collected = nsight->collected;
	int64_t machine, index;
	size_t bytes;
	const char *name = tfs_rows_text(rows, 2, &bytes);

	if (!tfs_rows_number(rows, 0, &machine) || collected->device_count == TFS_NSIGHT_DEVICES)
		return 0;
	if (!tfs_rows_number(rows, 1, &index))
		index = machine;
	index = nsight->numbered ? -1 : index;
	for (int64_t i = 0; i < TFS_NSIGHT_DEVICES; i++)
		if (machine >= 0 && machine <= UINT16_MAX &&
			nsight->devices[i] == (uint64_t)machine + 1)
			index = i;
	if (index < 0 || index >= TFS_NSIGHT_DEVICES || !nsight->used[index])
		return 0;
	nsight->used[index] = false;
	struct tfs_collected_device *device = tfs_collected_more(
		&collected->devices, &collected->device_count, sizeof(*collected->devices));
	if (!device)
		return -ENOMEM;
	device->index = (uint16_t)index;
	device->name = name ? tfs_texts_id(&collected->names, name, bytes) : 0;
	device->memory_bytes = tfs_rows_whole(rows, 3, UINT64_C(1) << 50);
	device->multiprocessors = (uint32_t)tfs_rows_whole(rows, 4, 100000);
	device->compute =
		(uint32_t)(tfs_rows_whole(rows, 5, 1000) << 16 | tfs_rows_whole(rows, 6, 1000));
	return 0;
}

/* Those that the process worked on and of which nothing is said. */
static int add_unnamed(struct tfs_nsight *nsight)
{
	static const char name[] = "a GPU without a name";
	struct tfs_collected *collected = nsight->collected;

	for (uint16_t i = 0; i < TFS_NSIGHT_DEVICES; i++) {
		if (!nsight->used[i])
			continue;
		struct tfs_collected_device *device = tfs_collected_more(
			&collected->devices, &collected->device_count, sizeof(*collected->devices));
		if (!device)
			return -ENOMEM;
		device->index = i;
		device->name = tfs_texts_id(&collected->names, name, strlen(name));
	}
	return 0;
}

int tfs_nsight_target(struct tfs_nsight *nsight)
{
	static const struct {
		const char *table;
		int (*take)(struct tfs_nsight *nsight, const struct tfs_rows *rows);
		const char *columns[8];
	} tables[] = {
		{"TARGET_INFO_SESSION_START_TIME", take_start, {"utcEpochNs"}},
		{"ANALYSIS_DETAILS", take_details, {"startTime"}},
		{"TARGET_INFO_CUDA_STREAM", take_stream, {"processId", "streamId", "flag"}},
		{"TARGET_INFO_CUDA_DEVICE", take_number, {"pid", "cudaId", "gpuId"}},
		{"TARGET_INFO_GPU", take_device,
			{"id", "cuDevice", "name", "totalMemory", "smCount", "computeMajor",
				"computeMinor"}},
	};
	struct tfs_collected *collected = nsight->collected;
	int err = 0;

	collected->undated = true;
	for (size_t i = 0; i < collected->op_count; i++)
		if (collected->ops[i].device < TFS_NSIGHT_DEVICES)
			nsight->used[collected->ops[i].device] = true;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++)
		err = tfs_nsight_each(nsight, tables[i].table, tables[i].columns, tables[i].take);
	return err ? err : add_unnamed(nsight);
}
