// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -ldl
/*
 * churn [SECONDS] - code that changes all the time, in two threads:
 *
 * churn-map maps a page of this executable, works in it, maps another page of it and then an anonymous page with the
 * same code over it, works in each, and unmaps. Within a millisecond the same addresses belong to oak_work, to ash_work
 * and to no function. churn-dl loads the first and the second copy of the C library's libm (in a temporary directory)
 * in turn, works in it, and unloads it.
 *
 * Expected: churn-map;...;map_forever;oak_work and ash_work or [unknown], according to the mappings that the profiler
 * knows; churn-dl;...;main;load_forever;use_library;... with functions of libm behind it, and functions of the dynamic
 * loader behind load_forever.
 */
#include "workload.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

typedef void (*work_fn)(uint64_t n);
typedef double (*math_fn)(double x);

static const char *const copies[] = { "libone.so", "libtwo.so", NULL };

/* These functions run at other addresses than they were linked for: they refer to nothing, and each is in one page. */
static NOINLINE __attribute__((aligned(4096))) void oak_work(uint64_t n)
{
	spin_iterations(n);
}

static NOINLINE __attribute__((aligned(4096))) void ash_work(uint64_t n)
{
	spin_iterations(n + 1);
}

/* The offset, in the file of this executable, of the code at @addr. */
struct place {
	uintptr_t addr, offset;
};

static int find_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *place = arg;
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || place->addr < start || place->addr - start >= ph->p_filesz)
			continue;
		place->offset = ph->p_offset + (place->addr - start);
		return 1;
	}
	return 0;
}

/* Map the code of @fn: from the file @fd, or if @fd is -1, as a copy in anonymous memory. */
static void *map_code(void *at, int flags, int fd, work_fn fn, size_t page)
{
	struct place place = { .addr = (uintptr_t)fn };
	void *map;

	if (!dl_iterate_phdr(find_offset, &place))
		workload_die("cannot find this executable");
	if (fd < 0) {
		map = mmap(at, page, PROT_READ | PROT_WRITE, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map == MAP_FAILED)
			workload_die("cannot map memory");
		memcpy(map, (const void *)(place.addr & ~(page - 1)), page);
		if (mprotect(map, page, PROT_READ | PROT_EXEC))
			workload_die("cannot make memory executable");
	} else {
		map = mmap(at, page, PROT_READ | PROT_EXEC, flags | MAP_PRIVATE, fd,
			   (off_t)(place.offset & ~(page - 1)));
		if (map == MAP_FAILED)
			workload_die("cannot map this executable");
	}
	return map;
}

/* The address of @fn in the page that is mapped at @map. */
static work_fn in_page(void *map, work_fn fn, size_t page)
{
	return (work_fn)((uintptr_t)map + ((uintptr_t)fn & (page - 1)));
}

static NOINLINE void *map_forever(void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *map = NULL;

	if (fd < 0)
		workload_die("cannot open this executable");
	workload_name_thread("churn-map");
	while (!workload_stop) {
		map = map_code(map, 0, fd, oak_work, page);
		in_page(map, oak_work, page)(200000);
		map_code(map, MAP_FIXED, fd, ash_work, page);
		in_page(map, ash_work, page)(200000);
		map_code(map, MAP_FIXED, -1, oak_work, page);
		in_page(map, oak_work, page)(100000);
		munmap(map, page);
	}
	return arg;
}

static NOINLINE void use_library(math_fn fn)
{
	int i;

	for (i = 0; i < 10000; i++)
		workload_sink += fn(1 + i / 1000.0) > 2;
}

static NOINLINE void load_forever(void)
{
	char path[PATH_MAX + 16];
	unsigned int i;

	for (i = 0; !workload_stop; i++) {
		void *library, *symbol;

		snprintf(path, sizeof(path), "%s/%s", workload_dir, copies[i % 2]);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		symbol = library ? dlsym(library, "tgamma") : NULL;
		if (!symbol) {
			fprintf(stderr, "churn: %s\n", dlerror());
			exit(1);
		}
		use_library((math_fn)(uintptr_t)symbol);
		dlclose(library);
	}
}

/* Copy the contents of the file @from to the file @to in the directory of copies. */
static void overwrite(const char *to, const char *from)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", workload_dir, to);
	workload_copy(from, path, O_TRUNC);
}

static void make_libraries(void)
{
	void *libm = dlopen(LIBM_SO, RTLD_NOW | RTLD_LOCAL);
	void *symbol = libm ? dlsym(libm, "tgamma") : NULL;
	Dl_info info;

	if (!symbol || !dladdr(symbol, &info)) {
		fprintf(stderr, "churn: no %s\n", LIBM_SO);
		exit(1);
	}
	workload_make_copies(copies);
	overwrite(copies[0], info.dli_fname);
	overwrite(copies[1], info.dli_fname);
	dlclose(libm);
}

int main(int argc, char **argv)
{
	sigset_t all, before;
	pthread_t thread;

	make_libraries();
	workload_live(argc, argv);
	/*
	 * The new thread must not get the signal that removes the copies; the main thread gets it, and needs no copies
	 * then.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	errno = pthread_create(&thread, NULL, map_forever, NULL);
	if (errno)
		workload_die("cannot start a thread");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	prctl(PR_SET_NAME, "churn-dl");
	workload_await_names(1);
	workload_ready();
	load_forever();
	return 0;
}
