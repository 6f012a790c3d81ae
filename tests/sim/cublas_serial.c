/* SPDX-License-Identifier: MIT */
#include <cblas.h>

/*
 * Streams are threads already, and results must not depend on how many cores there are. Part of
 * every library that uses OpenBLAS.
 */
__attribute__((constructor)) static void serial(void)
{
	openblas_set_num_threads(1);
}
