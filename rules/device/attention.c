/* SPDX-License-Identifier: MIT */
#include "rules/device/attention.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/device/attention_open.h"
#include "rules/device/products.h"
#include "rules/device/used.h"
#include "rules/device/zeroing.h"

/* Calls behind a product among which the next one is looked for. */
#define MOST_BEHIND 64u

static bool find_from(
	const struct tfs_steady *steady, uint32_t nth, struct tfs_attention_open *open)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *first = tfs_steady_call(steady, nth);

	tfs_attention_add(&open->found, steady->calls[nth]);
	for (uint32_t i = nth + 1; i < steady->call_count && i <= nth + MOST_BEHIND; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		enum tfs_attention_then then;

		if (call->step != first->step)
			return false;
		if (!tfs_family_submits(call->family) && !call->op_count)
			continue;
		if (steady->waits[i].stream != steady->waits[nth].stream) {
			const struct tfs_used operands = tfs_used_by(timeline, call);

			if (tfs_attention_touches(open, &operands))
				return false;
			if (tfs_zeros_opaque(timeline, call))
				open->found.opaque = steady->calls[i];
			continue;
		}
		then = tfs_attention_go_on(timeline, open, steady->calls[i]);
		if (then != TFS_THEN_GO_ON)
			return then == TFS_THEN_FOUND;
	}
	return false;
}

/* What goes back through an attention reads its shares between products of the same shapes. */
static bool goes_back(const struct tfs_steady *steady, const struct tfs_attentions *earlier,
	const struct tfs_attention *attention)
{
	const struct tfs_timeline *timeline = steady->timeline;

	for (uint32_t i = 1; i + 1 < attention->count; i++) {
		const struct tfs_used operands =
			tfs_used_by(timeline, &timeline->calls[attention->calls[i]]);

		for (size_t j = earlier->count; j-- > 0;) {
			const struct tfs_attention *other = &earlier->items[j];

			if (timeline->calls[other->calls[0]].step !=
				timeline->calls[attention->calls[0]].step)
				break;
			for (unsigned k = 0; k < operands.count; k++)
				if (operands.items[k].address == other->shares &&
					operands.items[k].range == other->range &&
					other->shares != attention->shares)
					return true;
		}
	}
	return false;
}

static struct tfs_attention *more(struct tfs_attentions *attentions)
{
	if (attentions->count == attentions->room) {
		size_t room = attentions->room ? attentions->room * 2 : 64;
		struct tfs_attention *items = realloc(attentions->items, room * sizeof(*items));

		if (!items)
			return NULL;
		attentions->items = items;
		attentions->room = room;
	}
	return &attentions->items[attentions->count++];
}

int tfs_attentions_find(const struct tfs_steady *steady, struct tfs_attentions *out_attentions)
{
	const bool unseen = tfs_zeros_any_opaque(steady);

	memset(out_attentions, 0, sizeof(*out_attentions));
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_attention *next;
		struct tfs_attention_open open;

		if (tfs_product_batched(call) &&
			!(tfs_steady_attribute(call, TFS_ATTRIBUTE_alignment, 0) &
				TFS_PRODUCT_ORDERED))
			out_attentions->unordered_ns += tfs_steady_device_ns(steady, call);
		if (!tfs_attention_opens(steady->timeline, call, &open) ||
			!find_from(steady, i, &open) ||
			goes_back(steady, out_attentions, &open.found))
			continue;
		next = more(out_attentions);
		if (!next) {
			tfs_attentions_finish(out_attentions);
			return -ENOMEM;
		}
		*next = open.found;
		if (unseen && next->kept == TFS_KEPT_NOT)
			next->kept = TFS_KEPT_PERHAPS;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = ((const struct tfs_attention *)a)->calls[0];
	const uint32_t y = ((const struct tfs_attention *)b)->calls[0];

	return (x > y) - (x < y);
}

const struct tfs_attention *tfs_attentions_at(
	const struct tfs_attentions *attentions, uint32_t call)
{
	const struct tfs_attention key = {.calls = {call}};

	return bsearch(&key, attentions->items, attentions->count, sizeof(key), compare);
}

double tfs_attention_call_ns(
	const struct tfs_steady *steady, const struct tfs_attention *attention, uint32_t nth)
{
	return tfs_steady_device_ns(steady, &steady->timeline->calls[attention->calls[nth]]);
}

double tfs_attention_ns(const struct tfs_steady *steady, const struct tfs_attention *attention)
{
	double ns = 0;

	for (uint32_t i = 0; i < attention->count; i++)
		ns += tfs_attention_call_ns(steady, attention, i);
	return ns;
}

void tfs_attentions_finish(struct tfs_attentions *attentions)
{
	free(attentions->items);
	memset(attentions, 0, sizeof(*attentions));
}
