/* SPDX-License-Identifier: MIT */
/* The file of cudnn-search's decisions, which anyone may have written. */
#include <stdlib.h>
#include <string.h>

#include "rules/rewrites/decisions_file.h"
#include "shim/env.h"
#include "shim/log.h"
#include "shim/recorder.h"

struct tfs_options tfs_options = {.quiet = 1};
struct tfs_writer tfs_recording;
enum tfs_log_level tfs_log_limit;

void tfs_log_say(const char *format, ...)
{
	(void)format;
}

void tfs_log_write(enum tfs_log_level level, const char *file, int line, const char *format, ...)
{
	(void)level, (void)file, (void)line, (void)format;
}

void tfs_recorder_fact(const char *key, const char *text, uint64_t number)
{
	(void)key, (void)number;
	if (strlen(text) > 300)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);

	memcpy(text, data, bytes);
	text[bytes] = '\0';
	tfs_decisions_read(text, bytes);
	free(text);
	return 0;
}
