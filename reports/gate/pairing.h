/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_PAIRING_H
#define TFS_REPORTS_GATE_PAIRING_H

/*
 * Which call site of one run is which of another? First those whose stacks have the same names.
 * Then, of those left over that call the same function, the most alike: a file, a function or a
 * caller may have got another name, and then the other frames, the lines and how often the site is
 * reached tell. A name counts as another one's new name only where the old one is gone (renames.h),
 * so that a call that went away in one function and came up in another is not taken for moved. What
 * is called in one function is one site, whatever its lines.
 */

#include "reports/model/model.h"

struct tfs_spot {
	struct tfs_model_place place;
	const char *function; /* that is called there; "" = a place as such */
	double calls;         /* per judged step */
	double bytes;
	const double *sizes;    /* TFS_MODEL_SIZES of them, per judged step; NULL = none */
	bool found;             /* a rule points at it */
	struct tfs_spot *other; /* in the other run; NULL = none */
};

enum tfs_side { TFS_NOW, TFS_BEFORE, TFS_SIDES };

struct tfs_pairing {
	struct tfs_spot *spots[TFS_SIDES]; /* sorted by key and function */
	size_t counts[TFS_SIDES];
	size_t exact; /* spots of the steps with the same names in both */
};

/* How far apart two figures may be and be called the same. What happens every so many steps falls
 * into a window once more or once less. */
bool tfs_pairing_more_calls(double now, double before);
bool tfs_pairing_more_bytes(double now, double before);

/* Pairs the call sites of two models, which it points into. */
void tfs_pairing_make(const struct tfs_model *now, const struct tfs_model *before,
	struct tfs_pairing *out_pairing);

void tfs_pairing_finish(struct tfs_pairing *pairing);

/* The spot of a place and a called function (NULL = none), or NULL. */
struct tfs_spot *tfs_pairing_find(const struct tfs_pairing *pairing, enum tfs_side side,
	const struct tfs_model_place *place, const char *function);

#endif
