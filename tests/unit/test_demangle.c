// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/demangle.h"
#include "core/symbols/demangler.h"
#include "tests/unit/unit.h"

/* @shown: NULL: unchanged */
static const struct {
	const char *name, *shown;
} rows[] = {
	/* g++: no parameters, no return type; template arguments are part of a name */
	{ "_Z4workv", "work" },
	{ "_ZN2ns4workERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEi", "ns::work" },
	{ "_ZN2ns3BoxIdE4spinERKSt6vectorIdSaIdEEi", "ns::Box<double>::spin" },
	{ "_ZNK4llvm5Twine3strB5cxx11Ev", "llvm::Twine::str[abi:cxx11]" },
	{ "_ZSt4sortIPiZ4mainEUliiE_EvT_S2_T0_", "std::sort<int*, main::{lambda(int, int)#1}>" },
	{ "_ZN12_GLOBAL__N_14PoolD2Ev", "(anonymous namespace)::Pool::~Pool" },
	{ "_ZN1AcvbEv", "A::operator bool" },
	{ "_ZN1AcvT_IiEEv", "A::operator int<int>" },
	{ "_ZThn16_N1A1fEv", "non-virtual thunk to A::f()" },
	{ "_ZNSt6vectorIiSaIiEE12emplace_backIJRKiEEERiDpOT_",
	  "std::vector<int, std::allocator<int> >::emplace_back<int const&>" },
	{ "_ZN1A1fIJiPcEEEvDpT_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_", "A::f<int, char*>" },
	{ "_ZN8dispatch1fES_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_S_", "dispatch::f" },
	{ "_Z1fI1AS0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_S0_EvDpT_",
	  "f<A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A>" },
	{ "_ZThn16_N8dispatch1fES_S_", "non-virtual thunk to dispatch::f(dispatch, dispatch)" },
	{ "_ZN1A1fEv.cold", "A::f" },
	{ "_ZN1A1fEv.isra.0.part.1", "A::f" },
	/* rustc */
	{ "_ZN1a4main17h1854dee5fd9945b4E", "a::main" },
	{ "_ZN4core4hash11BuildHasher8hash_one17h6aab6a9fa84991acE", "core::hash::BuildHasher::hash_one" },
	{ "_ZN4core4hash11BuildHasher8hash_one17h6aab6a9fa84991acE.llvm.2748715113527393154",
	  "core::hash::BuildHasher::hash_one" },
	{ "_ZN43_$LT$a..Sq$LT$T$GT$$u20$as$u20$a..Shape$GT$4area17h1854dee5fd9945b4E", "<a::Sq<T> as a::Shape>::area" },
	{ "_RNvCs6xxl1lAjzDf_1a4main", "a::main" },
	{ "_RNvXs1g_NtCsgEmfK2I1SDS_4core3fmtRSINtNtB8_6option6OptioncENtB6_5Debug3fmtCs6xxl1lAjzDf_1a",
	  "<&[core::option::Option<char>] as core::fmt::Debug>::fmt" },
	{ "_RINvCs6xxl1lAjzDf_1a4showINtNtCsgEmfK2I1SDS_4core6option6OptioncEEB2_.llvm.27",
	  "a::show::<core::option::Option<char>>" },
	{ "_RINvCs6xxl1lAjzDf_1a1fDG_INtC1b1cRL0_hEEL_E", "a::f::<dyn for<'a> b::c<&'a u8>>" },
	{ "_RNvC1au9gre_6ka8i", "a::gr\303\266\303\237e" },
	{ "_RNvC01a", "::a" },
	/* not mangled, or not in these ways */
	{ "", NULL },
	{ "_", NULL },
	{ "_Z", NULL },
	{ "_R", NULL },
	{ "_ZN", NULL },
	{ "_ZN1", NULL },
	{ "_ZN1A1fE", "A::f" },
	{ "_ZN1A1f", NULL },
	{ "_ZN9A1fEv", NULL },
	{ "_Z99999999999999999999f", NULL },
	{ "_Z4294967297fv", NULL },
	{ "_Zfoo", NULL },
	{ "_Znope", NULL },
	{ "main", NULL },
	{ "Z4workv", NULL },
	{ "__Z4workv", NULL },
	{ "_z4workv", NULL },
	{ "_Rust_is_not_this", NULL },
	{ "_RNvC1a", NULL },
	{ "_RNvC1a4mai", NULL },
	{ "_RNvC9a4main", NULL },
	{ "_RNvC1a4main!", NULL },
	{ "_RNvC1a4main\303\266", NULL },
	{ "_RNvB_1a", NULL },
	{ "_RNvC1au3z_Z", NULL },
	{ "_GLOBAL__I_main", NULL },
	{ "_ZN1\377\3761fEv", NULL },
};

START_TEST(test_names)
{
	char out[DEMANGLED_MAX];
	bool ok = demangle(rows[_i].name, out, sizeof(out));

#ifndef HAVE_IBERTY
	ck_assert(!ok);
#else
	ck_assert_msg(ok == !!rows[_i].shown, "%s: %s", rows[_i].name, ok ? out : "not demangled");
	if (ok)
		ck_assert_str_eq(out, rows[_i].shown);
#endif
}
END_TEST

#ifdef HAVE_IBERTY

/* Names that take forever to read or to write, or are long: @head, @nr times @middle, @tail. */
static const struct {
	const char *head, *middle;
	int nr;
	const char *tail;
} hostile[] = {
	/* conversions, each read twice */
	{ "_ZN1AcvT_I", "T_I", 60, "iEv" },
	{ "_ZN1AcvT_I", "T0_I", 200, "iEv" },
	/* depth */
	{ "_Z1fI", "P", 1000, "iEvv" },
	{ "_Z1fI", "P", 60000, "iEvv" },
	{ "_Z1fI", "PK", 500, "iEvv" },
	{ "_Z1fI", "X", 1000, "" },
	{ "_Z1fI", "il", 500, "" },
	{ "_Z1fI", "LPX", 330, "" },
	{ "_Z1fI", "DTcl", 250, "" },
	{ "_Z", "Z1f", 330, "" },
	{ "_Z", "ZN1aI", 200, "" },
	{ "_ZTI", "A_", 500, "i" },
	{ "_RINvC1a1f", "T", 2000, "" },
	{ "_RINvC1a1f", "R", 2000, "uE" },
	{ "_RINvC1a1f", "INvC1a1b", 250, "" },
	{ "_RNvC1a1b", "M", 2000, "" },
	/* references to themselves */
	{ "_R", "B_", 1, "" },
	{ "_RINvC1a1f", "B7_", 1, "E" },
	{ "_RINvC1a1fT", "B7_", 500, "EE" },
	/* types for 62^9 lifetimes, of which nothing is printed */
	{ "_RNvMINvC1a1fFGzzzzzzzzz_EuEu1b", "", 0, "" },
	{ "_RNvC1a1bINvC1a1fDGzzzzzzzzz_EL_E", "", 0, "" },
	{ "_RNvC1a1bINvC1a1fFGzzzz_EuE", "", 0, "" },
	/* long */
	{ "_Z4000", "a", 4000, "v" },
	{ "_ZN", "1a", 600, "Ev" },
	{ "_ZN", "1a", 60000, "17h1854dee5fd9945b4E" },
	{ "_RNvC1a4000_", "a", 4000, "" },
	{ "_RNvC1au1900_", "z", 1900, "" },
};

static char *add(char *at, const char *text)
{
	return (char *)memcpy(at, text, strlen(text) + 1) + strlen(text);
}

static char *repeated(const char *head, const char *middle, int nr, const char *tail)
{
	char *name = malloc(strlen(head) + (size_t)nr * strlen(middle) + strlen(tail) + 1), *at;

	ck_assert_ptr_nonnull(name);
	at = add(name, head);
	while (nr-- > 0)
		at = add(at, middle);
	add(at, tail);
	return name;
}

/* Demangling @name ends in time, and the next name is demangled. */
static void check_ends(const char *name)
{
	const char *const good[] = { "_Z4workv" };
	struct demangler *d = demangler_new(0);
	const char *out;

	if (unit_below_valgrind()) { /* the worker's limits of time and memory do not work there */
		demangler_free(d);
		return;
	}
	ck_assert_int_eq(demangler_read(d, &name, 1, &out), 0);
	ck_assert(!out || strlen(out) < DEMANGLED_MAX);
	ck_assert_int_eq(demangler_read(d, good, 1, &out), 0);
	ck_assert_str_eq(out, "work");
	demangler_free(d);
}

START_TEST(test_hostile)
{
	char *name = repeated(hostile[_i].head, hostile[_i].middle, hostile[_i].nr, hostile[_i].tail);

	check_ends(name);
	free(name);
}
END_TEST

/* @n in the encoding of references. */
static char *number(char *at, unsigned int n, unsigned int radix)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			  digits62[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (n >= radix)
		at = number(at, n / radix, radix);
	*at++ = (radix == 62 ? digits62 : digits)[n % radix];
	return at;
}

#define PARTS 60

/*
 * A pointer to a function with two parameters, to which S1_ refers; one with two of these, to which S3_ refers; and so
 * on.
 */
static void double_cxx(char *name, const char *before, const char *after)
{
	char *at = add(add(name, before), "PFviiE");
	unsigned int i;

	for (i = 0; i < PARTS; i++) {
		at = number(add(at, "PFvS"), 2 * i + 1, 36);
		at = number(add(at, "_S"), 2 * i + 1, 36);
		at = add(at, "_E");
	}
	add(at, after);
}

/* A pair, a pair of these, and so on. */
static void double_rust(char *name, const char *first)
{
	char *at = add(name, "_RINvC1a1f");
	unsigned int i, before = (unsigned int)(at - name) - 2;

	at = add(at, first);
	for (i = 0; i < PARTS; i++) {
		unsigned int here = (unsigned int)(at - name) - 2;

		at = number(add(at, "TB"), before - 1, 62);
		at = number(add(at, "_B"), before - 1, 62);
		at = add(at, "_E");
		before = here;
	}
	add(at, "E");
}

/* The text around all parts. While the demangler searches for a parameter pack, it prints nothing. */
static const struct {
	const char *before, *after;
} around[] = {
	{ "_Z1fI", "Evv" },          { "_Z1fIDpFv", "EEvv" }, { "_Z1fIXsZtiFv", "EEEvv" },
	{ "_Z1fIXsptiFv", "EEEvv" }, { "_ZTI1fIDpFv", "EE" },
};
/* Among them two identifiers with Unicode. The second one ends too early, takes long and prints nothing. */
static const char *const firsts[] = { "m", "NvC1bu9gre_6ka8i", "NvC1bu9aaaaaaaaz", "R", "FG_uEu", "FGzzzz_uEu" };

START_TEST(test_doubled)
{
	char name[PARTS * 16 + 64];

	if (_i < (int)ARRAY_SIZE(around))
		double_cxx(name, around[_i].before, around[_i].after);
	else
		double_rust(name, firsts[_i - (int)ARRAY_SIZE(around)]);
	check_ends(name);
}
END_TEST

/* A text of 2^60 bytes ends when it becomes too long: this needs no limit of time. */
START_TEST(test_too_long)
{
	char name[PARTS * 16 + 64], out[DEMANGLED_MAX];

	double_cxx(name, "_Z1fI", "Evv");
	ck_assert(!demangle(name, out, sizeof(out)));
}
END_TEST

/* A name that does not fit is unchanged, and nothing is written beyond the buffer. */
START_TEST(test_size)
{
	static const char *const names[] = { "_ZN2ns3BoxIdE4spinEv", "_RNvC1a4main", "_ZN1a4main17h1854dee5fd9945b4E",
					     "_RNvC1au9gre_6ka8i" };
	char out[DEMANGLED_MAX], small[DEMANGLED_MAX];
	size_t i, size, need;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert(demangle(names[i], out, sizeof(out)));
		need = strlen(out) + 1;
		for (size = 1; size < need + 3; size++) {
			memset(small, '#', sizeof(small));
			ck_assert_int_eq(demangle(names[i], small, size), size >= need);
			ck_assert_int_eq(small[size], '#');
			if (size >= need)
				ck_assert_str_eq(small, out);
		}
	}
}
END_TEST

#endif

int main(void)
{
	Suite *s = suite_create("demangle");
	TCase *t = tcase_create("demangle");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_names, 0, ARRAY_SIZE(rows));
#ifdef HAVE_IBERTY
	tcase_add_loop_test(t, test_hostile, 0, ARRAY_SIZE(hostile));
	tcase_add_loop_test(t, test_doubled, 0, ARRAY_SIZE(around) + ARRAY_SIZE(firsts));
	tcase_add_test(t, test_too_long);
	tcase_add_test(t, test_size);
#endif
	suite_add_tcase(s, t);
	return unit_main(s);
}
