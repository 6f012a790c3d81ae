/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_ATTENTION_H
#define TFS_RULES_DEVICE_ATTENTION_H

/*
 * Attention that goes through memory: a batched product writes scores, of which each row becomes
 * shares of 1, and a second product takes these for its factors. Told by shapes and data flow: the
 * first product's sums are as long as the second one's rows are (the size of a head), and the
 * second one's sums run along the rows of which the shares are. An MLP of experts has the same
 * shapes; what is between its products is no softmax. That of cuDNN is told by its call, a kernel
 * of the program by its launch alone: a block, a warp or a thread for each row.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

#define TFS_ATTENTION_CALLS 8u

/* Whether something reads scores or shares behind the second product. */
enum tfs_kept {
	TFS_KEPT_NOT,
	TFS_KEPT_PERHAPS, /* a kernel of the program, which may as well write them anew */
	TFS_KEPT_READ
};

struct tfs_attention {
	uint32_t calls[TFS_ATTENTION_CALLS]; /* indices of the timeline's calls, in order */
	uint32_t count;
	double bytes;           /* of the scores and of the shares, on average */
	unsigned element_bytes; /* of one share */
	unsigned values;        /* memory that they and the shares take, in scores */
	uint64_t shares;        /* address of what the second product reads */
	uint32_t range;         /* that it lies in */
	bool own;               /* a kernel of the program is between the products */
	bool guessed;           /* whether it is a softmax cannot be told from shapes either */
	enum tfs_kept kept;
	uint32_t opaque; /* a call between them that may use them without naming them, or TFS_NONE
			  */
};

struct tfs_attentions {
	struct tfs_attention *items;
	size_t count;
	size_t room;
	double unordered_ns; /* in batched products whose matrices' order was not recorded */
};

/* Finds all of the judged steps; 0 or -ENOMEM. */
int tfs_attentions_find(const struct tfs_steady *steady, struct tfs_attentions *out_attentions);
/* The one that a call starts, or NULL. */
const struct tfs_attention *tfs_attentions_at(
	const struct tfs_attentions *attentions, uint32_t call);
/* Time the device spent on its nth call, and on all. */
double tfs_attention_call_ns(
	const struct tfs_steady *steady, const struct tfs_attention *attention, uint32_t nth);
double tfs_attention_ns(const struct tfs_steady *steady, const struct tfs_attention *attention);
void tfs_attentions_finish(struct tfs_attentions *attentions);

#endif
