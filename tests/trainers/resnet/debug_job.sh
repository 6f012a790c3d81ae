#!/bin/sh
# SPDX-License-Identifier: MIT
# A job of somebody who looked for an error once, on a GPU that he shares: debug_job.sh PROGRAM
# ARGUMENT...
#
# /* whole: TFS707 TFS907 */
export CUDA_LAUNCH_BLOCKING=1 TFSIM_MPS=1
exec "$@"
