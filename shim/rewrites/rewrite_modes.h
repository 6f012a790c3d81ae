/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_REWRITE_MODES_H
#define TFS_SHIM_REWRITES_REWRITE_MODES_H

/* What TFSHIM_REWRITE asks for: sets (off, report, exact, safe, all), NAME or NAME=MODE. */

#include "shim/rewrites/rewrite.h"

/* Sets one mode for each of `rewrites`, ended by NULL, from off on; a later word overrules an
 * earlier one. Words that mean nothing are handed to `unknown`. */
void tfs_rewrite_modes(const char *text, const struct tfs_rewrite *const *rewrites,
	_Atomic enum tfs_rewrite_mode *modes, void (*unknown)(const char *word, int length));

#endif
