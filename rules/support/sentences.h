/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_SUPPORT_SENTENCES_H
#define TFS_RULES_SUPPORT_SENTENCES_H

/*
 * What the traced process wrote as numbers, in words: format/check.h, format/fact.h and
 * format/reason.h hold the sentences. Numbers that this program does not know get a sentence that
 * says so. Texts live as long as the arena; any thread.
 */

#include "rules/support/arena.h"
#include "shim/trace/trace.h"

/* What was the case when the check refused. */
const char *tfs_sentence_refusal(const struct tfs_trace *trace,
	const struct tfs_refusal_record *record, struct tfs_arena *arena);

/* Why the rewrite is as it is; "" when no reason was given. */
const char *tfs_sentence_reason(const struct tfs_trace *trace,
	const struct tfs_rewrite_record *record, struct tfs_arena *arena);

/* Key and text of the fact with that number in the recording; false where a later one replaces it,
 * or goes on with its story, or this program does not know it. */
bool tfs_sentence_fact(const struct tfs_trace *trace, size_t number, struct tfs_arena *arena,
	const char **out_key, const char **out_text);

/* The text of the fact with that key; "" when there is none. */
const char *tfs_sentence_key(
	const struct tfs_trace *trace, const char *key, struct tfs_arena *arena);

#endif
