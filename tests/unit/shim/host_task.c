/* SPDX-License-Identifier: MIT */
/* What is read of threads and child processes, from a folder that looks like /proc. */
#include "shim/host/host_task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/host/host_others.h"
#include "tests/test.h"

#define TID 123

static char root[64];

static void put(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	FILE *file = fopen(path, "w");
	TEST_NEED(file);
	fputs(text, file);
	fclose(file);
}

static void folder(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	TEST_EQ(mkdir(path, 0700), 0);
}

static void link_to(const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	TEST_EQ(symlink(target, path), 0);
}

static void put_call(long number)
{
	char text[64];

	snprintf(text, sizeof(text), "%ld 0x7 0x1000 0x0 0x0 0x0 0x0 0x7ffc0 0x7f000\n", number);
	put("self/task/123/syscall", text);
}

static struct tfs_host_record read_all(void)
{
	struct tfs_host_record record = {0};
	struct tfs_host_task task = {0};

	TEST_TRUE(tfs_host_task_open(&task, root, TID));
	TEST_TRUE(tfs_host_task_read(&task, &record));
	tfs_host_task_close(&task);
	TEST_EQ(record.tid, TID);
	return record;
}

static void put_state(char state)
{
	char text[128];

	/* A name that may hold anything; the ninth number behind the state counts faults. */
	snprintf(text, sizeof(text), "123 (a) S (b) %c 1 2 3 4 5 6 7 8 5 9 120 30\n", state);
	put("self/task/123/stat", text);
}

static void figures(void)
{
	struct tfs_host_record record;

	put_state('R');
	record = read_all();
	TEST_EQ(record.doing, TFS_HOST_code);
	TEST_EQ(record.faults, 5);
	TEST_EQ(record.known, 0);
	TEST_EQ(record.user_ns * (uint64_t)sysconf(_SC_CLK_TCK), UINT64_C(120000000000));
	TEST_EQ(record.kernel_ns * (uint64_t)sysconf(_SC_CLK_TCK), UINT64_C(30000000000));
	put("self/task/123/schedstat", "5000000000 70000 12\n");
	put("self/task/123/io", "rchar: 123456\nwchar: 9\n");
	record = read_all();
	TEST_EQ(record.known, TFS_HOST_HAS_TIMES | TFS_HOST_HAS_READS);
	TEST_EQ(record.ran_ns, 5000000000);
	TEST_EQ(record.queued_ns, 70000);
	TEST_EQ(record.read_bytes, 123456);
	put("self/task/123/schedstat", "nonsense");
	TEST_EQ(read_all().known, TFS_HOST_HAS_READS);
}

/* By its number, and where it is about a descriptor, by what that is. */
static void calls(void)
{
	static const struct {
		long number;
		enum tfs_host_doing doing;
	} cases[] = {{SYS_futex, TFS_HOST_lock}, {SYS_ppoll, TFS_HOST_ready},
		{SYS_wait4, TFS_HOST_process}, {SYS_clock_nanosleep, TFS_HOST_sleep},
		{SYS_recvmsg, TFS_HOST_socket}, {SYS_openat, TFS_HOST_file},
		{SYS_ioctl, TFS_HOST_device}, {SYS_semtimedop, TFS_HOST_lock},
		{SYS_io_uring_enter, TFS_HOST_ready}, {SYS_mmap, TFS_HOST_memory},
		{SYS_clone3, TFS_HOST_process}, {SYS_getpid, TFS_HOST_other}, {-1, TFS_HOST_page}};

	put_state('S');
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_call(cases[i].number);
		TEST_EQ(read_all().doing, cases[i].doing);
	}
	put("self/task/123/syscall", "running\n");
	TEST_EQ(read_all().doing, TFS_HOST_unknown);
	put_state('T');
	TEST_EQ(read_all().doing, TFS_HOST_other);
}

static void descriptors(void)
{
	static char file[128], fifo[128];
	static const struct {
		const char *target;
		enum tfs_host_doing doing;
	} cases[] = {{"pipe:[77]", TFS_HOST_pipe}, {"socket:[78]", TFS_HOST_socket},
		{file, TFS_HOST_file}, {fifo, TFS_HOST_pipe}, {"/dev/null", TFS_HOST_device},
		{"/gone (deleted)", TFS_HOST_other}, {"anon_inode:[eventfd]", TFS_HOST_lock},
		{"anon_inode:[timerfd]", TFS_HOST_other}};
	char path[128];

	snprintf(path, sizeof(path), "%s/self/task/123/fd/7", root);
	snprintf(file, sizeof(file), "%s/self/task/123/stat", root);
	snprintf(fifo, sizeof(fifo), "%s/fifo", root);
	TEST_EQ(mkfifo(fifo, 0600), 0);
	put_state('S');
	put_call(SYS_read);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		link_to("self/task/123/fd/7", cases[i].target);
		TEST_EQ(read_all().doing, cases[i].doing);
		unlink(path);
	}
	TEST_EQ(read_all().doing, TFS_HOST_other);
}

/* Checkpoints are written, and samples read, by any of these. */
static void reads_and_writes(void)
{
	static const long numbers[] = {SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_preadv2,
		SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_pwritev2};
	static const long on_files[] = {SYS_fsync, SYS_fdatasync, SYS_fallocate, SYS_ftruncate,
		SYS_copy_file_range, SYS_getdents64, SYS_statx, SYS_newfstatat, SYS_sendfile};
	char path[128];

	snprintf(path, sizeof(path), "%s/self/task/123/fd/7", root);
	link_to("self/task/123/fd/7", "pipe:[77]");
	put_state('D');
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		put_call(numbers[i]);
		TEST_EQ(read_all().doing, TFS_HOST_pipe);
	}
	for (size_t i = 0; i < sizeof(on_files) / sizeof(on_files[0]); i++) {
		put_call(on_files[i]);
		TEST_EQ(read_all().doing, TFS_HOST_file);
	}
	unlink(path);
}

/* A thread that has ended is not looked at. */
static void ended(void)
{
	struct tfs_host_record record = {0};
	struct tfs_host_task task = {0};

	put_state('Z');
	TEST_TRUE(tfs_host_task_open(&task, root, TID));
	TEST_TRUE(!tfs_host_task_read(&task, &record));
	tfs_host_task_close(&task);
	TEST_TRUE(!tfs_host_task_open(&task, root, TID + 1));
	TEST_EQ(task.tid, 0);
	put("self/task/123/stat", "");
	TEST_TRUE(tfs_host_task_open(&task, root, TID));
	TEST_TRUE(!tfs_host_task_read(&task, &record));
	tfs_host_task_close(&task);
}

static void others(void)
{
	struct tfs_host_others_record record = {0};

	folder("self/task/124");
	folder("self/task/125");
	folder("self/task/126");
	put("self/task/124/stat", "124 (loader) R 1 2 3\n");
	put("self/task/125/stat", "125 (loader) D 1 2 3\n");
	put("self/task/126/stat", "126 (tfshim-files) R 1 2 3\n");
	put_state('S');
	put("self/task/123/children", "900 901 ");
	put("self/task/124/children", "902 903 ");
	folder("900");
	folder("901");
	folder("902");
	put("900/stat", "900 (worker) R 1 2 3\n");
	put("901/stat", "901 (worker) S 1 2 3\n");
	put("902/stat", "902 (worker) Z 1 2 3\n");
	tfs_host_others_count(root, TID, &record);
	TEST_EQ(record.threads.count, 2);
	TEST_EQ(record.threads.running, 1);
	TEST_EQ(record.threads.disk, 1);
	TEST_EQ(record.children.count, 2);
	TEST_EQ(record.children.running, 1);
	TEST_EQ(record.children.disk, 0);
	TEST_EQ(record.tid, TID);
	tfs_host_others_count("/nowhere", TID, &record);
	TEST_EQ(record.threads.count + record.children.count, 0);
}

int main(void)
{
	char command[128];

	snprintf(root, sizeof(root), "%s/tfshim-host-XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	TEST_NEED(mkdtemp(root));
	folder("self");
	folder("self/task");
	folder("self/task/123");
	folder("self/task/123/fd");
	figures();
	calls();
	descriptors();
	reads_and_writes();
	ended();
	others();
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	TEST_EQ(system(command), 0);
	return test_result();
}
