/* SPDX-License-Identifier: MIT */
#include "rules/catalogue/catalogue.h"

#include "rules/judge/judge.h"

static const struct tfs_catalogue_row rows[] = {
#define X(number, slug) {"TFS" #number, slug},
	TFS_CATALOGUE(X)
#undef X
		{NULL, NULL},
};

const struct tfs_catalogue_row *tfs_catalogue_at(size_t n)
{
	return n < sizeof(rows) / sizeof(rows[0]) && rows[n].id ? &rows[n] : NULL;
}

const struct tfs_catalogue_row *tfs_catalogue_unwritten(size_t n)
{
	const struct tfs_catalogue_row *row;

	for (size_t i = 0; (row = tfs_catalogue_at(i)); i++)
		if (!tfs_rule_find(row->id) && !n--)
			return row;
	return NULL;
}
