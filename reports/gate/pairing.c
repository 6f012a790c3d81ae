/* SPDX-License-Identifier: MIT */
#include "reports/gate/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "reports/gate/renames.h"
#include "reports/support/must.h"

#define CALL_SLACK 0.05
#define BYTE_SLACK (64 * CALL_SLACK)
#define SLACK 1.01
#define MOST_FRAMES 32u

bool tfs_pairing_more_calls(double now, double before)
{
	return now > before * SLACK && now > before + CALL_SLACK;
}

bool tfs_pairing_more_bytes(double now, double before)
{
	return now > before * SLACK && now > before + BYTE_SLACK;
}

static int by_key(const void *a, const void *b)
{
	const struct tfs_spot *one = a;
	const struct tfs_spot *two = b;

	if (one->place.key != two->place.key)
		return one->place.key < two->place.key ? -1 : 1;
	return strcmp(one->function, two->function);
}

static void add(struct tfs_pairing *pairing, enum tfs_side side, const struct tfs_spot *spot)
{
	size_t count = pairing->counts[side];

	pairing->spots[side] = tfs_must_grow(pairing->spots[side], count, sizeof(*spot));
	pairing->spots[side][count] = *spot;
	pairing->counts[side]++;
}

/* Findings may stand at places where nothing is called; the rest is listed twice, and joined. */
static void collect(const struct tfs_model *model, struct tfs_pairing *pairing, enum tfs_side side)
{
	struct tfs_spot *spots;
	size_t kept = 0;

	for (size_t i = 0; i < model->call_count; i++) {
		const struct tfs_model_call *call = &model->calls[i];

		add(pairing, side,
			&(struct tfs_spot){.place = call->place,
				.function = call->function,
				.calls = call->per_step > 0 ? call->per_step : 0,
				.bytes = call->bytes_per_step > 0 ? call->bytes_per_step : 0,
				.sizes = call->sizes});
	}
	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];

		add(pairing, side,
			&(struct tfs_spot){.place = finding->place,
				.function = finding->call ? finding->call : "",
				.found = true});
	}
	spots = pairing->spots[side];
	if (spots)
		qsort(spots, pairing->counts[side], sizeof(*spots), by_key);
	for (size_t i = 0; i < pairing->counts[side]; i++) {
		if (!kept || by_key(&spots[kept - 1], &spots[i])) {
			spots[kept++] = spots[i];
			continue;
		}
		spots[kept - 1].calls += spots[i].calls;
		spots[kept - 1].bytes += spots[i].bytes;
		spots[kept - 1].found |= spots[i].found;
		if (!spots[kept - 1].sizes)
			spots[kept - 1].sizes = spots[i].sizes;
	}
	pairing->counts[side] = kept;
}

static struct tfs_spot *find(
	const struct tfs_pairing *pairing, enum tfs_side side, const struct tfs_spot *like)
{
	if (!pairing->counts[side])
		return NULL;
	return bsearch(like, pairing->spots[side], pairing->counts[side], sizeof(*like), by_key);
}

struct tfs_spot *tfs_pairing_find(const struct tfs_pairing *pairing, enum tfs_side side,
	const struct tfs_model_place *place, const char *function)
{
	const struct tfs_spot like = {.place = *place, .function = function ? function : ""};

	return find(pairing, side, &like);
}

static void join(struct tfs_spot *now, struct tfs_spot *before)
{
	now->other = before;
	before->other = now;
}

static void pair_exact(struct tfs_pairing *pairing)
{
	for (size_t i = 0; i < pairing->counts[TFS_NOW]; i++) {
		struct tfs_spot *now = &pairing->spots[TFS_NOW][i];
		struct tfs_spot *before = find(pairing, TFS_BEFORE, now);

		if (!before)
			continue;
		join(now, before);
		pairing->exact += now->calls > 0 && before->calls > 0;
	}
}

/* The frames that the key is made of. */
static size_t own_frames(const struct tfs_spot *spot, const struct tfs_model_frame **out)
{
	size_t count = 0;

	for (size_t i = 0; i < spot->place.frame_count && count < MOST_FRAMES; i++)
		if (!spot->place.frames[i].foreign)
			out[count++] = &spot->place.frames[i];
	return count;
}

static bool same_text(const char *one, const char *two, size_t one_length, size_t two_length)
{
	return one_length == two_length && !memcmp(one, two, one_length);
}

/* Without symbols there is the module, and an offset that another build moves. */
static bool same_name(const struct tfs_model_frame *one, const struct tfs_model_frame *two)
{
	if (one->function && two->function)
		return !strcmp(one->function, two->function);
	if (one->function || two->function || !one->module || !two->module)
		return false;
	return same_text(
		one->module, two->module, strcspn(one->module, "+"), strcspn(two->module, "+"));
}

static bool same_file(const struct tfs_model_frame *one, const struct tfs_model_frame *two)
{
	if (!one->file || !two->file)
		return false;
	const char *a = strrchr(one->file, '/');
	const char *b = strrchr(two->file, '/');

	return !strcmp(a ? a + 1 : one->file, b ? b + 1 : two->file);
}

static bool same_figures(const struct tfs_spot *now, const struct tfs_spot *before)
{
	return !tfs_pairing_more_calls(now->calls, before->calls) &&
	       !tfs_pairing_more_calls(before->calls, now->calls) &&
	       !tfs_pairing_more_bytes(now->bytes, before->bytes) &&
	       !tfs_pairing_more_bytes(before->bytes, now->bytes);
}

struct match {
	struct tfs_spot *now;
	struct tfs_spot *before;
	unsigned score; /* 0 = none */
	unsigned distance;
};

/* Whole stacks that differ in nothing but files, or in nothing but functions, come first; then a
 * leaf with another way to it. What is less alike must at least happen as often. */
static unsigned score(const struct tfs_spot *now, const struct tfs_spot *before)
{
	const struct tfs_model_frame *a[MOST_FRAMES], *b[MOST_FRAMES];
	const size_t count = own_frames(now, a), others = own_frames(before, b);
	size_t names = 0, files = 0, outer = 0;
	const bool same = same_figures(now, before);

	if (!count || !others)
		return 0;
	for (size_t i = 0; i < count && i < others; i++) {
		names += same_name(a[i], b[i]);
		files += same_file(a[i], b[i]);
		outer += i && same_name(a[i], b[i]) && same_file(a[i], b[i]);
	}
	const bool leaf_name = same_name(a[0], b[0]), leaf_file = same_file(a[0], b[0]);

	if (a[0]->function && count == others && names == count)
		return same ? 9 : 8;
	if (count == others && files == count)
		return same ? 7 : 6;
	if (a[0]->function && leaf_name && leaf_file)
		return same ? 5 : 4;
	if (!same)
		return 0;
	if (count == others && outer && outer == count - 1)
		return 3;
	return leaf_name || leaf_file ? 2 : 0;
}

/* Lines and offsets move together: of several that are alike, the nearest is meant. */
static unsigned distance(const struct tfs_spot *now, const struct tfs_spot *before)
{
	const struct tfs_model_frame *a = &now->place.frames[tfs_model_own_frame(&now->place)];
	const struct tfs_model_frame *b =
		&before->place.frames[tfs_model_own_frame(&before->place)];
	const char *one = !a->line && a->module ? strchr(a->module, '+') : NULL;
	const char *two = !b->line && b->module ? strchr(b->module, '+') : NULL;
	const unsigned from = one ? (unsigned)strtoul(one + 1, NULL, 16) : a->line;
	const unsigned to = two ? (unsigned)strtoul(two + 1, NULL, 16) : b->line;

	return from < to ? to - from : from - to;
}

static int best_first(const void *a, const void *b)
{
	const struct match *one = a;
	const struct match *two = b;

	if (one->score != two->score)
		return one->score > two->score ? -1 : 1;
	if (one->distance != two->distance)
		return one->distance < two->distance ? -1 : 1;
	return one->now != two->now ? (one->now < two->now ? -1 : 1)
				    : (one->before > two->before) - (one->before < two->before);
}

static bool is_left(const struct tfs_spot *spot)
{
	return !spot->other && (spot->calls > 0 || spot->found);
}

static void pair_alike(struct tfs_pairing *pairing)
{
	struct match *matches = NULL;
	struct tfs_names names[TFS_SIDES] = {{0}};
	size_t count = 0;

	for (int side = 0; side < TFS_SIDES; side++) {
		for (size_t i = 0; i < pairing->counts[side]; i++)
			tfs_names_add(&names[side], &pairing->spots[side][i].place);
		tfs_names_sort(&names[side]);
	}

	for (size_t i = 0; i < pairing->counts[TFS_NOW]; i++) {
		struct tfs_spot *now = &pairing->spots[TFS_NOW][i];

		for (size_t j = 0; is_left(now) && j < pairing->counts[TFS_BEFORE]; j++) {
			struct tfs_spot *before = &pairing->spots[TFS_BEFORE][j];

			if (!is_left(before) || strcmp(now->function, before->function) != 0)
				continue;
			struct match match = {now, before, score(now, before), 0};

			if (!match.score || !tfs_names_may_differ(&now->place, &names[TFS_NOW],
						    &before->place, &names[TFS_BEFORE]))
				continue;
			match.distance = distance(now, before);
			matches = tfs_must_grow(matches, count, sizeof(*matches));
			matches[count++] = match;
		}
	}
	if (count)
		qsort(matches, count, sizeof(*matches), best_first);
	for (size_t i = 0; i < count; i++)
		if (!matches[i].now->other && !matches[i].before->other)
			join(matches[i].now, matches[i].before);
	free(matches);
	tfs_names_finish(&names[TFS_NOW]);
	tfs_names_finish(&names[TFS_BEFORE]);
}

void tfs_pairing_make(const struct tfs_model *now, const struct tfs_model *before,
	struct tfs_pairing *out_pairing)
{
	memset(out_pairing, 0, sizeof(*out_pairing));
	collect(now, out_pairing, TFS_NOW);
	collect(before, out_pairing, TFS_BEFORE);
	pair_exact(out_pairing);
	pair_alike(out_pairing);
}

void tfs_pairing_finish(struct tfs_pairing *pairing)
{
	free(pairing->spots[TFS_NOW]);
	free(pairing->spots[TFS_BEFORE]);
	memset(pairing, 0, sizeof(*pairing));
}
