/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_GATE_CARDS_H
#define TFS_REPORTS_GATE_GATE_CARDS_H

/*
 * What the gate prints of findings: a line for each cause.
 */

#include "reports/formats/colour.h"
#include "reports/gate/baseline.h"
#include "reports/model/model.h"

/* Prints a card on stdout. `of` is how each finding of the model stands; NULL = there is nothing to
 * compare with. Where only some of the card's findings are known, the others have lines below. */
void tfs_gate_card_print(const struct tfs_model *model, const struct tfs_model_card *card,
	const struct tfs_paint *paint, const struct tfs_standing_of *of, struct tfs_arena *arena);

#endif
