/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_ADDRESS_H
#define TFS_SHIM_RECORD_ADDRESS_H

#include <stdint.h>

/* What a thread learned about an address: tfs_memory_ask() of memory.h. */
struct tfs_address {
	uint64_t address;
	uint64_t left; /* bytes from there to the end of its range; 0 = none is listed */
	uint32_t kind; /* enum tfs_memory_kind */
	uint32_t sequence;
};
#define TFS_ADDRESSES 256u /* of them to a thread */

#endif
