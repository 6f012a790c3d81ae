/* SPDX-License-Identifier: MIT */
#include "reports/model/reasons.h"

#include <stdlib.h>
#include <string.h>

#include "reports/model/words.h"

/* Of equal ones the one that was refused first. */
static int most_first(const void *a, const void *b)
{
	const struct tfs_refusal_reason *one = a;
	const struct tfs_refusal_reason *other = b;

	if (one->count != other->count)
		return one->count > other->count ? -1 : 1;
	return (one->most > other->most) - (one->most < other->most);
}

const struct tfs_refusal_reason *tfs_reasons_find(
	struct tfs_arena *arena, const struct tfs_model_rewrite *rewrite, size_t *out_count)
{
	struct tfs_refusal_reason *reasons =
		tfs_arena_alloc(arena, rewrite->refusal_count, sizeof(*reasons));
	size_t count = 0;

	for (size_t i = 0; reasons && i < rewrite->refusal_count; i++) {
		const struct tfs_model_refusal *refusal = &rewrite->refusals[i];
		size_t at = 0;

		while (at < count && strcmp(reasons[at].text, refusal->text))
			at++;
		struct tfs_refusal_reason *reason = &reasons[at];

		if (at == count)
			reasons[count++] =
				(struct tfs_refusal_reason){.text = refusal->text, .most = refusal};
		reason->count += refusal->count;
		reason->sites++;
		if (refusal->count > reason->most->count)
			reason->most = refusal;
	}
	if (count)
		qsort(reasons, count, sizeof(*reasons), most_first);
	*out_count = count;
	return reasons;
}

static const char *times(struct tfs_arena *arena, uint64_t count)
{
	return count == 1
		       ? "once"
		       : tfs_arena_print(arena, "%s times", tfs_words_count(arena, (double)count));
}

const char *tfs_reasons_print(struct tfs_arena *arena, const struct tfs_refusal_reason *reason)
{
	const char *place = tfs_words_place(arena, &reason->most->place);

	if (reason->sites == 1)
		return tfs_arena_print(
			arena, "refused %s at %s", times(arena, reason->count), place);
	return tfs_arena_print(arena, "refused %s at %s call sites, most often at %s (%s)",
		times(arena, reason->count), tfs_words_count(arena, (double)reason->sites), place,
		times(arena, reason->most->count));
}
