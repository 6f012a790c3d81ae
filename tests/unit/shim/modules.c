/* SPDX-License-Identifier: MIT */
/* What is written of the files whose code is mapped: where, and by which build. This program has
 * no build id, but another maker's note of the same form; the library that it is given has a long
 * one. */
#include "shim/record/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "tests/unit/trace/recording.h"

__asm__(".pushsection .note.other,\"a\",@note\n"
	".balign 4\n"
	".long 4, 8, 3\n"
	".asciz \"GAT\"\n"
	".long 1, 2\n"
	".popsection\n");

static unsigned parts, named;

/* The same by the linker's own account. */
static int count(struct dl_phdr_info *object, size_t bytes, void *nothing)
{
	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum; i++)
		parts += object->dlpi_phdr[i].p_type == PT_LOAD &&
			 (object->dlpi_phdr[i].p_flags & PF_X) != 0;
	return nothing != NULL;
}

static void check(const struct tfs_trace *trace, const struct tfs_module_record *module)
{
	const char *path = tfs_trace_string(trace, module->path);
	const uint64_t here = (uint64_t)(uintptr_t)&check;
	const bool own = here >= module->start && here < module->end;

	TEST_TRUE(module->start < module->end);
	TEST_TRUE(module->load_bias <= module->start);
	TEST_TRUE(module->build_id_bytes <= sizeof(module->build_id));
	if (own)
		TEST_EQ(module->build_id_bytes, 0);
	named += own || strstr(path, "/libc.so") != NULL;
	if (strstr(path, "/libc.so"))
		TEST_TRUE(module->build_id_bytes > 0);
	if (strstr(path, "long_build_id")) {
		TEST_EQ(module->build_id_bytes, sizeof(module->build_id));
		for (size_t i = 0; i < sizeof(module->build_id); i++)
			TEST_EQ(module->build_id[i], i % 10 + 1);
		named++;
	}
	/* Once each. */
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_module); i++) {
		const struct tfs_module_record *other = tfs_trace_at(trace, TFS_RECORD_module, i);

		TEST_TRUE(other == module || other->start >= module->end ||
			  other->end <= module->start);
	}
}

int main(int argc, char **argv)
{
	TEST_NEED(argc == 2 && dlopen(argv[1], RTLD_NOW));
	recording_start();
	tfs_modules_write();
	tfs_modules_write();
	struct tfs_trace *trace = recording_read();

	dl_iterate_phdr(count, NULL);
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_module), parts);
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_module); i++)
		check(trace, tfs_trace_at(trace, TFS_RECORD_module, i));
	TEST_EQ(named, 3);
	recording_end(trace);
	return test_result();
}
