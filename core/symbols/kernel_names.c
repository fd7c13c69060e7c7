// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_names.h"

#include "core/files/build_ids.h"
#include "core/files/elf.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/host/host.h"
#include "core/host/kernel.h"
#include "core/symbols/kernel_answers.h"
#include "core/symbols/kernel_loaded.h"
#include "core/symbols/kernel_ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Link addresses of kernels: that of x86_64; on arm64, a multiple of ARM64_TEXT that depends on the version. */
#define X86_TEXT   0xffffffff81000000ULL
#define ARM64_TEXT (128ULL << 20)

/* Which addresses may get names from kallsyms. */
enum serves { SERVES_NOTHING, SERVES_PROPER, SERVES_ALL };

static const char other_kernel[] = "the recording was made on another kernel";

struct kernel_names {
	struct symbols_cfg cfg;
	bool asked;

	struct build_id running; /* of the running kernel */
	bool running_asked;

	struct kernel_file *kallsyms; /* that of an option, else of /proc, else perf's copy; NULL: not opened */
	enum serves serves;
	struct kernel_answers *answers; /* of the running kernel; NULL: it is not asked */
	bool answers_chosen;            /* @answers is decided */
	uint64_t moved;                 /* the sampled kernel's addresses minus those of kallsyms */
	int kallsyms_rc;                /* why /proc/kallsyms could not be read, -errno */
	const char *unfit;              /* why it is not used for all addresses */

	struct elf_symbols *vmlinux;
	bool vmlinux_placed;
	uint64_t vmlinux_moved;
	struct err vmlinux_err; /* why it is not used */

	struct kernel_loaded *loaded; /* NULL: for a recording, or before sampling has begun */

	bool nameless; /* an address without a name was looked up */
	bool withheld; /* an address has no name because the code there may not be the code that was sampled */
};

static bool told(const struct recorded *r)
{
	return r->reference && kernel_address(r->reference_addr);
}

/* The build id of the running kernel. */
static const struct build_id *running_build_id(struct kernel_names *kn)
{
	if (!kn->running_asked)
		kernel_running_build(kn->cfg.files->host, &kn->running);
	kn->running_asked = true;
	return &kn->running;
}

/* The build id of the sampled kernel; NULL: not known. */
static const struct build_id *sampled_build_id(struct kernel_names *kn)
{
	const struct recorded *r = kn->cfg.files->recorded;

	return r ? build_ids_find(r->build_ids, BUILD_ID_KERNEL) : running_build_id(kn);
}

static enum same_build same_build(struct kernel_names *kn)
{
	return recorded_kernel_build(kn->cfg.files->recorded, running_build_id(kn));
}

static int open_kallsyms(struct kernel_names *kn, struct err *err)
{
	const char *path = kn->cfg.kallsyms;
	int rc = kernel_file_open(path, true, &kn->kallsyms);

	if (!rc)
		rc = kernel_file_text(kn->kallsyms);
	if (rc == -EINVAL)
		return err_set(err, rc, "cannot read kernel symbols from '%s': not a regular file", path);
	if (rc)
		return err_sys(err, rc, "cannot read kernel symbols from '%s'", path);
	if (kernel_symbols_empty(kernel_file_symbols(kn->kallsyms)))
		return err_set(err, -EINVAL, "'%s' is no copy of /proc/kallsyms", path);
	if (kernel_symbols_zeroed(kernel_file_symbols(kn->kallsyms)))
		return err_set(err, -EINVAL,
			       "all addresses in '%s' are 0: the kernel hid them from the user who copied it (copy it "
			       "as root)",
			       path);
	return 0;
}

static int read_vmlinux(const char *path, struct elf_symbols **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc;

	if (fd < 0)
		return -errno;
	rc = elf_symbols_open(fd, out);
	close(fd);
	return rc;
}

/* If only one of the two build ids is known, that proves nothing. */
static int check_vmlinux(struct kernel_names *kn, struct err *err)
{
	const struct build_id *id = elf_symbols_build_id(kn->vmlinux), *sampled = sampled_build_id(kn);

	if (!id->size || !sampled || !sampled->size || build_id_equal(id, sampled))
		return 0;
	return err_set(err, -EINVAL, "'%s' is not the kernel that %s: the build ids differ", kn->cfg.vmlinux,
		       kn->cfg.files->recorded ? "was recorded" : "runs");
}

static int open_vmlinux(struct kernel_names *kn, struct err *err)
{
	const char *path = kn->cfg.vmlinux;
	int rc = read_vmlinux(path, &kn->vmlinux);
	uint64_t addr;

	if (rc == -ENOEXEC)
		return err_set(err, rc, "cannot read kernel symbols from '%s': not an ELF file with sections", path);
	if (rc == -EINVAL)
		return err_set(err, rc, "cannot read kernel symbols from '%s': not a regular file", path);
	if (rc)
		return err_sys(err, rc, "cannot read kernel symbols from '%s'", path);
	if (!elf_symbols_address(kn->vmlinux, "_text", &addr) && !elf_symbols_address(kn->vmlinux, "_stext", &addr))
		return err_set(err, -EINVAL, "'%s' is no kernel, or is stripped: it has no symbol _text or _stext",
			       path);
	/* The build id of a recording may not have been read yet: place_vmlinux() checks it. */
	return kn->cfg.files->recorded ? 0 : check_vmlinux(kn, err);
}

int kernel_names_open(const struct symbols_cfg *cfg, struct kernel_names **out, struct err *err)
{
	struct kernel_names *kn = calloc(1, sizeof(*kn));
	int rc = 0;

	if (!kn)
		return err_sys(err, -ENOMEM, "cannot name the stacks");
	kn->cfg = *cfg;
	if (cfg->kallsyms)
		rc = open_kallsyms(kn, err);
	if (!rc && cfg->vmlinux)
		rc = open_vmlinux(kn, err);
	if (rc)
		kernel_names_free(kn);
	else
		*out = kn;
	return rc;
}

void kernel_names_free(struct kernel_names *kn)
{
	if (!kn)
		return;
	kernel_answers_free(kn->answers);
	kernel_loaded_free(kn->loaded);
	kernel_file_free(kn->kallsyms);
	elf_symbols_free(kn->vmlinux);
	free(kn);
}

static void open_running(struct kernel_names *kn)
{
	char path[PATH_MAX];

	if (kn->kallsyms || kn->kallsyms_rc)
		return;
	if (snprintf(path, sizeof(path), "%s/kallsyms", kn->cfg.files->host->proc) >= (int)sizeof(path))
		kn->kallsyms_rc = -ENAMETOOLONG;
	else
		kn->kallsyms_rc = kernel_file_open(path, false, &kn->kallsyms);
}

static void load_running(struct kernel_names *kn)
{
	open_running(kn);
	if (kn->kallsyms)
		kn->kallsyms_rc = kernel_file_text(kn->kallsyms);
	if (!kn->kallsyms_rc)
		return;
	kernel_file_free(kn->kallsyms);
	kn->kallsyms = NULL;
}

/*
 * Return true if we may use the namer. Only if /proc/kallsyms shows us addresses: a BPF program gets names even if
 * kernel.kptr_restrict hides them from us. Not with a vmlinux: only /proc/kallsyms has its load address.
 */
static bool can_ask(struct kernel_names *kn)
{
	const struct symbols_cfg *cfg = &kn->cfg;

	if (!cfg->namer || !cfg->namer->ops || cfg->files->recorded || cfg->kallsyms || cfg->vmlinux ||
	    kernel_cuts_names(cfg->files->host))
		return false;
	open_running(kn);
	return kn->kallsyms && kernel_file_shows(kn->kallsyms);
}

/* NULL: use /proc/kallsyms. */
static struct kernel_answers *answers(struct kernel_names *kn)
{
	if (!kn->answers_chosen && can_ask(kn))
		kn->answers = kernel_answers_new(kn->cfg.namer);
	kn->answers_chosen = true;
	return kn->answers;
}

/* For a recording, the choice of files needs its build ids and boot, which are not read yet. */
bool kernel_names_ahead(struct kernel_names *kn)
{
	if (kn->asked || kn->cfg.kallsyms || kn->cfg.files->recorded || answers(kn))
		return false;
	open_running(kn);
	return kn->kallsyms && kernel_file_ahead(kn->kallsyms);
}

void kernel_names_renew(struct kernel_names *kn)
{
	if (kn->answers)
		kernel_answers_renew(kn->answers);
	if (kn->loaded)
		kernel_loaded_renew(kn->loaded);
}

int kernel_names_begin(struct kernel_names *kn, bool no_records)
{
	if (kn->cfg.files->recorded || kn->cfg.kallsyms)
		return 0;
	kn->loaded = kernel_loaded_new(kn->cfg.files->host);
	if (!kn->loaded)
		return -ENOMEM;
	kernel_loaded_begin(kn->loaded, no_records);
	return 0;
}

static bool unmoved(uint64_t text)
{
	return text == X86_TEXT || !(text % ARM64_TEXT);
}

/* The build is the same, or may be: decide by the address of the kernel which names of /proc/kallsyms are used. */
static enum serves compare_addresses(struct kernel_names *kn, enum same_build same)
{
	const struct recorded *r = kn->cfg.files->recorded;
	bool equal = same == BUILD_EQUAL;
	uint64_t here;

	if (!told(r) || !kernel_symbols_reference(kernel_file_symbols(kn->kallsyms), r->reference, &here)) {
		kn->unfit = "nothing tells where the kernel of the recording was loaded";
		return equal && r->boot == BOOT_SAME ? SERVES_ALL : SERVES_NOTHING;
	}
	kn->moved = r->reference_addr - here;
	if (kn->moved || r->boot == BOOT_OTHER) {
		kn->unfit = equal ? "the recording was made in another boot of this kernel" : other_kernel;
		return equal ? SERVES_PROPER : SERVES_NOTHING;
	}
	kn->unfit = "nothing tells that the recording was made in this boot";
	return r->boot == BOOT_SAME || !unmoved(here) ? SERVES_ALL : SERVES_PROPER;
}

/* See the table in the header. */
static void judge_running(struct kernel_names *kn)
{
	enum same_build same = same_build(kn);

	kn->serves = SERVES_NOTHING;
	if (!recorded_kernel_runs(kn->cfg.files->recorded, running_build_id(kn))) {
		kn->unfit =
			same == BUILD_OTHER ? other_kernel : "nothing tells that the recording was made on this kernel";
		return;
	}
	load_running(kn);
	if (kn->kallsyms && !kernel_symbols_zeroed(kernel_file_symbols(kn->kallsyms)))
		kn->serves = compare_addresses(kn, same);
}

/*
 * Read perf's copy of the names of the sampled kernel, which is of any boot of it. NULL: there is none that can be
 * used.
 */
static struct kernel_file *read_kept(const struct kernel_names *kn)
{
	const struct build_id *id = build_ids_find(kn->cfg.files->recorded->build_ids, BUILD_ID_KERNEL);
	struct kernel_file *kept;
	int fd = id ? mapped_file_open_kallsyms(kn->cfg.files, id) : -ENOENT;

	if (fd < 0 || kernel_file_adopt(fd, true, &kept))
		return NULL;
	if (!kernel_file_text(kept) && !kernel_symbols_empty(kernel_file_symbols(kept)) &&
	    !kernel_symbols_zeroed(kernel_file_symbols(kept)))
		return kept;
	kernel_file_free(kept);
	return NULL;
}

/* The names of the running kernel are of no use: try those that perf has kept. */
static void judge_kept(struct kernel_names *kn)
{
	const struct recorded *r = kn->cfg.files->recorded;
	struct kernel_file *kept = told(r) ? read_kept(kn) : NULL;
	uint64_t kept_at;

	if (!kept)
		return;
	if (!kernel_symbols_reference(kernel_file_symbols(kept), r->reference, &kept_at)) {
		kernel_file_free(kept);
		return;
	}
	kernel_file_free(kn->kallsyms);
	kn->kallsyms = kept;
	kn->kallsyms_rc = 0;
	kn->moved = r->reference_addr - kept_at;
	kn->serves = kn->moved || unmoved(kept_at) ? SERVES_PROPER : SERVES_ALL;
	kn->unfit = "perf has kept them of another boot of this kernel";
}

/* Find the address of @name in the sampled kernel. */
static bool reference(const struct kernel_names *kn, const char *name, uint64_t *addr)
{
	const struct recorded *r = kn->cfg.files->recorded;

	if (r && told(r) && !strcmp(name, r->reference)) {
		*addr = r->reference_addr;
		return true;
	}
	if (!kn->kallsyms || kn->serves == SERVES_NOTHING ||
	    !kernel_symbols_reference(kernel_file_symbols(kn->kallsyms), name, addr))
		return false;
	*addr += kn->moved;
	return true;
}

static void place_vmlinux(struct kernel_names *kn)
{
	static const char *const names[] = { "_text", "_stext" };
	uint64_t sampled, linked;
	size_t i;

	if (check_vmlinux(kn, &kn->vmlinux_err))
		return;
	for (i = 0; i < ARRAY_SIZE(names) && !kn->vmlinux_placed; i++) {
		if (!reference(kn, names[i], &sampled) || !elf_symbols_address(kn->vmlinux, names[i], &linked))
			continue;
		kn->vmlinux_moved = sampled - linked;
		kn->vmlinux_placed = true;
	}
	if (!kn->vmlinux_placed)
		err_set(&kn->vmlinux_err, -ENODATA,
			"'%s' is not used: the address of its _text or _stext in memory is not known", kn->cfg.vmlinux);
}

static void choose(struct kernel_names *kn)
{
	kn->asked = true;
	kn->serves = SERVES_ALL;
	if (!kn->cfg.files->recorded && !kn->cfg.kallsyms)
		load_running(kn);
	else if (!kn->cfg.kallsyms)
		judge_running(kn);
	if (kn->serves == SERVES_NOTHING)
		judge_kept(kn);
	if (kn->vmlinux)
		place_vmlinux(kn);
}

static bool find_in_vmlinux(struct kernel_names *kn, uint64_t addr, struct kernel_symbol *out)
{
	struct elf_symbol found;

	if (!kn->vmlinux_placed || !elf_symbols_find(kn->vmlinux, addr - kn->vmlinux_moved, &found))
		return false;
	*out = (struct kernel_symbol){ found.name, "kernel", found.start + kn->vmlinux_moved };
	return true;
}

static bool find_in_kallsyms(struct kernel_names *kn, uint64_t addr, struct kernel_symbol *out)
{
	struct kernel_symbol found;

	if (!kn->kallsyms || kn->serves == SERVES_NOTHING)
		return false;
	if (!kernel_file_find(kn->kallsyms, addr - kn->moved, &found)) {
		kn->kallsyms_rc = kernel_file_error(kn->kallsyms);
		return false;
	}
	if (kn->serves == SERVES_PROPER && strcmp(found.module, "kernel") != 0)
		return false;
	*out = found;
	out->start += kn->moved;
	return true;
}

/* Return true if @s was there when the sample was taken. No PERF_RECORD_KSYMBOL is about it (kernel_ranges.h). */
static bool is_sampled(struct kernel_names *kn, const struct kernel_symbol *s)
{
	const struct kernel_ranges *ranges = kn->cfg.kernel_ranges;

	/* A copy of kallsyms that an option names is believed as it is. */
	if (kn->cfg.kallsyms)
		return true;
	/* perf record also records the code that is there when it starts: code without a record was not there. */
	if (kernel_symbol_made(s) && (kn->cfg.files->recorded || (ranges && kernel_ranges_incomplete(ranges))))
		return false;
	return !kn->loaded || kernel_loaded_stayed(kn->loaded, s);
}

static bool find_now(struct kernel_names *kn, uint64_t addr, struct kernel_symbol *out)
{
	if (answers(kn) && kernel_answers_find(kn->answers, addr, out))
		return true;
	if (!kn->asked)
		choose(kn);
	return find_in_vmlinux(kn, addr, out) || find_in_kallsyms(kn, addr, out);
}

bool kernel_names_find(struct kernel_names *kn, uint64_t addr, struct kernel_symbol *out)
{
	struct kernel_symbol found;

	if (!find_now(kn, addr, &found)) {
		kn->nameless = true;
		return false;
	}
	if (!is_sampled(kn, &found)) {
		kn->withheld = true;
		return false;
	}
	*out = found;
	return true;
}

bool kernel_names_frame(struct kernel_names *kn, uint64_t frame, bool is_return, struct kernel_symbol *out,
			uint64_t *addr)
{
	struct kernel_ranges *ranges = kn->cfg.kernel_ranges;

	*addr = frame;
	switch (ranges ? kernel_ranges_find(ranges, frame, is_return, out, addr) : RANGE_NONE) {
	case RANGE_FOUND:
		return true;
	case RANGE_REUSED:
		kn->withheld |= kernel_ranges_incomplete(ranges);
		return false;
	default:
		return kernel_address(*addr) && kernel_names_find(kn, *addr - is_return, out);
	}
}

bool kernel_names_withheld(const struct kernel_names *kn, struct err *why)
{
	const struct kernel_ranges *ranges = kn->cfg.kernel_ranges;
	size_t nr = ranges ? kernel_ranges_withheld(ranges) : 0;

	if (nr)
		err_set(why, -EAGAIN,
			"%zu BPF programs or trampolines were at addresses that others had in the same report: their "
			"frames are [kernel] (--backend=perfring tells them apart)",
			nr);
	else if (kn->withheld && kn->cfg.files->recorded)
		err_set(why, -ENODATA,
			"the recording does not say which BPF programs were loaded: their frames are [kernel] (run "
			"perf record as root)");
	else if (kn->withheld && ranges && kernel_ranges_incomplete(ranges))
		err_set(why, -ENODATA, "records about BPF programs were lost: their frames are [kernel]");
	else if (kn->withheld)
		err_set(why, -ENODATA,
			"kernel modules or BPF programs were loaded or unloaded during the run: their frames are "
			"[kernel]");
	return nr || kn->withheld;
}

size_t kernel_names_reused(const struct kernel_names *kn)
{
	return kn->cfg.kernel_ranges ? kernel_ranges_withheld(kn->cfg.kernel_ranges) : 0;
}

/* Check in the order of the kernel's kallsyms_show_value(), so that the setting named is the one that hides them. */
static void blame_setting(const struct kernel_names *kn, struct err *why)
{
	static const char hidden[] = "kernel symbol names are hidden";
	const struct host *host = kn->cfg.files->host;
	int rc = kn->kallsyms_rc;
	long long v;

	if (rc == -EACCES || rc == -EPERM)
		err_sys(why, rc, "%s: cannot open '%s/kallsyms'", hidden, host->proc);
	else if (rc)
		err_sys(why, rc, "kernel symbol names are missing: cannot read kallsyms");
	else if (!host_setting(host, "kernel/kptr_restrict", &v) && v > 0)
		err_set(why, -EPERM, "%s: kernel.kptr_restrict is %lld", hidden, v);
	else if (!host_setting(host, "kernel/perf_event_paranoid", &v) && v > 1)
		err_set(why, -EPERM, "%s: kernel.perf_event_paranoid is %lld", hidden, v);
	else
		err_set(why, -EPERM, "%s from this user", hidden);
}

bool kernel_names_hidden(const struct kernel_names *kn, struct err *why)
{
	const struct kernel_symbols *text = kn->kallsyms ? kernel_file_symbols(kn->kallsyms) : NULL;
	bool blind = kn->kallsyms_rc || (text && kernel_symbols_zeroed(text));

	/* Names from a vmlinux need no kallsyms. */
	if (!kn->asked || (kn->vmlinux_placed && !kn->nameless))
		return false;
	if (blind) {
		blame_setting(kn, why);
	} else if (kn->vmlinux_err.code) {
		*why = kn->vmlinux_err;
	} else if (kn->serves != SERVES_ALL && kn->nameless) {
		bool some = kn->vmlinux_placed || kn->serves == SERVES_PROPER;

		err_set(why, -ENODATA, "%s are missing: %s; give --kallsyms%s",
			some ? "names of kernel modules and BPF programs" : "kernel symbol names", kn->unfit,
			some ? "" : " or --vmlinux");
	} else {
		return false;
	}
	return true;
}
