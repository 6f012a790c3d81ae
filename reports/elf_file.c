/* SPDX-License-Identifier: MIT */
#include "reports/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const unsigned char *bytes;
	uint64_t size;
};

/* A table of the file if it lies inside, else NULL. */
static const void *part(const struct image *image, uint64_t offset, uint64_t count, uint64_t size)
{
	if (offset > image->size || (size && count > (image->size - offset) / size))
		return NULL;
	return image->bytes + offset;
}

static bool has_text(const struct image *image, const char *text)
{
	return memmem(image->bytes, image->size, text, strlen(text)) != NULL;
}

static void read_needed(const struct image *image, const Elf64_Shdr *sections,
	const Elf64_Ehdr *head, const Elf64_Shdr *dynamic, struct tfs_elf_file *out)
{
	static const char *const cuda[] = {"libcudart.so", "libcuda.so", "libcudnn", "libcublas",
		"libnccl.so", "libcurand.so"};
	const Elf64_Dyn *entries = part(
		image, dynamic->sh_offset, dynamic->sh_size / sizeof(*entries), sizeof(*entries));
	if (!entries || dynamic->sh_link >= head->e_shnum)
		return;
	const Elf64_Shdr *strings = &sections[dynamic->sh_link];
	const char *names = part(image, strings->sh_offset, strings->sh_size, 1);
	for (uint64_t i = 0; names && i < dynamic->sh_size / sizeof(*entries); i++) {
		uint64_t at = entries[i].d_un.d_val;
		if (entries[i].d_tag != DT_NEEDED || at >= strings->sh_size ||
			!memchr(names + at, 0, strings->sh_size - at))
			continue;
		for (size_t j = 0; j < sizeof(cuda) / sizeof(cuda[0]); j++) {
			if (strncmp(names + at, cuda[j], strlen(cuda[j])))
				continue;
			out->needs_cuda_any = true;
			out->needs_cudart |= j == 0;
		}
	}
}

static void read_sections(
	const struct image *image, const Elf64_Ehdr *head, struct tfs_elf_file *out)
{
	const Elf64_Shdr *sections = part(image, head->e_shoff, head->e_shnum, sizeof(*sections));
	if (!sections || head->e_shentsize != sizeof(*sections) ||
		head->e_shstrndx >= head->e_shnum)
		return;
	const Elf64_Shdr *strings = &sections[head->e_shstrndx];
	const char *names = part(image, strings->sh_offset, strings->sh_size, 1);
	for (unsigned i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];
		if (section->sh_type == SHT_DYNAMIC)
			read_needed(image, sections, head, section, out);
		out->symbols |= section->sh_type == SHT_SYMTAB;
		if (names && section->sh_name < strings->sh_size &&
			!strncmp(names + section->sh_name, ".debug_line",
				strings->sh_size - section->sh_name))
			out->lines = true;
	}
}

static void read_image(const struct image *image, struct tfs_elf_file *out)
{
	const Elf64_Ehdr *head = part(image, 0, 1, sizeof(*head));
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
		head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_X86_64)
		return;
	out->is_elf = true;
	const Elf64_Phdr *segments = part(image, head->e_phoff, head->e_phnum, sizeof(*segments));
	for (unsigned i = 0; segments && i < head->e_phnum; i++)
		out->dynamic |= segments[i].p_type == PT_INTERP;
	read_sections(image, head, out);
	/* Both names are in every CUDA runtime and, as a pair, hardly anywhere else. */
	out->static_cudart = !out->needs_cudart && has_text(image, "cuGetProcAddress_v2") &&
			     has_text(image, "cudaErrorInvalidValue");
}

int tfs_elf_file_read(const char *path, struct tfs_elf_file *out_file)
{
	struct stat about;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || !about.st_size) {
		close(fd);
		return -ENOEXEC;
	}
	void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int error = bytes == MAP_FAILED ? -errno : 0;
	close(fd);
	if (error)
		return error;
	struct image image = {bytes, (uint64_t)about.st_size};
	memset(out_file, 0, sizeof(*out_file));
	read_image(&image, out_file);
	munmap(bytes, (size_t)about.st_size);
	return 0;
}
