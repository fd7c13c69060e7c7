// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/symbols.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/proc.h"
#include "core/symbols/elf.h"
#include "core/symbols/kernel.h"
#include "core/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes whose root is searched for a file: the first may have exited before the lookup. */
#define TRIES_MAX 4

/* Of all files together, 24 bytes each; when it is reached no more files are read. A desktop's have 2 million. */
#define ALL_SYMBOLS_MAX (8u << 20)

/* A mapped file, from the first address in it that was looked up. */
struct symbol_file {
	const struct mapped_file *file;
	struct elf_symbols *elf; /* NULL: none yet, or none to be had */
	pid_t tried_pid;
	unsigned int tries_left; /* 0: do not try to open it any more */
};

struct symbols {
	struct tasks *tasks;
	const struct host *host;

	struct kernel_symbols *kernel;
	bool kernel_asked;
	int kernel_rc; /* why there is no kernel, -errno */

	struct symbol_file *files;
	size_t nr_files, cap_files;
	struct hash_index by_file;
	uint64_t nr_read;   /* symbols, of all files */
	uint64_t forgotten; /* tasks_forgotten() when the first of them was looked at */
	size_t nr_skipped;
	int skipped_rc; /* why the first one was */

	struct elf_symbols *vdso;
	uint64_t vdso_len;
	bool vdso_asked;
};

struct symbols *symbols_new(struct tasks *tasks, const struct host *host)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (s) {
		s->tasks = tasks;
		s->host = host;
	}
	return s;
}

static void drop_files(struct symbols *s)
{
	size_t i;

	for (i = 0; i < s->nr_files; i++)
		elf_symbols_free(s->files[i].elf);
	hash_release(&s->by_file);
	s->nr_files = 0;
	s->nr_read = 0;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	drop_files(s);
	free(s->files);
	elf_symbols_free(s->vdso);
	kernel_symbols_free(s->kernel);
	free(s);
}

static void load_kernel(struct symbols *s)
{
	char path[PATH_MAX];

	s->kernel_asked = true;
	if (snprintf(path, sizeof(path), "%s/kallsyms", s->host->proc) >= (int)sizeof(path))
		s->kernel_rc = -ENAMETOOLONG;
	else
		s->kernel_rc = kernel_symbols_load(path, &s->kernel);
}

void symbols_kernel(struct symbols *s, uint64_t addr, bool is_return, struct symbol *out)
{
	struct kernel_symbol found;

	*out = (struct symbol){ 0 };
	if (!kernel_address(addr))
		return;
	if (!s->kernel_asked)
		load_kernel(s);
	out->module = "kernel";
	if (!s->kernel || !kernel_symbols_find(s->kernel, addr - is_return, &found))
		return;
	out->name = found.name;
	out->offset = addr - found.start;
	out->module = found.module;
}

/* In the order of the kernel's kallsyms_show_value(): a setting is only blamed for what it does. */
bool symbols_kernel_hidden(const struct symbols *s, struct err *why)
{
	static const char hidden[] = "kernel symbol names are hidden";
	bool denied = s->kernel_rc == -EACCES || s->kernel_rc == -EPERM;
	long long v;

	if (!s->kernel_rc && !(s->kernel && kernel_symbols_zeroed(s->kernel)))
		return false;
	if (s->kernel_rc && !denied)
		err_sys(why, s->kernel_rc, "kernel symbol names are missing: cannot read kallsyms");
	else if (denied)
		err_sys(why, s->kernel_rc, "%s: cannot open '%s/kallsyms'", hidden, s->host->proc);
	else if (!host_setting(s->host, "kernel/kptr_restrict", &v) && v > 0)
		err_set(why, -EPERM, "%s: kernel.kptr_restrict is %lld", hidden, v);
	else if (!host_setting(s->host, "kernel/perf_event_paranoid", &v) && v > 1)
		err_set(why, -EPERM, "%s: kernel.perf_event_paranoid is %lld", hidden, v);
	else
		err_set(why, -EPERM, "%s from this user", hidden);
	return true;
}

static bool same_file(const void *table, uint32_t pos, const void *key)
{
	const struct symbol_file *files = table;

	return files[pos].file == key;
}

/* A path that names a file that could be opened: not memory, not a device. */
static bool has_path(const char *path)
{
	return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) && strncmp(path, "/dev/", 5);
}

/* The entry of @file, made when there is none. NULL: no memory. */
static struct symbol_file *file_entry(struct symbols *s, const struct mapped_file *file)
{
	uint64_t hash = hash_bytes(&file, sizeof(file), 0);
	uint32_t pos = hash_find(&s->by_file, hash, same_file, s->files, file);
	struct symbol_file *files;

	if (pos != HASH_NONE)
		return &s->files[pos];
	files = grow(s->files, &s->cap_files, s->nr_files, 1, sizeof(*files));
	if (!files)
		return NULL;
	s->files = files;
	if (hash_add(&s->by_file, hash, (uint32_t)s->nr_files))
		return NULL;
	s->files[s->nr_files] =
		(struct symbol_file){ .file = file, .tries_left = has_path(file->path) ? TRIES_MAX : 0 };
	return &s->files[s->nr_files++];
}

/* No descriptors left is another matter than a file that is not there or may not be seen. */
static int missing(int rc)
{
	return rc == -EMFILE || rc == -ENFILE ? rc : -ENOENT;
}

/*
 * Open @path below directory @root without following any symlink: the kernel names mapped files by their real
 * path, so a link on the way was put there later, maybe to lead us out of the process's root. Works on
 * kernels before openat2(2), too. O_PATH: nothing happens to what is opened, be it a FIFO or a tape drive.
 * Return: a descriptor or -errno.
 */
static int open_below(int root, const char *path)
{
	char name[NAME_MAX + 1];
	int dir = root, fd;
	size_t len;

	for (;;) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!len || len > NAME_MAX) {
			fd = -ENOENT;
		} else {
			memcpy(name, path, len);
			name[len] = 0;
			fd = strcmp(name, "..") ? openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
			if (fd < 0)
				fd = missing(-errno);
		}
		if (dir != root)
			close(dir);
		path += len;
		if (fd < 0 || !*path)
			return fd;
		dir = fd;
	}
}

/*
 * Is the file at @fd the one that was mapped, as far as that is known? Inode numbers decide. Devices are not
 * compared: on btrfs and overlayfs stat(2) reports another one than the mapping has.
 */
static bool is_mapped_file(int fd, const struct mapped_file *file)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (!file->ino || file->ino == st.st_ino);
}

/* Read the symbols of @file, found below directory @root. Return: 0 or -errno; -ENOENT: it is not there. */
static int load_below(const char *root, const struct mapped_file *file, struct elf_symbols **out)
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), handle, fd, rc = -ENOENT;
	char self[64];

	if (dir < 0)
		return missing(-errno);
	handle = open_below(dir, file->path);
	close(dir);
	if (handle < 0)
		return handle;
	if (is_mapped_file(handle, file)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", handle);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0) {
			rc = elf_symbols_open(fd, out);
			close(fd);
		}
	}
	close(handle);
	return rc;
}

static void skip(struct symbols *s, int rc)
{
	if (!s->nr_skipped++)
		s->skipped_rc = rc;
}

bool symbols_skipped(const struct symbols *s, struct err *why)
{
	struct rlimit rl;

	if (!s->nr_skipped)
		return false;
	if (s->skipped_rc == -EMFILE && !getrlimit(RLIMIT_NOFILE, &rl))
		err_set(why, -EMFILE, "the symbols of %zu files were not read: RLIMIT_NOFILE is %llu", s->nr_skipped,
			(unsigned long long)rl.rlim_cur);
	else
		err_set(why, s->skipped_rc, "the symbols of %zu files were not read: %s", s->nr_skipped,
			s->skipped_rc == -E2BIG ? "there are too many" : strerror(-s->skipped_rc));
	return true;
}

/* Try once for each process, until it is found or there were enough tries. A broken file is final. */
static struct elf_symbols *file_symbols(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	char root[PATH_MAX];
	int rc = -ENOENT;

	if (f->elf || !f->tries_left || f->tried_pid == pid)
		return f->elf;
	if (s->nr_read >= ALL_SYMBOLS_MAX) {
		f->tries_left = 0;
		skip(s, -E2BIG);
		return NULL;
	}
	f->tried_pid = pid;
	f->tries_left--;
	/* The process's own root first: it may live in a container. */
	if (snprintf(root, sizeof(root), "%s/%d/root", s->host->proc, pid) < (int)sizeof(root))
		rc = load_below(root, f->file, &f->elf);
	if (rc == -ENOENT)
		rc = load_below("/", f->file, &f->elf);
	if (rc != -ENOENT)
		f->tries_left = 0;
	if (rc == -EMFILE || rc == -ENFILE)
		skip(s, rc);
	if (f->elf)
		s->nr_read += elf_symbols_read(f->elf);
	return f->elf;
}

static int parse_vdso(void *ctx, const struct proc_map *m)
{
	struct symbols *s = ctx;

	if (m->start != getauxval(AT_SYSINFO_EHDR))
		return 0;
	if (!elf_symbols_parse((const void *)(uintptr_t)m->start, m->end - m->start, &s->vdso))
		s->vdso_len = m->end - m->start;
	return 1;
}

/*
 * The kernel maps one image into all processes of a kind, so ours serves for theirs. A 32-bit process has
 * another one, below 4 GiB.
 */
static struct elf_symbols *vdso_symbols(struct symbols *s, const struct mapping *m)
{
	if (!s->vdso_asked) {
		s->vdso_asked = true;
		proc_maps(&host_here, getpid(), parse_vdso, s);
	}
	if (m->end - m->start != s->vdso_len || (sizeof(long) == 8 && m->start <= UINT32_MAX))
		return NULL;
	return s->vdso;
}

/* "[vdso]", "//anon" and "anon_inode:[x]" stay as they are. */
static const char *base_name(const char *path)
{
	const char *slash = path[0] == '/' && path[1] != '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

void symbols_user(struct symbols *s, pid_t pid, const char *comm, uint64_t addr, bool is_return, struct symbol *out)
{
	uint64_t lookup = addr - (is_return && addr), offset, vaddr;
	struct elf_symbols *elf = NULL;
	struct elf_symbol found;
	struct symbol_file *f;
	struct mapping m;

	*out = (struct symbol){ 0 };
	/* Files are known by their address. In a run of many reports some end, and others take their place. */
	if (s->forgotten != tasks_forgotten(s->tasks)) {
		drop_files(s);
		s->forgotten = tasks_forgotten(s->tasks);
	}
	if (tasks_find(s->tasks, pid, comm, lookup, &m) != 1)
		return;
	out->module = base_name(m.file->path);
	offset = lookup - m.start;
	if (!strcmp(m.file->path, "[vdso]")) {
		/* The whole image from its beginning; before 4.x its page offset is its address. */
		elf = vdso_symbols(s, &m);
	} else {
		f = file_entry(s, m.file);
		elf = f ? file_symbols(s, f, pid) : NULL;
		offset += m.pgoff;
	}
	if (!elf || !elf_symbols_vaddr(elf, offset, &vaddr) || !elf_symbols_find(elf, vaddr, &found))
		return;
	out->name = found.name;
	out->offset = vaddr - found.start + (addr - lookup);
}
