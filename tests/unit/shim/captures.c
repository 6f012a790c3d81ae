/* SPDX-License-Identifier: MIT */
/* Captures of streams that are open, as far as their beginnings and ends succeed. */
#include <driver_types.h>

#include "shim/hooks/notes.h"
#include "shim/state/capture.h"
#include "tests/test.h"

int main(void)
{
	TEST_TRUE(!tfs_capturing());
	tfs_note_capture_begin(cudaErrorIllegalState);
	TEST_TRUE(!tfs_capturing());
	tfs_note_capture_begin(cudaSuccess);
	TEST_TRUE(tfs_capturing());
	/* An end that fails ends nothing, */
	tfs_note_capture_end(cudaErrorInvalidValue);
	tfs_note_capture_end(cudaErrorStreamCaptureWrongThread);
	TEST_TRUE(tfs_capturing());
	tfs_note_capture_end(cudaSuccess);
	TEST_TRUE(!tfs_capturing());
	/* but that of a capture that is of no use any more. */
	tfs_note_capture_begin(cudaSuccess);
	tfs_note_capture_end(cudaErrorStreamCaptureInvalidated);
	TEST_TRUE(!tfs_capturing());
	tfs_note_capture_begin(cudaSuccess);
	tfs_note_capture_end(cudaErrorStreamCaptureUnjoined);
	TEST_TRUE(!tfs_capturing());
	/* Of several each has an end of its own; one more than there are changes nothing. */
	tfs_note_capture_begin(cudaSuccess);
	tfs_note_capture_begin(cudaSuccess);
	tfs_note_capture_end(cudaSuccess);
	TEST_TRUE(tfs_capturing());
	tfs_note_capture_end(cudaSuccess);
	tfs_note_capture_end(cudaSuccess);
	tfs_note_capture_end(cudaErrorStreamCaptureInvalidated);
	TEST_EQ(tfs_captures_open, 0);
	tfs_note_capture_begin(cudaSuccess);
	TEST_TRUE(tfs_capturing());
	return test_result();
}
