/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_ATTENTION_OPEN_H
#define TFS_RULES_DEVICE_ATTENTION_OPEN_H

/*
 * One attention while its work is followed along its stream, from its first product to the second.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/device/attention.h"
#include "rules/device/products.h"
#include "rules/device/used.h"
#include "rules/timeline/timeline.h"

/* An attention whose second product has not come yet. */
struct tfs_attention_open {
	struct tfs_attention found;
	struct tfs_product product;
	struct tfs_used values; /* that hold what the products pass, as it is now */
	uint64_t rows;
	bool shared; /* its rows have become shares, for all that is seen */
	bool whole;  /* or may have: a kernel of the program has worked row by row */
	bool blind;  /* a kernel came between of which it was not seen what it works on */
};

enum tfs_attention_then { TFS_THEN_GO_ON, TFS_THEN_END, TFS_THEN_FOUND };

/* Whether an attention may begin with this call: then *out_open is it, of which nothing has to be
 * given back. */
bool tfs_attention_opens(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_attention_open *out_open);

/* Does one of the operands share memory with its values? */
bool tfs_attention_touches(const struct tfs_attention_open *open, const struct tfs_used *operands);

/* Adds a call, by its number. There must be room, see TFS_ATTENTION_CALLS. */
void tfs_attention_add(struct tfs_attention *attention, uint32_t call);

/* What the next work of the stream means to it. */
enum tfs_attention_then tfs_attention_go_on(
	const struct tfs_timeline *timeline, struct tfs_attention_open *open, uint32_t index);

#endif
