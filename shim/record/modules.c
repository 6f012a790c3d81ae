/* SPDX-License-Identifier: MIT */
#include "shim/record/modules.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/record/intern.h"
#include "shim/record/recorder.h"
#include "shim/resolve/deep.h"

#define SLOTS 4096u

static _Atomic uint64_t written[SLOTS];

static uint16_t find_build_id(const struct dl_phdr_info *object, uint8_t *out, size_t room)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		const char *next = (const char *)(object->dlpi_addr + part->p_vaddr);
		const char *end = next + part->p_memsz;

		while (part->p_type == PT_NOTE && next + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const void *)next;
			const char *name = next + sizeof(*note);
			const char *data = name + ((note->n_namesz + 3) & ~3u);

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
				memcmp(name, "GNU", 4) == 0) {
				const size_t bytes = note->n_descsz < room ? note->n_descsz : room;
				memcpy(out, data, bytes);
				return (uint16_t)bytes;
			}
			next = data + ((note->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

static int write_object(struct dl_phdr_info *object, size_t bytes, void *nothing)
{
	const char *path = object->dlpi_name;
	struct tfs_module_record record = {.load_bias = object->dlpi_addr};
	bool fresh;

	(void)bytes;
	(void)nothing;
	if (path[0] == '\0')
		path = tfs_recording.header->program;
	record.build_id_bytes = find_build_id(object, record.build_id, sizeof(record.build_id));
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
			continue;
		record.start = object->dlpi_addr + part->p_vaddr;
		record.end = record.start + part->p_memsz;
		record.file_offset = part->p_offset;
		const uint64_t hash = tfs_intern_hash(&record.start, sizeof(record.start)) ^
				      tfs_intern_hash(path, strlen(path));
		tfs_intern_claim(written, SLOTS, hash, &fresh);
		if (!fresh)
			continue;
		record.path = tfs_recorder_string(path);
		tfs_recorder_put(&record, TFS_RECORD_module, sizeof(record));
	}
	return 0;
}

/* What was opened with RTLD_DEEPBIND since the last time. */
static void write_deep(void)
{
	static uint32_t place;
	const char *file;

	while ((file = tfs_deep_next(&place)))
		tfs_recorder_fact(TFS_FACT_deepbind, file, place, 0);
}

void tfs_modules_write(void)
{
	if (!tfs_recording.header)
		return;
	dl_iterate_phdr(write_object, NULL);
	write_deep();
}
