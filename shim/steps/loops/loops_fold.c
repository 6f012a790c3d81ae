/* SPDX-License-Identifier: MIT */
/*
 * Recursion: where a stack holds the same return addresses one behind the other, some function
 * called itself from there, directly or through others. Such a stack is folded, so that calls from
 * any depth of it come from the same place, and what they do is an iteration each.
 */
#include <string.h>

#include "shim/steps/loops/loops_log.h"

#define LONGEST 4u /* functions that call each other in a circle */

/* Does the stack end with the same frames twice? How many; 0 = no. */
static uint32_t repeated(const struct tfs_log_stack *stack)
{
	for (uint32_t length = 1; length <= LONGEST && 2 * length <= stack->count; length++) {
		const uint64_t *last = &stack->frames[stack->count - length];

		if (last[length - 1] == last[-1] &&
			memcmp(last, last - length, length * sizeof(*last)) == 0)
			return length;
	}
	return 0;
}

bool tfs_log_fold(const uint64_t *frames, uint32_t count, struct tfs_log_stack *out_stack)
{
	bool folded = false;

	out_stack->count = 0;
	if (count > TFS_LOOPS_FRAMES)
		count = TFS_LOOPS_FRAMES;
	for (uint32_t i = count; i-- > 0;) {
		out_stack->frames[out_stack->count++] = frames[i];
		const uint32_t again = repeated(out_stack);
		out_stack->count -= again;
		folded = folded || again != 0;
	}
	return folded;
}

void tfs_log_root(struct tfs_log_stack *stack, const uint64_t *whole, uint32_t count)
{
	uint32_t around = 0;

	while (around < count && whole[around] != stack->frames[0])
		around++;
	if (around == count || around == 0 || stack->count + around > TFS_LOOPS_FRAMES)
		return;
	memmove(&stack->frames[around], stack->frames, stack->count * sizeof(stack->frames[0]));
	memcpy(stack->frames, whole, around * sizeof(stack->frames[0]));
	stack->count += around;
}
