/* SPDX-License-Identifier: MIT */
#include "shim/base/cause.h"

#include <stddef.h>
#include <stdio.h>

void tfs_cause_name(struct tfs_cause *cause, const char *name, const char *way, const char *file)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&cause->state, &none, 1))
		return;
	if (!way)
		snprintf(cause->text, sizeof(cause->text), "%s", name);
	else
		snprintf(cause->text, sizeof(cause->text), "%.80s, %s %.60s", name, way,
			*file != '\0' ? file : "the program");
	atomic_store(&cause->state, 2);
}

const char *tfs_cause_text(const struct tfs_cause *cause)
{
	switch (atomic_load(&cause->state)) {
	case 0:
		return NULL;
	case 1:
		return "a function that another thread looks up now";
	default:
		return cause->text;
	}
}
