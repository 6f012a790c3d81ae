/* SPDX-License-Identifier: MIT */
/* Captures of streams that are open, as far as their beginnings and ends succeed. */
#include <driver_types.h>

#include "shim/state/capture.h"
#include "tests/test.h"

int main(void)
{
	TEST_TRUE(!tfs_capturing());
	tfs_capture_began(cudaErrorIllegalState);
	TEST_TRUE(!tfs_capturing());
	tfs_capture_began(cudaSuccess);
	TEST_TRUE(tfs_capturing());
	/* An end that fails ends nothing, */
	tfs_capture_ended(cudaErrorInvalidValue);
	tfs_capture_ended(cudaErrorStreamCaptureWrongThread);
	TEST_TRUE(tfs_capturing());
	tfs_capture_ended(cudaSuccess);
	TEST_TRUE(!tfs_capturing());
	/* but that of a capture that is of no use any more. */
	tfs_capture_began(cudaSuccess);
	tfs_capture_ended(cudaErrorStreamCaptureInvalidated);
	TEST_TRUE(!tfs_capturing());
	tfs_capture_began(cudaSuccess);
	tfs_capture_ended(cudaErrorStreamCaptureUnjoined);
	TEST_TRUE(!tfs_capturing());
	/* Of several each has an end of its own; one more than there are changes nothing. */
	tfs_capture_began(cudaSuccess);
	tfs_capture_began(cudaSuccess);
	tfs_capture_ended(cudaSuccess);
	TEST_TRUE(tfs_capturing());
	tfs_capture_ended(cudaSuccess);
	tfs_capture_ended(cudaSuccess);
	tfs_capture_ended(cudaErrorStreamCaptureInvalidated);
	TEST_EQ(tfs_captures_open, 0);
	tfs_capture_began(cudaSuccess);
	TEST_TRUE(tfs_capturing());
	return test_result();
}
