/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_SCENES_SAMPLE_H
#define TFS_TESTS_UNIT_SCENES_SAMPLE_H

/*
 * A recording of a made-up trainer with a record of every kind: each step copies its input from
 * pageable memory, launches two kernels, waits, and reads the loss back.
 */

#include "tests/unit/scenes/builder.h"

#define SAMPLE_STEPS 4u
#define SAMPLE_STEP_NS 1000000u
#define SAMPLE_FIRST_NS 10000000u /* start of the first step */

struct builder *sample_create(uint32_t chunk_bytes, unsigned steps);

#endif
