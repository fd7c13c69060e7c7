// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/fake_bpf.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/unit.h"

#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAPS_MAX     64
#define PROGRAMS_MAX 16
#define MAX_STACK    127 /* the default of kernel.perf_event_max_stack */

static struct fake_map maps[MAPS_MAX];
static size_t nr_maps;

static struct fake_program programs[PROGRAMS_MAX];
static size_t nr_programs;

static struct {
	bool armed, refused;
	size_t left;
	int code;
	char program[BPF_OBJ_NAME_LEN]; /* the one that was refused */
} refusal;

enum bpf_prog_type fake_bpf_lacks;
bool fake_bpf_cannot_read, fake_bpf_hides_stacks;
struct fake_raw fake_raw;
void (*fake_bpf_meanwhile)(void);

/* Copies of a descriptor have the same inode. */
static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* A descriptor that stands for a map or a program. */
static int new_fd(void)
{
	int fd = memfd_create("bpf", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static bool is_hash(const struct fake_map *m)
{
	return m->type == BPF_MAP_TYPE_HASH || m->type == BPF_MAP_TYPE_STACK_TRACE;
}

static bool is_per_cpu(const struct fake_map *m)
{
	return m->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

/* All entries of such a map exist, with zeros at first. */
static bool is_array(const struct fake_map *m)
{
	return m->type == BPF_MAP_TYPE_ARRAY || is_per_cpu(m);
}

static char *key_at(const struct fake_map *m, size_t i)
{
	return m->keys + i * m->key_size;
}

static char *value_at(const struct fake_map *m, size_t i)
{
	return m->values + i * m->value_bytes;
}

/* The place of @key; @m->nr: it has none. */
static size_t place_of(const struct fake_map *m, const void *key)
{
	size_t i = 0;

	while (key && i < m->nr && memcmp(key_at(m, i), key, m->key_size) != 0)
		i++;
	return key ? i : m->nr;
}

static bool is_beyond(const struct fake_map *m, const void *key)
{
	uint32_t i;

	memcpy(&i, key, sizeof(i));
	return !is_hash(m) && i >= m->max_entries;
}

static struct fake_map *map_of(int fd)
{
	uint64_t inode = inode_of(fd);
	size_t i = 0;

	while (i < nr_maps && (!inode || maps[i].inode != inode))
		i++;
	return i < nr_maps ? &maps[i] : NULL;
}

/* The place for @key, which is made with zeros if there is none. Return: NULL: the map is full. */
static char *make_entry(struct fake_map *m, const void *key)
{
	size_t i = place_of(m, key);

	if (i < m->nr)
		return value_at(m, i);
	if (m->nr == m->max_entries)
		return NULL;
	m->nr++;
	m->keys = realloc(m->keys, m->nr * m->key_size);
	m->values = realloc(m->values, m->nr * m->value_bytes);
	memcpy(key_at(m, i), key, m->key_size);
	return memset(value_at(m, i), 0, m->value_bytes);
}

/* Size of the value of one CPU. */
static size_t per_cpu(const struct fake_map *m)
{
	return (m->value_size + 7) / 8 * 8;
}

static int create_map(const union bpf_attr *attr)
{
	struct fake_map m = {
		.type = attr->map_type,
		.key_size = attr->key_size,
		.value_size = attr->value_size,
		.value_bytes = attr->value_size,
		.max_entries = attr->max_entries,
	};
	int fd = new_fd();

	/* libbpf's maps that test a feature */
	if (!attr->map_name[0] || !strncmp(attr->map_name, "libbpf_", 7))
		return fd;
	ck_assert_uint_lt(nr_maps, MAPS_MAX);
	ck_assert_uint_ge(m.max_entries, 1);
	memcpy(m.name, attr->map_name, sizeof(m.name));
	if (is_per_cpu(&m))
		m.value_bytes = per_cpu(&m) * (size_t)libbpf_num_possible_cpus();
	if (m.type == BPF_MAP_TYPE_STACK_TRACE)
		ck_assert(!(m.value_size % 8) && m.value_size / 8 <= MAX_STACK);
	m.inode = inode_of(fd);
	maps[nr_maps++] = m;
	return fd;
}

static int look_up(const struct fake_map *m, const union bpf_attr *attr)
{
	const void *key = (const void *)(uintptr_t)attr->key;
	size_t i;

	if (fake_bpf_meanwhile)
		fake_bpf_meanwhile();
	i = place_of(m, key);
	if (is_beyond(m, key) || (i == m->nr && !is_array(m)))
		return -ENOENT;
	if (i < m->nr)
		memcpy((void *)(uintptr_t)attr->value, value_at(m, i), m->value_bytes);
	else
		memset((void *)(uintptr_t)attr->value, 0, m->value_bytes);
	return 0;
}

static int update(struct fake_map *m, const union bpf_attr *attr)
{
	const void *key = (const void *)(uintptr_t)attr->key;
	char *value;

	if (m->type == BPF_MAP_TYPE_STACK_TRACE)
		return -EINVAL;
	if (is_beyond(m, key))
		return -E2BIG;
	if (attr->flags == BPF_NOEXIST && place_of(m, key) < m->nr)
		return -EEXIST;
	value = make_entry(m, key);
	if (!value)
		return -E2BIG;
	memcpy(value, (const void *)(uintptr_t)attr->value, m->value_bytes);
	return 0;
}

static int delete (struct fake_map *m, const union bpf_attr *attr)
{
	size_t i = place_of(m, (const void *)(uintptr_t)attr->key);

	if (is_array(m))
		return -EINVAL;
	if (i == m->nr)
		return -ENOENT;
	m->nr--;
	memmove(key_at(m, i), key_at(m, i + 1), (m->nr - i) * m->key_size);
	memmove(value_at(m, i), value_at(m, i + 1), (m->nr - i) * m->value_bytes);
	return 0;
}

/* After a key that does not exist comes the first one. */
static int next_key(const struct fake_map *m, const union bpf_attr *attr)
{
	size_t i = place_of(m, (const void *)(uintptr_t)attr->key);

	ck_assert(is_hash(m)); /* only such maps are walked */
	if (fake_bpf_hides_stacks && m->type == BPF_MAP_TYPE_STACK_TRACE)
		return -EINVAL;
	i = i == m->nr ? 0 : i + 1;
	if (i >= m->nr)
		return -ENOENT;
	memcpy((void *)(uintptr_t)attr->next_key, key_at(m, i), m->key_size);
	return 0;
}

static int describe(union bpf_attr *attr)
{
	const struct fake_map *m = map_of((int)attr->info.bpf_fd);
	struct bpf_map_info info = { 0 };

	if (!m)
		return -EINVAL;
	info.type = m->type;
	info.id = (uint32_t)(m - maps) + 1;
	info.key_size = m->key_size;
	info.value_size = m->value_size;
	info.max_entries = m->max_entries;
	memcpy(info.name, m->name, sizeof(info.name));
	if (attr->info.info_len > sizeof(info))
		attr->info.info_len = sizeof(info);
	memcpy((void *)(uintptr_t)attr->info.info, &info, attr->info.info_len);
	return 0;
}

/* Programs of libbpf that test a feature have names, too. */
static bool is_own_program(const union bpf_attr *attr)
{
	return strstr(attr->prog_name, "count_s") || !strcmp(attr->prog_name, "dispatch");
}

static bool calls(const union bpf_attr *attr, int helper)
{
	const struct bpf_insn *insns = (const struct bpf_insn *)(uintptr_t)attr->insns;
	size_t i;

	for (i = 0; i < attr->insn_cnt; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg && insns[i].imm == helper)
			return true;
	return false;
}

static int load(const union bpf_attr *attr)
{
	struct fake_program p = { .nr_insns = attr->insn_cnt, .reads = calls(attr, BPF_FUNC_probe_read) };
	int fd;

	if (fake_bpf_cannot_read && p.reads) {
		/* libbpf looks for this text. */
		if (attr->log_level)
			snprintf((char *)(uintptr_t)attr->log_buf, attr->log_size, "invalid func bpf_probe_read#4");
		return -EINVAL;
	}
	if (fake_bpf_lacks && attr->prog_type == fake_bpf_lacks)
		return -EINVAL;
	fd = new_fd();
	if (!is_own_program(attr))
		return fd;
	ck_assert_uint_lt(nr_programs, PROGRAMS_MAX);
	memcpy(p.name, attr->prog_name, sizeof(p.name));
	p.inode = inode_of(fd);
	programs[nr_programs++] = p;
	return fd;
}

static int attach_raw(const union bpf_attr *attr)
{
	snprintf(fake_raw.name, sizeof(fake_raw.name), "%s", (const char *)(uintptr_t)attr->raw_tracepoint.name);
	fake_raw.program = fake_program((int)attr->raw_tracepoint.prog_fd);
	return new_fd();
}

/* True if the call counts, and it is the one to refuse. */
static bool is_refused(const char *program)
{
	if (refusal.refused && *program && !strcmp(program, refusal.program))
		return true;
	if (!refusal.armed || refusal.left--)
		return false;
	refusal.armed = false;
	refusal.refused = true;
	snprintf(refusal.program, sizeof(refusal.program), "%s", program);
	return true;
}

static int map_call(int cmd, union bpf_attr *attr)
{
	struct fake_map *m = map_of((int)attr->map_fd);

	if (!m)
		return -EBADF;
	if (is_refused(""))
		return refusal.code;
	return cmd == BPF_MAP_LOOKUP_ELEM   ? look_up(m, attr)
	       : cmd == BPF_MAP_UPDATE_ELEM ? update(m, attr)
	       : cmd == BPF_MAP_DELETE_ELEM ? delete (m, attr)
					    : next_key(m, attr);
}

static int answer(int cmd, union bpf_attr *attr)
{
	switch (cmd) {
	case BPF_MAP_CREATE:
		return attr->map_name[0] && strncmp(attr->map_name, "libbpf_", 7) != 0 && is_refused("")
			       ? refusal.code
			       : create_map(attr);
	case BPF_MAP_LOOKUP_ELEM:
	case BPF_MAP_UPDATE_ELEM:
	case BPF_MAP_DELETE_ELEM:
	case BPF_MAP_GET_NEXT_KEY:
		return map_call(cmd, attr);
	case BPF_PROG_LOAD:
		return is_own_program(attr) && is_refused(attr->prog_name) ? refusal.code : load(attr);
	case BPF_OBJ_GET_INFO_BY_FD:
		return describe(attr);
	case BPF_RAW_TRACEPOINT_OPEN:
		return is_refused("") ? refusal.code : attach_raw(attr);
	}
	return -EINVAL;
}

static int call(int cmd, void *attr)
{
	int rc = answer(cmd, attr);

	return rc < 0 ? fake_refuse(rc) : rc;
}

static void forget(void)
{
	size_t i;

	for (i = 0; i < nr_maps; i++) {
		free(maps[i].keys);
		free(maps[i].values);
	}
	nr_maps = nr_programs = 0;
}

void fake_bpf_begin(void)
{
	forget();
	memset(&refusal, 0, sizeof(refusal));
	memset(&fake_raw, 0, sizeof(fake_raw));
	fake_bpf_lacks = 0;
	fake_bpf_cannot_read = fake_bpf_hides_stacks = false;
	fake_bpf_meanwhile = NULL;
	fake_bpf = call;
}

void fake_bpf_end(void)
{
	forget();
	fake_bpf = NULL;
}

static size_t find_map(const char *name, size_t nth)
{
	size_t i;

	for (i = 0; i < nr_maps; i++)
		if (!strcmp(maps[i].name, name) && !nth--)
			break;
	return i;
}

struct fake_map *fake_map(const char *name, size_t nth)
{
	size_t i = find_map(name, nth);

	ck_assert_msg(i < nr_maps, "map %s was created less than %zu times", name, nth + 1);
	return &maps[i];
}

size_t fake_nr_maps(const char *name)
{
	size_t nr = 0;

	while (find_map(name, nr) < nr_maps)
		nr++;
	return nr;
}

void fake_map_put(struct fake_map *m, const void *key, const void *value, unsigned int cpu)
{
	char *entry = make_entry(m, key);

	ck_assert_msg(entry, "map %s is full", m->name);
	if (is_per_cpu(m)) {
		ck_assert_uint_lt(cpu, (unsigned int)libbpf_num_possible_cpus());
		entry += cpu * per_cpu(m);
	}
	memcpy(entry, value, m->value_size);
}

bool fake_map_has(const struct fake_map *m, const void *key)
{
	return place_of(m, key) < m->nr;
}

const void *fake_map_get(const struct fake_map *m, const void *key)
{
	size_t i = place_of(m, key);

	ck_assert_msg(i < m->nr, "map %s has no such entry", m->name);
	return value_at(m, i);
}

size_t fake_nr_programs(void)
{
	return nr_programs;
}

const struct fake_program *fake_program(int fd)
{
	uint64_t inode = inode_of(fd);
	size_t i = 0;

	while (i < nr_programs && (!inode || programs[i].inode != inode))
		i++;
	ck_assert_msg(i < nr_programs, "descriptor %d is of no program", fd);
	return &programs[i];
}

void fake_bpf_refuse(size_t nth, int code)
{
	memset(&refusal, 0, sizeof(refusal));
	refusal.armed = true;
	refusal.left = nth;
	refusal.code = code;
}

bool fake_bpf_accept(void)
{
	bool refused = refusal.refused;

	memset(&refusal, 0, sizeof(refusal));
	return refused;
}
