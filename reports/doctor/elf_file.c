/* SPDX-License-Identifier: MIT */
#include "reports/doctor/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

static const char *find_text(Elf *elf, const char *text, size_t *out_left)
{
	size_t bytes = 0;
	const char *whole = elf_rawfile(elf, &bytes);
	const char *found = whole ? memmem(whole, bytes, text, strlen(text)) : NULL;

	if (found)
		*out_left = bytes - (size_t)(found - whole);
	return found;
}

static bool has_text(Elf *elf, const char *text)
{
	size_t left;

	return find_text(elf, text, &left) != NULL;
}

/* nvcc leaves its version in device code that it compiled. */
static void read_release(Elf *elf, char out_release[16])
{
	static const char text[] = "Cuda compilation tools, release ";
	size_t left = 0, length = 0;
	const char *found = find_text(elf, text, &left);

	if (!found)
		return;
	found += sizeof(text) - 1;
	left -= sizeof(text) - 1;
	while (length < 15 && length < left &&
		(found[length] == '.' || (found[length] >= '0' && found[length] <= '9')))
		length++;
	memcpy(out_release, found, length);
}

static void read_dynamic(
	Elf *elf, Elf_Scn *section, const GElf_Shdr *head, struct tfs_elf_file *out)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	GElf_Dyn entry;

	for (size_t i = 0; data && i < count && gelf_getdyn(data, (int)i, &entry); i++) {
		const char *text;

		out->starts |= entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0;
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RUNPATH &&
			entry.d_tag != DT_RPATH)
			continue;
		text = elf_strptr(elf, head->sh_link, entry.d_un.d_val);
		if (!text)
			continue;
		if (entry.d_tag == DT_RUNPATH ||
			(entry.d_tag == DT_RPATH && !out->runpath_only_here))
			snprintf(out->runpath, sizeof(out->runpath), "%s", text);
		out->runpath_only_here |= entry.d_tag == DT_RUNPATH;
		if (entry.d_tag != DT_NEEDED)
			continue;
		if (out->needed_count < TFS_ELF_NEEDED)
			snprintf(out->needed[out->needed_count++], sizeof(out->needed[0]), "%s",
				text);
	}
}

static void read_imports(
	Elf *elf, Elf_Scn *section, const GElf_Shdr *head, struct tfs_elf_file *out)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; data && i < count && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf, head->sh_link, symbol.st_name);

		if (!name || symbol.st_shndx != SHN_UNDEF)
			continue;
		out->opens_apart |= !strcmp(name, "dlmopen");
		out->opens_libraries |= !strcmp(name, "dlopen") || out->opens_apart;
	}
}

static void read_sections(Elf *elf, struct tfs_elf_file *out)
{
	Elf_Scn *section = NULL;
	size_t names = 0;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr head;
		const char *name;

		if (!gelf_getshdr(section, &head))
			continue;
		name = elf_strptr(elf, names, head.sh_name);
		if (head.sh_type == SHT_DYNAMIC)
			read_dynamic(elf, section, &head, out);
		else if (head.sh_type == SHT_DYNSYM)
			read_imports(elf, section, &head, out);
		out->symbols |= head.sh_type == SHT_SYMTAB;
		out->lines |= name && !strcmp(name, ".debug_line");
	}
}

/* Whether everything that the file's headers promise lies in the file. */
static bool is_whole(Elf *elf, const GElf_Ehdr *head, uint64_t bytes)
{
	size_t segments = 0;

	if (elf_getphdrnum(elf, &segments) || head->e_shoff > bytes ||
		head->e_shnum > (bytes - head->e_shoff) / sizeof(Elf64_Shdr))
		return false;
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_offset > bytes ||
			segment.p_filesz > bytes - segment.p_offset)
			return false;
	}
	return true;
}

static void read_interpreter(Elf *elf, const GElf_Phdr *segment, struct tfs_elf_file *out)
{
	size_t bytes = 0;
	const char *whole = elf_rawfile(elf, &bytes);

	out->dynamic = true;
	if (whole && segment->p_offset <= bytes && segment->p_filesz <= bytes - segment->p_offset)
		snprintf(out->interpreter, sizeof(out->interpreter), "%.*s",
			(int)(segment->p_filesz < 128 ? segment->p_filesz : 127),
			whole + segment->p_offset);
}

static int read_elf(Elf *elf, uint64_t bytes, struct tfs_elf_file *out)
{
	GElf_Ehdr head;
	size_t segments = 0;
	bool linked = false;

	if (!gelf_getehdr(elf, &head) || !is_whole(elf, &head, bytes))
		return -EBADMSG;
	if (gelf_getclass(elf) != ELFCLASS64 || head.e_machine != MACHINE)
		return 0;
	if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
		return -ENOEXEC;
	out->is_elf = true;
	elf_getphdrnum(elf, &segments);
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment = {0};

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP)
			read_interpreter(elf, &segment, out);
		linked |= segment.p_type == PT_DYNAMIC;
	}
	read_sections(elf, out);
	out->library = head.e_type == ET_DYN && linked && !out->dynamic && !out->starts;
	read_release(elf, out->release);
	/* Both names are in every CUDA runtime and, as a pair, hardly anywhere else. */
	out->static_cudart =
		has_text(elf, "cuGetProcAddress_v2") && has_text(elf, "cudaErrorCudartUnloading");
	out->nvtx = has_text(elf, "NVTX_INJECTION64_PATH");
	return 0;
}

int tfs_elf_file_read(const char *path, struct tfs_elf_file *out_file)
{
	struct stat about;
	char start[4] = "";
	int err = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	memset(out_file, 0, sizeof(*out_file));
	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || pread(fd, start, 4, 0) < 2) {
		close(fd);
		return -ENOEXEC;
	}
	out_file->is_script = !memcmp(start, "#!", 2);
	if (!memcmp(start, ELFMAG, SELFMAG)) {
		Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL)
							      : NULL;
		err = elf && elf_kind(elf) == ELF_K_ELF
			      ? read_elf(elf, (uint64_t)about.st_size, out_file)
			      : -EBADMSG;
		elf_end(elf);
	}
	close(fd);
	return err;
}

bool tfs_elf_file_fits(const char *path)
{
	Elf64_Ehdr head;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const bool whole = fd >= 0 && pread(fd, &head, sizeof(head), 0) == sizeof(head);

	if (fd >= 0)
		close(fd);
	return whole && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
	       head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_machine == MACHINE;
}
