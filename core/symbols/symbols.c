// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/symbols.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/proc.h"
#include "core/symbols/build_ids.h"
#include "core/symbols/elf.h"
#include "core/symbols/kernel_names.h"
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
	const struct recorded *recorded; /* NULL: sampled now */
	struct kernel_names *kernel;

	struct symbol_file *files;
	size_t nr_files, cap_files;
	struct hash_index by_file;
	uint64_t nr_read;   /* symbols, of all files */
	uint64_t forgotten; /* tasks_forgotten() when the first of them was looked at */
	size_t nr_skipped;
	int skipped_rc; /* why the first one was */
	size_t nr_mismatched;

	struct elf_symbols *vdso;
	uint64_t vdso_len;
	bool vdso_asked;
};

int symbols_open(struct tasks *tasks, const struct symbols_cfg *cfg, struct symbols **out, struct err *err)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_sys(err, -ENOMEM, "cannot name the stacks");
	s->tasks = tasks;
	s->host = cfg->host;
	s->recorded = cfg->recorded;
	rc = kernel_names_open(cfg, &s->kernel, err);
	if (rc)
		free(s);
	else
		*out = s;
	return rc;
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
	kernel_names_free(s->kernel);
	free(s);
}

void symbols_kernel(struct symbols *s, uint64_t addr, bool is_return, struct symbol *out)
{
	struct kernel_symbol found;

	*out = (struct symbol){ 0 };
	if (!kernel_address(addr))
		return;
	out->module = "kernel";
	if (!kernel_names_find(s->kernel, addr - is_return, &found))
		return;
	out->name = found.name;
	out->offset = addr - found.start;
	out->module = found.module;
}

bool symbols_kernel_hidden(const struct symbols *s, struct err *why)
{
	return kernel_names_hidden(s->kernel, why);
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

/* The build id that decides whether a file is @file of a recording. False: nothing is known of it. */
static bool recorded_build(const struct symbols *s, const struct mapped_file *file, struct build_id *id)
{
	const struct build_id *found;

	if (build_id_set(id, file->build_id, file->build_id_size))
		return true;
	found = build_ids_find(s->recorded->build_ids, file->path);
	/* Two builds were at this path: then an inode says more. */
	if (!found || (!found->size && file->ino))
		return false;
	*id = *found;
	return true;
}

/*
 * Is the file at @fd, open for reading, of the build @id? What cannot be told of is not.
 * Return: 0; -ESTALE: it is not; -EMFILE and the like: it was not read.
 */
static int compare_build(int fd, const struct build_id *id)
{
	struct build_id found;
	int rc = elf_build_id(fd, &found);

	if (rc == -ENOEXEC || (!rc && !build_id_equal(&found, id)))
		return -ESTALE;
	return rc;
}

/*
 * Read the symbols of what is at @handle, an O_PATH descriptor: the regular file of build @id, or when that is NULL, of
 * @file's inode. Return: 0; -ESTALE: another file; -errno.
 */
static int load_handle(int handle, const struct mapped_file *file, const struct build_id *id, struct elf_symbols **out)
{
	struct mapped_file any = { 0 };
	char self[64];
	int fd, rc = 0;

	if (!is_mapped_file(handle, id ? &any : file))
		return -ESTALE;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", handle);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return missing(-errno);
	if (id)
		rc = compare_build(fd, id);
	if (!rc)
		rc = elf_symbols_open(fd, out);
	close(fd);
	return rc;
}

/* Read the symbols of @file, found below directory @root. Return: as load_handle(); -ENOENT: it is not there. */
static int load_below(const char *root, const struct mapped_file *file, const struct build_id *id,
		      struct elf_symbols **out)
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), handle, rc;

	if (dir < 0)
		return missing(-errno);
	handle = open_below(dir, file->path);
	close(dir);
	if (handle < 0)
		return handle;
	rc = load_handle(handle, file, id, out);
	close(handle);
	return rc;
}

/* The process's own root first: it may live in a container. */
static int load_live(struct symbols *s, const struct mapped_file *file, pid_t pid, struct elf_symbols **out)
{
	char root[PATH_MAX];
	int rc = -ENOENT;

	if (snprintf(root, sizeof(root), "%s/%d/root", s->host->proc, pid) < (int)sizeof(root))
		rc = load_below(root, file, NULL, out);
	if (rc == -ENOENT || rc == -ESTALE)
		rc = load_below("/", file, NULL, out);
	return rc == -ESTALE ? -ENOENT : rc;
}

/* No process of the recording is asked: one that has its number now is another one. So the first answer is final. */
static int load_recorded(struct symbols *s, struct symbol_file *f, struct elf_symbols **out)
{
	struct build_id id;
	bool known = recorded_build(s, f->file, &id);
	int rc = -ENOENT;

	f->tries_left = 0;
	/* Of another boot, the path alone says too little. */
	if (known || f->file->ino || s->recorded->boot != BOOT_OTHER)
		rc = load_below("/", f->file, known ? &id : NULL, out);
	s->nr_mismatched += rc == -ESTALE;
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

size_t symbols_mismatched(const struct symbols *s)
{
	return s->nr_mismatched;
}

/* Try once for each process, until it is found or there were enough tries. A broken file is final. */
static struct elf_symbols *file_symbols(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	int rc;

	if (f->elf || !f->tries_left || f->tried_pid == pid)
		return f->elf;
	if (s->nr_read >= ALL_SYMBOLS_MAX) {
		f->tries_left = 0;
		skip(s, -E2BIG);
		return NULL;
	}
	f->tried_pid = pid;
	f->tries_left--;
	rc = s->recorded ? load_recorded(s, f, &f->elf) : load_live(s, f->file, pid, &f->elf);
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

/* Is our vDSO the one of @file? Its build id proves it, and else it is that of the kernel. */
static bool is_our_vdso(const struct symbols *s, const struct mapped_file *file)
{
	struct build_id id;

	if (s->recorded && recorded_build(s, file, &id))
		return build_id_equal(elf_symbols_build_id(s->vdso), &id);
	return kernel_names_running(s->kernel);
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
	return s->vdso && is_our_vdso(s, m->file) ? s->vdso : NULL;
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
