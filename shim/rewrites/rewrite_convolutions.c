/* SPDX-License-Identifier: MIT */
/* The hooks' side of rewrites that take part in convolutions. */
#include <errno.h>

#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/rewrite_ledger.h"

void tfs_rewrite_convolution(struct tfs_convolution_call *call)
{
	const int saved = errno;

	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_all[i]->convolution && tfs_rewrite_takes_part(i))
			tfs_rewrite_all[i]->convolution(call);
	errno = saved;
}

/* Also those that were switched off during the call: they may have to tidy up. */
void tfs_rewrite_convolved(struct tfs_convolution_call *call)
{
	const int saved = errno;

	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_all[i]->convolved)
			tfs_rewrite_all[i]->convolved(call);
	errno = saved;
}

void tfs_rewrite_choice(struct tfs_choice_call *call)
{
	const int saved = errno;

	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_all[i]->choice && tfs_rewrite_takes_part(i))
			tfs_rewrite_all[i]->choice(call);
	errno = saved;
}

bool tfs_rewrite_answer(struct tfs_choice_call *call)
{
	const int saved = errno;
	bool done = false;

	for (size_t i = 0; tfs_rewrite_all[i] && !done; i++)
		if (tfs_rewrite_all[i]->answer && tfs_rewrite_takes_part(i))
			done = tfs_rewrite_all[i]->answer(call);
	errno = saved;
	return done;
}

void tfs_rewrite_backend(uint32_t site)
{
	const int saved = errno;

	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_all[i]->backend && tfs_rewrite_mode_of[i] != TFS_MODE_OFF)
			tfs_rewrite_all[i]->backend(site);
	errno = saved;
}

void tfs_rewrite_handle(void)
{
	const int saved = errno;

	for (size_t i = 0; tfs_rewrite_all[i]; i++)
		if (tfs_rewrite_all[i]->handle && tfs_rewrite_mode_of[i] != TFS_MODE_OFF)
			tfs_rewrite_all[i]->handle();
	errno = saved;
}
