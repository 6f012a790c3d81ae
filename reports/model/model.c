/* SPDX-License-Identifier: MIT */
#include "reports/model/model.h"

#include <stdlib.h>
#include <string.h>

const struct tfs_model_frame *tfs_model_best_frame(const struct tfs_model_place *place)
{
	for (size_t i = 0; i < place->frame_count; i++) {
		if (place->frames[i].file && place->frames[i].line && !place->frames[i].foreign)
			return &place->frames[i];
	}
	for (size_t i = 0; i < place->frame_count; i++) {
		if (place->frames[i].function && !place->frames[i].foreign)
			return &place->frames[i];
	}
	return place->frame_count ? &place->frames[0] : NULL;
}

size_t tfs_model_own_frame(const struct tfs_model_place *place)
{
	size_t first = 0;

	while (first < place->frame_count && place->frames[first].foreign)
		first++;
	return first < place->frame_count ? first : 0;
}

const char *tfs_lane_title(enum tfs_lane lane)
{
	static const char *const titles[] = {
		[TFS_LANE_HOST] = "host calls",
		[TFS_LANE_SYNC] = "synchronisation",
		[TFS_LANE_COMPUTE] = "compute",
		[TFS_LANE_H2D] = "H2D copies",
		[TFS_LANE_D2H] = "D2H copies",
		[TFS_LANE_D2D] = "D2D copies",
		[TFS_LANE_NCCL] = "NCCL",
	};
	return (unsigned)lane < TFS_LANE_COUNT ? titles[lane] : "";
}

void tfs_model_finish(struct tfs_model *model)
{
	tfs_arena_finish(&model->arena);
	memset(model, 0, sizeof(*model));
}
