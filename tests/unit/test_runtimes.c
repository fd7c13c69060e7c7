// SPDX-License-Identifier: Apache-2.0
#include "core/cli/runtimes.h"
#include "tests/unit/unit.h"

static const struct {
	const char *path;
	enum runtime is;
} files[] = {
	{ "/usr/bin/node", RUNTIME_NODE },
	{ "/usr/bin/nodejs", RUNTIME_NODE },
	{ "/usr/lib/x86_64-linux-gnu/libnode.so.108", RUNTIME_NODE },
	{ "node", RUNTIME_NODE },
	{ "/usr/bin/nodetool", RUNTIME_NONE },
	{ "/usr/bin/node.js", RUNTIME_NONE },
	{ "/usr/bin/node/x", RUNTIME_NONE },
	{ "/usr/bin/mynode", RUNTIME_NONE },
	{ "/usr/bin/Node", RUNTIME_NONE },
	{ "/usr/lib/libnode.software", RUNTIME_NONE },
	{ "/usr/bin/python3.11", RUNTIME_NONE },
	{ "/usr/bin/python3.12", RUNTIME_PYTHON_TRAMPOLINES },
	{ "/usr/bin/python3.13", RUNTIME_PYTHON },
	{ "/usr/bin/python3.13t", RUNTIME_PYTHON },
	{ "/usr/lib/libpython3.14.so.1.0", RUNTIME_PYTHON },
	{ "/usr/bin/python3", RUNTIME_NONE },
	{ "/usr/bin/python3.", RUNTIME_NONE },
	{ "/usr/bin/python3.-1", RUNTIME_NONE },
	{ "/usr/bin/python3.x", RUNTIME_NONE },
	{ "/usr/bin/python3.99999999999999999999", RUNTIME_NONE },
	{ "/usr/bin/python2.7", RUNTIME_NONE },
	{ "/usr/lib/jvm/java-17/lib/server/libjvm.so", RUNTIME_JAVA },
	{ "/usr/bin/java", RUNTIME_NONE },
	{ "/tmp/libjvm.so.1", RUNTIME_NONE },
	{ "/usr/share/dotnet/libcoreclr.so", RUNTIME_DOTNET },
	{ "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", RUNTIME_ERLANG },
	{ "/usr/bin/beam", RUNTIME_NONE },
	{ "", RUNTIME_NONE },
	{ "/", RUNTIME_NONE },
	{ "//anon", RUNTIME_NONE },
	{ "[vdso]", RUNTIME_NONE },
	{ "/tmp/\033[2J", RUNTIME_NONE },
};

START_TEST(test_file)
{
	const char *base = strrchr(files[_i].path, '/');
	bool is_library = base && !strncmp(base, "/lib", 4);

	ck_assert_int_eq(runtime_of_file(files[_i].path, true), files[_i].is);
	ck_assert_int_eq(runtime_of_file(files[_i].path, false), is_library ? files[_i].is : RUNTIME_NONE);
}
END_TEST

static const struct {
	enum runtime is;
	const char *live, *recorded; /* NULL: it cannot write one */
} texts[] = {
	{ RUNTIME_NONE, NULL, NULL },
	{ RUNTIME_NODE, "run node --perf-basic-prof",
	  "record node --perf-prof by perf record -k 1, then use perf inject --jit" },
	{ RUNTIME_PYTHON_TRAMPOLINES, "run python3 -X perf", NULL },
	{ RUNTIME_PYTHON, "run python3 -X perf",
	  "record python3 -X perf_jit by perf record -k 1, then use perf inject --jit" },
	{ RUNTIME_JAVA, "run java -XX:+PreserveFramePointer, and before the report jcmd 185 Compiler.perfmap", NULL },
	{ RUNTIME_DOTNET, "run it with DOTNET_PerfMapEnabled=1",
	  "record it with DOTNET_PerfMapEnabled=1 by perf record -k 1, then use perf inject --jit" },
	{ RUNTIME_ERLANG, "run erl +JPperf true", NULL },
};

static void check_text(enum runtime r, bool recorded, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *f;

	ck_assert_int_eq(runtime_can(r, recorded), expected != NULL);
	if (!expected)
		return;
	f = open_memstream(&text, &len);
	ck_assert_ptr_nonnull(f);
	runtime_print(f, r, recorded, 185);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(test_text)
{
	check_text(texts[_i].is, false, texts[_i].live);
	check_text(texts[_i].is, true, texts[_i].recorded);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runtimes");
	TCase *t = tcase_create("runtimes");

	tcase_add_loop_test(t, test_file, 0, ARRAY_SIZE(files));
	tcase_add_loop_test(t, test_text, 0, ARRAY_SIZE(texts));
	suite_add_tcase(s, t);
	return unit_main(s);
}
