// SPDX-License-Identifier: Apache-2.0
/*
 * Call frame information: hand-made records with all possible errors, and those of all libraries of this process, whole
 * and damaged.
 */
#include "tests/unit/unit.h"
#include "unwind/cfi.h"

#include <link.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define B(...)        (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define NONE          (const uint8_t *)"", 0
#define U2(v)         (uint8_t)(v), (uint8_t)((v) >> 8)
#define U4(v)         U2(v), U2((uint32_t)(v) >> 16)
#define U8(v)         U4(v), U4((uint64_t)(v) >> 32)
#define X4(...)       __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define X16(...)      X4(X4(__VA_ARGS__))
#define EH            CFI_EH_FRAME
#define DEBUG         CFI_DEBUG_FRAME
#define ALIGNS        1, 0x78 /* code 1, data -8 */
#define RA            16

/* A copy in an allocation of exact size, for sanitizers. */
static uint8_t *exact(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, len);
	return copy;
}

/* ---- pointers */

#define PTR_ADDR  0x1000u
#define DATA_BASE 0x200000u

static const struct {
	const char *name;
	uint8_t encoding;
	const uint8_t *bytes;
	size_t len;
	int rc;
	uint64_t value;
} pointers[] = {
	{ "absptr", 0x00, B(U8(0x1122334455667788)), 8, 0x1122334455667788 },
	{ "uleb128", 0x01, B(0x80, 0x01, 9), 2, 128 },
	{ "udata2", 0x02, B(U2(0xfffe)), 2, 0xfffe },
	{ "udata4", 0x03, B(U4(0xfffffffe)), 4, 0xfffffffe },
	{ "udata8", 0x04, B(U8(UINT64_MAX)), 8, UINT64_MAX },
	{ "sleb128", 0x09, B(0x7f), 1, UINT64_MAX },
	{ "sdata2", 0x0a, B(U2(0xfffe)), 2, (uint64_t)-2 },
	{ "sdata4", 0x0b, B(U4(0xfffffffe)), 4, (uint64_t)-2 },
	{ "sdata8", 0x0c, B(U8(5)), 8, 5 },
	{ "pcrel sdata4", 0x1b, B(U4(-16)), 4, PTR_ADDR - 16 },
	{ "pcrel absptr wraps", 0x10, B(U8(-(uint64_t)PTR_ADDR - 1)), 8, UINT64_MAX },
	{ "datarel sdata4", 0x3b, B(U4(-4)), 4, DATA_BASE - 4 },
	{ "absptr, cut", 0x00, B(1, 2, 3, 4, 5, 6, 7), -EBADMSG },
	{ "uleb128, cut", 0x01, B(0x80), -EBADMSG },
	{ "uleb128 of 11 bytes", 0x01, B(X4(0x80, 0x80, 0x80), 0), -EBADMSG },
	{ "udata2, cut", 0x02, B(1), -EBADMSG },
	{ "udata4, cut", 0x03, B(1, 2, 3), -EBADMSG },
	{ "udata8, cut", 0x04, B(1, 2, 3, 4, 5, 6, 7), -EBADMSG },
	{ "sleb128, cut", 0x09, B(0xff), -EBADMSG },
	{ "sdata2, cut", 0x0a, B(1), -EBADMSG },
	{ "sdata4, cut", 0x1b, B(1, 2, 3), -EBADMSG },
	{ "sdata8, cut", 0x0c, B(1, 2, 3, 4, 5, 6, 7), -EBADMSG },
	{ "nothing", 0x1b, NONE, -EBADMSG },
	{ "no form 5", 0x05, B(U8(1)), -ENOTSUP },
	{ "signed, of no size", 0x08, B(U8(1)), -ENOTSUP },
	{ "no form 13", 0x0d, B(U8(1)), -ENOTSUP },
	{ "textrel", 0x2b, B(U8(1)), -ENOTSUP },
	{ "funcrel", 0x4b, B(U8(1)), -ENOTSUP },
	{ "aligned", 0x50, B(U8(1)), -ENOTSUP },
	{ "indirect", 0x9b, B(U8(1)), -ENOTSUP },
	{ "indirect absptr", 0x80, B(U8(1)), -ENOTSUP },
	{ "omit", CFI_PE_OMIT, B(U8(1)), -ENOTSUP },
};

START_TEST(test_pointer)
{
	uint8_t *bytes = exact(pointers[_i].bytes, pointers[_i].len);
	uint64_t value = 0;
	int rc = cfi_pointer(bytes, pointers[_i].len, pointers[_i].encoding, PTR_ADDR, DATA_BASE, &value);

	ck_assert_msg(rc == pointers[_i].rc, "%s: %d", pointers[_i].name, rc);
	if (rc > 0)
		ck_assert_msg(value == pointers[_i].value, "%s: %llx", pointers[_i].name, (unsigned long long)value);
	free(bytes);
}
END_TEST

/* ---- headers */

#define REC_ADDR 0x1000u

static const struct {
	const char *name;
	enum cfi_section section;
	const uint8_t *bytes;
	size_t len;
	int rc;
	struct cfi_record want;
} headers[] = {
	{ "CIE", EH, B(U4(20), U4(0)), 0, { .size = 24, .is_cie = true } },
	{ "FDE", EH, B(U4(20), U4(0x104)), 0, { .size = 24, .cie_addr = 0xf00 } },
	{ "FDE of a CIE at 0", EH, B(U4(20), U4(0x1004)), 0, { .size = 24 } },
	{ "terminator", EH, B(U4(0)), 0, { .size = 4, .terminator = true } },
	{ "CIE, 64-bit: its id is not", EH, B(U4(-1), U8(4), U4(0)), 0, { .size = 16, .is_cie = true } },
	{ "FDE, 64-bit", EH, B(U4(-1), U8(20), U4(0x10c)), 0, { .size = 32, .cie_addr = 0xf00 } },
	{ "the largest", EH, B(U4(CFI_RECORD_MAX - 4), U4(0)), 0, { .size = CFI_RECORD_MAX, .is_cie = true } },
	{ "debug CIE", DEBUG, B(U4(20), U4(-1)), 0, { .size = 24, .is_cie = true } },
	{ "debug FDE", DEBUG, B(U4(20), U4(0x40)), 0, { .size = 24, .cie_addr = 0x40 } },
	{ "debug FDE of the CIE at 0", DEBUG, B(U4(20), U4(0)), 0, { .size = 24 } },
	{ "debug CIE, 64-bit", DEBUG, B(U4(-1), U8(20), U8(-1)), 0, { .size = 32, .is_cie = true } },
	{ "debug FDE, 64-bit", DEBUG, B(U4(-1), U8(20), U8(1ULL << 32)), 0, { .size = 32, .cie_addr = 1ULL << 32 } },
	{ "debug FDE, 64-bit: not the 32-bit id",
	  DEBUG,
	  B(U4(-1), U8(20), U8(UINT32_MAX)),
	  0,
	  { .size = 32, .cie_addr = UINT32_MAX } },
	{ "nothing", EH, NONE, -EBADMSG },
	{ "half a length", EH, B(0, 0, 0), -EBADMSG },
	{ "no id", EH, B(U4(20)), -EBADMSG },
	{ "half an id", EH, B(U4(20), 0, 0, 0), -EBADMSG },
	{ "no room for an id", EH, B(U4(3), U4(0)), -EBADMSG },
	{ "too long", EH, B(U4(CFI_RECORD_MAX - 3), U4(0)), -EBADMSG },
	{ "much too long", EH, B(U4(0xffffffef), U4(0)), -EBADMSG },
	{ "reserved length", EH, B(U4(0xfffffff0), U4(0)), -EBADMSG },
	{ "last reserved length", EH, B(U4(0xfffffffe), U4(0)), -EBADMSG },
	{ "CIE before address 0", EH, B(U4(20), U4(0x1005)), -EBADMSG },
	{ "half a 64-bit length", EH, B(U4(-1), 1, 2, 3, 4, 5, 6, 7), -EBADMSG },
	{ "64-bit, too long", EH, B(U4(-1), U8(CFI_RECORD_MAX - 11), U4(0)), -EBADMSG },
	{ "64-bit, 2^64 - 1", EH, B(U4(-1), U8(UINT64_MAX), U4(0)), -EBADMSG },
	{ "64-bit, length 0", EH, B(U4(-1), U8(0), U4(0)), -EBADMSG },
	{ "64-bit, no room for an id", EH, B(U4(-1), U8(3), U4(0)), -EBADMSG },
	{ "64-bit, half an id", EH, B(U4(-1), U8(20), 0, 0, 0), -EBADMSG },
	{ "debug, half an id", DEBUG, B(U4(20), 0, 0, 0), -EBADMSG },
	{ "debug, 64-bit, no room for an id", DEBUG, B(U4(-1), U8(7), U8(-1)), -EBADMSG },
	{ "debug, 64-bit, half an id", DEBUG, B(U4(-1), U8(20), U4(-1)), -EBADMSG },
};

START_TEST(test_header)
{
	uint8_t *bytes = exact(headers[_i].bytes, headers[_i].len);
	const struct cfi_record *want = &headers[_i].want;
	struct cfi_record got;
	int rc = cfi_record(headers[_i].section, bytes, headers[_i].len, REC_ADDR, &got);

	free(bytes);
	ck_assert_msg(rc == headers[_i].rc, "%s: %d", headers[_i].name, rc);
	if (rc)
		return;
	ck_assert_msg(got.size == want->size && got.terminator == want->terminator && got.is_cie == want->is_cie &&
			      got.cie_addr == want->cie_addr,
		      "%s: %llu %d %d %llx", headers[_i].name, (unsigned long long)got.size, got.terminator, got.is_cie,
		      (unsigned long long)got.cie_addr);
}
END_TEST

START_TEST(test_header_wraps)
{
	uint8_t *bytes = exact(B(U4(20), U4(0)));
	struct cfi_record got;

	ck_assert_int_eq(cfi_record(EH, bytes, 8, UINT64_MAX - 24, &got), 0);
	ck_assert_int_eq(cfi_record(EH, bytes, 8, UINT64_MAX - 22, &got), -EBADMSG);
	free(bytes);
}
END_TEST

/* ---- records: the length is added in front */

static uint8_t *record(const uint8_t *body, size_t len, size_t *size)
{
	uint8_t *bytes = malloc(4 + len);
	uint32_t length = (uint32_t)len;

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, &length, 4);
	memcpy(bytes + 4, body, len);
	*size = 4 + len;
	return bytes;
}

#define EH1  U4(0), 1
#define EH4  U4(0), 4
#define DEB3 U4(-1), 3
#define DEB4 U4(-1), 4

static const struct {
	const char *name;
	enum cfi_section section;
	const uint8_t *bytes;
	size_t len;
	int rc;
	uint8_t encoding;
	bool sized, signal;
	size_t program; /* bytes; program_addr follows from the bytes before */
} cies[] = {
	{ "zR", EH, B(EH1, 'z', 'R', 0, ALIGNS, RA, 1, 0x1b, 0xc, 7, 8), 0, 0x1b, true, false, 3 },
	{ "no augmentation", EH, B(EH1, 0, ALIGNS, RA, 0xc, 7, 8), 0, 0, false, false, 3 },
	{ "no program", EH, B(EH1, 'z', 'R', 0, ALIGNS, RA, 1, 0x1b), 0, 0x1b, true, false, 0 },
	{ "zPLR", EH, B(EH1, 'z', 'P', 'L', 'R', 0, ALIGNS, RA, 7, 0x9b, U4(1), 0x1b, 0x3b, 0), 0, 0x3b, true, false,
	  1 },
	{ "zPLR, absptr", EH, B(EH1, 'z', 'P', 'L', 'R', 0, ALIGNS, RA, 11, 0, U8(1), 0x1b, 3, 0), 0, 3, true, false,
	  1 },
	{ "zPR, no personality", EH, B(EH1, 'z', 'P', 'R', 0, ALIGNS, RA, 2, 0xff, 3), 0, 3, true, false, 0 },
	{ "zRS", EH, B(EH1, 'z', 'R', 'S', 0, ALIGNS, RA, 1, 0x1b, 0), 0, 0x1b, true, true, 1 },
	{ "zRB", EH, B(EH1, 'z', 'R', 'B', 0, ALIGNS, RA, 1, 0x1b, 0), 0, 0x1b, true, false, 1 },
	{ "zR with more data", EH, B(EH1, 'z', 'R', 0, ALIGNS, RA, 3, 0x1b, 9, 9, 0), 0, 0x1b, true, false, 1 },
	{ "an unknown letter behind R", EH, B(EH1, 'z', 'R', 'X', 'S', 0, ALIGNS, RA, 2, 0x1b, 9), 0, 0x1b, true, false,
	  0 },
	{ "only z", EH, B(EH1, 'z', 0, ALIGNS, RA, 0, 0), 0, 0, true, false, 1 },
	{ "only S", EH, B(EH1, 'S', 0, ALIGNS, RA, 0), 0, 0, false, true, 1 },
	{ "version 3", EH, B(U4(0), 3, 'z', 'R', 0, ALIGNS, RA, 1, 0x1b), 0, 0x1b, true, false, 0 },
	{ "version 3, padded register", EH, B(U4(0), 3, 'z', 'R', 0, ALIGNS, 0x90, 0, 1, 0x1b), 0, 0x1b, true, false,
	  0 },
	{ "version 4", EH, B(EH4, 'z', 'R', 0, 8, 0, ALIGNS, RA, 1, 0x1b), 0, 0x1b, true, false, 0 },
	{ "debug, version 3", DEBUG, B(DEB3, 0, ALIGNS, RA, 0xc, 7, 8), 0, 0, false, false, 3 },
	{ "debug, version 4", DEBUG, B(DEB4, 0, 8, 0, ALIGNS, RA, 0xc, 7, 8), 0, 0, false, false, 3 },
	{ "debug, S", DEBUG, B(DEB3, 'S', 0, ALIGNS, RA), 0, 0, false, true, 0 },
	{ "debug, zR: plain addresses", DEBUG, B(DEB3, 'z', 'R', 0, ALIGNS, RA, 1, 0x1b), 0, 0, true, false, 0 },
	{ "debug, an unknown letter", DEBUG, B(DEB3, 'z', 'X', 0, ALIGNS, RA, 1, 0x1b), 0, 0, true, false, 0 },
	{ "only an id", EH, B(U4(0)), -EBADMSG },
	{ "an FDE", EH, B(U4(4), 1, 0, ALIGNS, RA), -EBADMSG },
	{ "a debug FDE", DEBUG, B(U4(0), 3, 0, ALIGNS, RA), -EBADMSG },
	{ "a debug CIE in .eh_frame", EH, B(DEB3, 0, ALIGNS, RA), -EBADMSG },
	{ "version 0", EH, B(U4(0), 0, 0, ALIGNS, RA), -ENOTSUP },
	{ "version 2", EH, B(U4(0), 2, 0, ALIGNS, RA), -ENOTSUP },
	{ "version 5", EH, B(U4(0), 5, 0, 8, 0, ALIGNS, RA), -ENOTSUP },
	{ "version 255", EH, B(U4(0), 255, 0, ALIGNS, RA), -ENOTSUP },
	{ "no string", EH, B(EH1), -EBADMSG },
	{ "a string without end", EH, B(EH1, 'z', 'R'), -EBADMSG },
	{ "eh", EH, B(EH1, 'e', 'h', 0, U8(0), ALIGNS, RA), -ENOTSUP },
	{ "R without z", EH, B(EH1, 'R', 0, ALIGNS, RA, 0x1b), -ENOTSUP },
	{ "X without z", EH, B(EH1, 'X', 0, ALIGNS, RA, 0x1b), -ENOTSUP },
	{ "a z behind", EH, B(EH1, 'S', 'z', 'R', 0, ALIGNS, RA, 1, 0x1b), -ENOTSUP },
	{ "an unknown letter before R", EH, B(EH1, 'z', 'X', 'R', 0, ALIGNS, RA, 2, 9, 0x1b), -ENOTSUP },
	{ "an unknown letter and no R", EH, B(EH1, 'z', 'X', 0, ALIGNS, RA, 1, 9), -ENOTSUP },
	{ "32-bit addresses", EH, B(EH4, 'z', 'R', 0, 4, 0, ALIGNS, RA, 1, 0x1b), -ENOTSUP },
	{ "segments", EH, B(EH4, 'z', 'R', 0, 8, 1, ALIGNS, RA, 1, 0x1b), -ENOTSUP },
	{ "version 4, no address size", EH, B(EH4, 'z', 'R', 0), -EBADMSG },
	{ "version 4, no segment size", EH, B(EH4, 'z', 'R', 0, 8), -EBADMSG },
	{ "no alignment", EH, B(EH1, 0), -EBADMSG },
	{ "code alignment, cut", EH, B(EH1, 0, 0x80), -EBADMSG },
	{ "no data alignment", EH, B(EH1, 0, 1), -EBADMSG },
	{ "no return register", EH, B(EH1, 0, ALIGNS), -EBADMSG },
	{ "return register 17", EH, B(EH1, 0, ALIGNS, 17), -ENOTSUP },
	{ "return register 255", EH, B(EH1, 0, ALIGNS, 255), -ENOTSUP },
	{ "return register 256", DEBUG, B(DEB3, 0, ALIGNS, 0x80, 2), -ENOTSUP },
	{ "return register, cut", DEBUG, B(DEB3, 0, ALIGNS, 0x90), -EBADMSG },
	{ "no augmentation length", EH, B(EH1, 'z', 'R', 0, ALIGNS, RA), -EBADMSG },
	{ "augmentation length, cut", EH, B(EH1, 'z', 'R', 0, ALIGNS, RA, 0x80), -EBADMSG },
	{ "augmentation too long", EH, B(EH1, 'z', 'R', 0, ALIGNS, RA, 2, 0x1b), -EBADMSG },
	{ "augmentation much too long", EH,
	  B(EH1, 'z', 'R', 0, ALIGNS, RA, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x1b), -EBADMSG },
	{ "R after the augmentation", EH, B(EH1, 'z', 'R', 0, ALIGNS, RA, 0, 0x1b), -EBADMSG },
	{ "R behind an L", EH, B(EH1, 'z', 'L', 'R', 0, ALIGNS, RA, 1, 0x1b, 0x1b), -EBADMSG },
	{ "L after the augmentation", EH, B(EH1, 'z', 'R', 'L', 0, ALIGNS, RA, 1, 0x1b, 0x1b), -EBADMSG },
	{ "P after the augmentation", EH, B(EH1, 'z', 'R', 'P', 0, ALIGNS, RA, 1, 0x1b, 0x1b), -EBADMSG },
	{ "a personality that is cut", EH, B(EH1, 'z', 'P', 'R', 0, ALIGNS, RA, 4, 0x1b, 1, 2, 3, 4, 0x1b), -EBADMSG },
	{ "a personality without size", EH, B(EH1, 'z', 'P', 'R', 0, ALIGNS, RA, 3, 0x05, 1, 0x1b), -ENOTSUP },
	{ "an aligned personality", EH, B(EH1, 'z', 'P', 'R', 0, ALIGNS, RA, 10, 0x50, U8(1), 0x1b), -ENOTSUP },
	{ "cut, then an unknown letter", EH, B(EH1, 'z', 'R', 'X', 0, ALIGNS, RA, 0), -EBADMSG },
};

START_TEST(test_cie)
{
	struct cfi_cie got;
	size_t size;
	uint8_t *bytes = record(cies[_i].bytes, cies[_i].len, &size);
	int rc = cfi_cie_parse(cies[_i].section, bytes, size, REC_ADDR, &got);

	ck_assert_msg(rc == cies[_i].rc, "%s: %d", cies[_i].name, rc);
	if (!rc) {
		ck_assert_uint_eq(got.section, cies[_i].section);
		ck_assert_uint_eq(got.addr, REC_ADDR);
		ck_assert_uint_eq(got.code_align, 1);
		ck_assert_int_eq(got.data_align, -8);
		ck_assert_uint_eq(got.return_reg, RA);
		ck_assert_msg(got.encoding == cies[_i].encoding, "%s: %x", cies[_i].name, got.encoding);
		ck_assert_int_eq(got.sized, cies[_i].sized);
		ck_assert_int_eq(got.signal, cies[_i].signal);
		ck_assert_ptr_eq(got.end, bytes + size);
		ck_assert_ptr_eq(got.program, bytes + size - cies[_i].program);
		ck_assert_uint_eq(got.program_addr, REC_ADDR + size - cies[_i].program);
	}
	free(bytes);
}
END_TEST

/* A record that is truncated at each possible length. */
START_TEST(test_cut)
{
	static const uint8_t cie_body[] = { EH1, 'z', 'R', 0, ALIGNS, RA, 1, 0x1b, 0xc, 7, 8 };
	static const uint8_t fde_body[] = { U4(0x104), U4(0x10), U4(0x20), 0, 0x41, 0 };
	struct cfi_cie cie = { .addr = 0x1000, .encoding = 0x1b, .sized = true }, got;
	struct cfi_fde fde;
	size_t size, len;
	uint8_t *whole, *part;

	whole = record(cie_body, sizeof(cie_body), &size);
	for (len = 0; len <= size; len++) {
		part = exact(whole, len);
		ck_assert_int_eq(cfi_cie_parse(EH, part, len, REC_ADDR, &got), len == size ? 0 : -EBADMSG);
		free(part);
	}
	free(whole);
	whole = record(fde_body, sizeof(fde_body), &size);
	for (len = 0; len <= size; len++) {
		part = exact(whole, len);
		ck_assert_int_eq(cfi_fde_parse(&cie, part, len, 0x1100, 0, &fde), len == size ? 0 : -EBADMSG);
		free(part);
	}
	free(whole);
}
END_TEST

/* An FDE is at FDE_ADDR, its CIE at REC_ADDR. */
#define FDE_ADDR 0x1100u
#define EH_CIE   U4(FDE_ADDR + 4 - REC_ADDR)
#define DEB_CIE  U4(REC_ADDR)

static const struct {
	const char *name;
	struct cfi_cie cie;
	const uint8_t *bytes;
	size_t len;
	int rc;
	uint64_t start, end;
	size_t program;
} fdes[] = {
	{ "pcrel",
	  { .encoding = 0x1b, .sized = true },
	  B(EH_CIE, U4(0x10), U4(0x20), 0, 0x41, 0),
	  0,
	  0x1118,
	  0x1138,
	  2 },
	{ "pcrel, before", { .encoding = 0x1b, .sized = true }, B(EH_CIE, U4(-0x108), U4(8), 0), 0, 0x1000, 0x1008, 0 },
	{ "absolute", { .encoding = 0 }, B(EH_CIE, U8(0x400000), U8(0x20), 0x41), 0, 0x400000, 0x400020, 1 },
	{ "datarel", { .encoding = 0x3b }, B(EH_CIE, U4(0x10), U4(0x20)), 0, DATA_BASE + 0x10, DATA_BASE + 0x30, 0 },
	{ "with data",
	  { .encoding = 0x1b, .sized = true },
	  B(EH_CIE, U4(0x10), U4(0x20), 4, U4(9), 0x41),
	  0,
	  0x1118,
	  0x1138,
	  1 },
	{ "up to the last address",
	  { .encoding = 0 },
	  B(EH_CIE, U8(UINT64_MAX - 1), U8(1)),
	  0,
	  UINT64_MAX - 1,
	  UINT64_MAX,
	  0 },
	{ "debug", { .section = DEBUG }, B(DEB_CIE, U8(0x400000), U8(0x20), 0x41), 0, 0x400000, 0x400020, 1 },
	{ "no address", { .encoding = 0x1b }, B(EH_CIE), -EBADMSG },
	{ "half an address", { .encoding = 0x1b }, B(EH_CIE, 1, 2, 3), -EBADMSG },
	{ "no range", { .encoding = 0x1b }, B(EH_CIE, U4(0x10)), -EBADMSG },
	{ "half a range", { .encoding = 0x1b }, B(EH_CIE, U4(0x10), 1, 2, 3), -EBADMSG },
	{ "empty", { .encoding = 0x1b }, B(EH_CIE, U4(0x10), U4(0)), -EBADMSG },
	{ "backwards", { .encoding = 0x1b }, B(EH_CIE, U4(0x10), U4(-1)), -EBADMSG },
	{ "wraps", { .encoding = 0 }, B(EH_CIE, U8(UINT64_MAX), U8(2)), -EBADMSG },
	{ "wraps to 0", { .encoding = 0 }, B(EH_CIE, U8(UINT64_MAX), U8(1)), -EBADMSG },
	{ "everything", { .encoding = 0 }, B(EH_CIE, U8(1), U8(UINT64_MAX)), -EBADMSG },
	{ "no data length", { .encoding = 0x1b, .sized = true }, B(EH_CIE, U4(0x10), U4(0x20)), -EBADMSG },
	{ "data length, cut", { .encoding = 0x1b, .sized = true }, B(EH_CIE, U4(0x10), U4(0x20), 0x80), -EBADMSG },
	{ "data too long", { .encoding = 0x1b, .sized = true }, B(EH_CIE, U4(0x10), U4(0x20), 2, 0), -EBADMSG },
	{ "data much too long",
	  { .encoding = 0x1b, .sized = true },
	  B(EH_CIE, U4(0x10), U4(0x20), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
	  -EBADMSG },
	{ "of another CIE", { .encoding = 0x1b }, B(U4(8), U4(0x10), U4(0x20)), -EBADMSG },
	{ "a CIE", { .encoding = 0x1b }, B(U4(0), U4(0x10), U4(0x20)), -EBADMSG },
	{ "indirect", { .encoding = 0x9b }, B(EH_CIE, U4(0x10), U4(0x20)), -ENOTSUP },
	{ "textrel", { .encoding = 0x2b }, B(EH_CIE, U4(0x10), U4(0x20)), -ENOTSUP },
	{ "aligned", { .encoding = 0x50 }, B(EH_CIE, U8(0x10), U8(0x20)), -ENOTSUP },
	{ "omitted", { .encoding = CFI_PE_OMIT }, B(EH_CIE, U4(0x10), U4(0x20)), -ENOTSUP },
	{ "no such form", { .encoding = 0x1e }, B(EH_CIE, U4(0x10), U4(0x20)), -ENOTSUP },
	{ "debug, no range", { .section = DEBUG }, B(DEB_CIE, U8(0x400000)), -EBADMSG },
	{ "debug, of another CIE", { .section = DEBUG }, B(U4(0), U8(0x400000), U8(0x20)), -EBADMSG },
};

START_TEST(test_fde)
{
	struct cfi_cie cie = fdes[_i].cie;
	struct cfi_fde got;
	size_t size;
	uint8_t *bytes = record(fdes[_i].bytes, fdes[_i].len, &size);
	int rc;

	cie.addr = REC_ADDR;
	rc = cfi_fde_parse(&cie, bytes, size, FDE_ADDR, DATA_BASE, &got);
	ck_assert_msg(rc == fdes[_i].rc, "%s: %d", fdes[_i].name, rc);
	if (!rc) {
		ck_assert_msg(got.start == fdes[_i].start && got.end == fdes[_i].end, "%s: %llx %llx", fdes[_i].name,
			      (unsigned long long)got.start, (unsigned long long)got.end);
		ck_assert_ptr_eq(got.program_end, bytes + size);
		ck_assert_ptr_eq(got.program, bytes + size - fdes[_i].program);
		ck_assert_uint_eq(got.program_addr, FDE_ADDR + size - fdes[_i].program);
	}
	free(bytes);
}
END_TEST

/* ---- rows */

/* For a function at [START, START + 0x100); addresses count from START. */
#define START    0x4000u
#define CIE_PROG 0x8000u
#define FDE_PROG 0x9000u
#define STD      B(0x0c, 7, 8, 0x90, 1) /* as compilers write it: CFA rsp+8, return address at CFA-8 */

struct want {
	uint64_t at, start, end;
	uint8_t cfa_reg; /* 255: an expression */
	int64_t cfa_value;
	uint8_t reg, how;
	int64_t value;
};

static const struct {
	const char *name;
	const uint8_t *first;
	size_t first_len;
	const uint8_t *program;
	size_t len;
	struct want want;
} rows[] = {
	{ "nothing but the CIE's", STD, NONE, { 5, 0, 256, 7, 8, RA, CFI_OFFSET, -8 } },
	{ "others are the same", STD, NONE, { 5, 0, 256, 7, 8, 3, CFI_SAME, 0 } },
	{ "rsp is the CFA", STD, NONE, { 5, 0, 256, 7, 8, 7, CFI_VAL_OFFSET, 0 } },
	{ "a return address without a rule", B(0x0c, 7, 8), NONE, { 5, 0, 256, 7, 8, RA, CFI_SAME, 0 } },
	{ "nops", STD, B(0, 0, 0), { 255, 0, 256, 7, 8, RA, CFI_OFFSET, -8 } },
	{ "before advance_loc", STD, B(0x41, 0x0e, 16), { 0, 0, 1, 7, 8, 6, CFI_SAME, 0 } },
	{ "after advance_loc", STD, B(0x41, 0x0e, 16, 0x86, 2), { 1, 1, 256, 7, 16, 6, CFI_OFFSET, -16 } },
	{ "between two", STD, B(0x41, 0x0e, 16, 0x43, 0x0d, 6), { 2, 1, 4, 7, 16, 6, CFI_SAME, 0 } },
	{ "after both", STD, B(0x41, 0x0e, 16, 0x43, 0x0d, 6), { 4, 4, 256, 6, 16, 6, CFI_SAME, 0 } },
	{ "advance_loc by 0", STD, B(0x40, 0x0e, 16), { 0, 0, 256, 7, 16, 6, CFI_SAME, 0 } },
	{ "advance_loc1", STD, B(2, 200, 0x0e, 16), { 200, 200, 256, 7, 16, 6, CFI_SAME, 0 } },
	{ "advance_loc2", STD, B(3, U2(200), 0x0e, 16), { 200, 200, 256, 7, 16, 6, CFI_SAME, 0 } },
	{ "advance_loc4", STD, B(4, U4(200), 0x0e, 16), { 200, 200, 256, 7, 16, 6, CFI_SAME, 0 } },
	{ "advance beyond the end", STD, B(4, U4(-1), 0x0e, 16), { 255, 0, 256, 7, 8, 6, CFI_SAME, 0 } },
	{ "instructions after the address are ignored", STD, B(0x41, 0x3f), { 0, 0, 1, 7, 8, 6, CFI_SAME, 0 } },
	{ "set_loc", STD, B(1, U8(START + 9), 0x0e, 16), { 9, 9, 256, 7, 16, 6, CFI_SAME, 0 } },
	{ "before set_loc", STD, B(1, U8(START + 9), 0x0e, 16), { 8, 0, 9, 7, 8, 6, CFI_SAME, 0 } },
	{ "def_cfa", STD, B(0x0c, 6, 0x80, 1), { 0, 0, 256, 6, 128, 6, CFI_SAME, 0 } },
	{ "def_cfa_sf", STD, B(0x12, 6, 0x7e), { 0, 0, 256, 6, 16, 6, CFI_SAME, 0 } },
	{ "def_cfa_offset_sf", STD, B(0x13, 0x7d), { 0, 0, 256, 7, 24, 6, CFI_SAME, 0 } },
	{ "def_cfa_register keeps the offset", STD, B(0x0d, 10), { 0, 0, 256, 10, 8, 6, CFI_SAME, 0 } },
	{ "def_cfa_expression", STD, B(0x0f, 2, 0x77, 8), { 0, 0, 256, 255, FDE_PROG + 1, 6, CFI_SAME, 0 } },
	{ "def_cfa_expression of the CIE", B(0x0f, 1, 0x30), NONE, { 0, 0, 256, 255, CIE_PROG + 1, 6, CFI_SAME, 0 } },
	{ "def_cfa after an expression", STD, B(0x0f, 1, 0x30, 0x0c, 7, 8), { 0, 0, 256, 7, 8, 6, CFI_SAME, 0 } },
	{ "offset_extended", STD, B(5, 6, 2), { 0, 0, 256, 7, 8, 6, CFI_OFFSET, -16 } },
	{ "offset_extended_sf", STD, B(0x11, 6, 0x7e), { 0, 0, 256, 7, 8, 6, CFI_OFFSET, 16 } },
	{ "GNU_negative_offset_extended", STD, B(0x2f, 6, 2), { 0, 0, 256, 7, 8, 6, CFI_OFFSET, 16 } },
	{ "an offset that wraps",
	  STD,
	  B(5, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
	  { 0, 0, 256, 7, 8, 6, CFI_OFFSET, 0 } },
	{ "val_offset", STD, B(0x14, 6, 2), { 0, 0, 256, 7, 8, 6, CFI_VAL_OFFSET, -16 } },
	{ "val_offset_sf", STD, B(0x15, 6, 0x7e), { 0, 0, 256, 7, 8, 6, CFI_VAL_OFFSET, 16 } },
	{ "undefined", STD, B(7, RA), { 0, 0, 256, 7, 8, RA, CFI_UNDEFINED, 0 } },
	{ "same_value", STD, B(8, RA), { 0, 0, 256, 7, 8, RA, CFI_SAME, 0 } },
	{ "register", STD, B(9, RA, 2), { 0, 0, 256, 7, 8, RA, CFI_REGISTER, 2 } },
	{ "register: a vector register", STD, B(9, 3, 17), { 0, 0, 256, 7, 8, 3, CFI_UNDEFINED, 0 } },
	{ "expression", STD, B(0x10, 6, 2, 0x76, 0x00), { 0, 0, 256, 7, 8, 6, CFI_EXPR, FDE_PROG + 2 } },
	{ "val_expression", STD, B(0x16, 6, 2, 0x76, 0), { 0, 0, 256, 7, 8, 6, CFI_VAL_EXPR, FDE_PROG + 2 } },
	{ "an expression is stepped over",
	  STD,
	  B(0x16, 6, 2, 0x3f, 0x3f, 0x0e, 16),
	  { 0, 0, 256, 7, 16, 6, CFI_VAL_EXPR, FDE_PROG + 2 } },
	{ "an empty expression", STD, B(0x16, 6, 0), { 0, 0, 256, 7, 8, 6, CFI_VAL_EXPR, FDE_PROG + 2 } },
	{ "restore", STD, B(0x90, 3, 0xd0), { 0, 0, 256, 7, 8, RA, CFI_OFFSET, -8 } },
	{ "restore of a register without a rule", STD, B(0x86, 3, 0xc6), { 0, 0, 256, 7, 8, 6, CFI_SAME, 0 } },
	{ "restore of rsp", STD, B(0x87, 3, 0xc7), { 0, 0, 256, 7, 8, 7, CFI_VAL_OFFSET, 0 } },
	{ "restore_extended", STD, B(7, RA, 6, RA), { 0, 0, 256, 7, 8, RA, CFI_OFFSET, -8 } },
	{ "a rule for rsp", STD, B(0x87, 3), { 0, 0, 256, 7, 8, 7, CFI_OFFSET, -24 } },
	{ "restore_state, and the CFA",
	  STD,
	  B(0x0a, 0x0c, 6, 16, 0x86, 2, 0x41, 0x0b),
	  { 1, 1, 256, 7, 8, 6, CFI_SAME, 0 } },
	{ "before restore_state",
	  STD,
	  B(0x0a, 0x0c, 6, 16, 0x86, 2, 0x41, 0x0b),
	  { 0, 0, 1, 6, 16, 6, CFI_OFFSET, -16 } },
	{ "restore_state, twice",
	  STD,
	  B(0x0a, 0x0e, 16, 0x0a, 0x0e, 24, 0x0b, 0x0b),
	  { 0, 0, 256, 7, 8, 6, CFI_SAME, 0 } },
	{ "16 states", STD, B(X16(0x0a), X16(0x0b)), { 0, 0, 256, 7, 8, 6, CFI_SAME, 0 } },
	{ "one state, often", STD, B(X16(0x0a, 0x0b), X16(0x0a, 0x0b)), { 0, 0, 256, 7, 8, 6, CFI_SAME, 0 } },
	{ "GNU_args_size", STD, B(0x2e, 0x90, 1, 0x86, 2), { 0, 0, 256, 7, 8, 6, CFI_OFFSET, -16 } },
	{ "rules for vector registers",
	  STD,
	  B(0x91, 3, 5, 17, 3, 0x11, 32, 3, 0x2f, 33, 3, 0x14, 17, 3, 0x15, 17, 3, 7, 17, 8, 17, 9, 17, 18, 0x10, 17, 1,
	    0x30, 0x16, 17, 1, 0x30, 0xd1, 6, 17, 0x86, 2),
	  { 0, 0, 256, 7, 8, 6, CFI_OFFSET, -16 } },
	{ "register 2^32 + 6 is another",
	  STD,
	  B(5, 0x86, 0x80, 0x80, 0x80, 0x10, 2),
	  { 0, 0, 256, 7, 8, 6, CFI_SAME, 0 } },
};

static void release(struct cfi_cie *cie, struct cfi_fde *fde)
{
	free((void *)cie->program);
	free((void *)fde->program);
}

static void prepare(struct cfi_cie *cie, struct cfi_fde *fde, const uint8_t *first, size_t first_len,
		    const uint8_t *program, size_t len)
{
	cie->return_reg = RA;
	cie->program = exact(first, first_len);
	cie->end = cie->program + first_len;
	cie->program_addr = CIE_PROG;
	fde->start = START;
	fde->end = START + 0x100;
	fde->program = exact(program, len);
	fde->program_end = fde->program + len;
	fde->program_addr = FDE_PROG;
}

START_TEST(test_row)
{
	struct cfi_cie cie = { .code_align = 1, .data_align = -8 };
	const struct want *want = &rows[_i].want;
	struct cfi_fde fde;
	struct cfi_row got;
	int rc;

	prepare(&cie, &fde, rows[_i].first, rows[_i].first_len, rows[_i].program, rows[_i].len);
	rc = cfi_row_find(&cie, &fde, START + want->at, &got);
	ck_assert_msg(!rc, "%s: %d", rows[_i].name, rc);
	ck_assert_msg(got.start == START + want->start && got.end == START + want->end, "%s: %llx %llx", rows[_i].name,
		      (unsigned long long)got.start, (unsigned long long)got.end);
	ck_assert_msg(got.cfa_expr == (want->cfa_reg == 255) && got.cfa_reg == want->cfa_reg &&
			      got.cfa_value == want->cfa_value,
		      "%s: %d %d %lld", rows[_i].name, got.cfa_expr, got.cfa_reg, (long long)got.cfa_value);
	ck_assert_msg(got.how[want->reg] == want->how && got.value[want->reg] == want->value, "%s: %d %lld",
		      rows[_i].name, got.how[want->reg], (long long)got.value[want->reg]);
	ck_assert(got.return_reg == RA && !got.signal && !got.debug_frame);
	release(&cie, &fde);
}
END_TEST

static const struct {
	const char *name;
	const uint8_t *first;
	size_t first_len;
	const uint8_t *program;
	size_t len;
	int rc;
} bad_rows[] = {
	{ "no program at all", NONE, NONE, -EBADMSG },
	{ "no rule for the CFA", B(0x90, 1), B(0, 0), -EBADMSG },
	{ "def_cfa_offset without a register", NONE, B(0x0e, 8), -EBADMSG },
	{ "def_cfa_offset_sf without a register", NONE, B(0x13, 8), -EBADMSG },
	{ "def_cfa_register without an offset", NONE, B(0x0d, 7), -EBADMSG },
	{ "def_cfa_offset after an expression", STD, B(0x0f, 1, 0x30, 0x0e, 8), -EBADMSG },
	{ "def_cfa_offset_sf after an expression", STD, B(0x0f, 1, 0x30, 0x13, 8), -EBADMSG },
	{ "def_cfa_register after an expression", STD, B(0x0f, 1, 0x30, 0x0d, 7), -EBADMSG },
	{ "def_cfa with register 17", STD, B(0x0c, 17, 8), -EBADMSG },
	{ "def_cfa with register 255", STD, B(0x0c, 0xff, 1, 8), -EBADMSG },
	{ "def_cfa with register 2^32 + 7", STD, B(0x0c, 0x87, 0x80, 0x80, 0x80, 0x10, 8), -EBADMSG },
	{ "def_cfa_sf with register 17", STD, B(0x12, 17, 8), -EBADMSG },
	{ "def_cfa_register 17", STD, B(0x0d, 17), -EBADMSG },
	{ "a return address in a vector register", STD, B(9, RA, 17), -EBADMSG },
	{ "advance_loc in the CIE", B(0x0c, 7, 8, 0x41), NONE, -EBADMSG },
	{ "set_loc in the CIE", B(0x0c, 7, 8, 1, U8(START)), NONE, -EBADMSG },
	{ "restore in the CIE", B(0x0c, 7, 8, 0xc6), NONE, -EBADMSG },
	{ "restore_extended in the CIE", B(0x0c, 7, 8, 6, 6), NONE, -EBADMSG },
	{ "a CIE that is cut", B(0x0c, 7, 8, 0x90), NONE, -EBADMSG },
	{ "set_loc backwards", STD, B(0x42, 1, U8(START + 1)), -EBADMSG },
	{ "set_loc before the begin", STD, B(1, U8(START - 1)), -EBADMSG },
	{ "set_loc, cut", STD, B(1, 1, 2, 3, 4, 5, 6, 7), -EBADMSG },
	{ "advance_loc1, cut", STD, B(2), -EBADMSG },
	{ "advance_loc2, cut", STD, B(3, 1), -EBADMSG },
	{ "advance_loc4, cut", STD, B(4, 1, 2, 3), -EBADMSG },
	{ "offset, cut", STD, B(0x86), -EBADMSG },
	{ "offset without end", STD, B(0x86, 0x80), -EBADMSG },
	{ "offset of 11 bytes", STD, B(0x86, X4(0x80, 0x80, 0x80), 0), -EBADMSG },
	{ "offset_extended, cut", STD, B(5, 6), -EBADMSG },
	{ "offset_extended without a register", STD, B(5), -EBADMSG },
	{ "offset_extended_sf, cut", STD, B(0x11, 6), -EBADMSG },
	{ "GNU_negative_offset_extended, cut", STD, B(0x2f, 6), -EBADMSG },
	{ "GNU_args_size, cut", STD, B(0x2e), -EBADMSG },
	{ "val_offset, cut", STD, B(0x14, 6), -EBADMSG },
	{ "val_offset_sf, cut", STD, B(0x15, 6), -EBADMSG },
	{ "restore_extended, cut", STD, B(6), -EBADMSG },
	{ "undefined, cut", STD, B(7), -EBADMSG },
	{ "same_value, cut", STD, B(8), -EBADMSG },
	{ "register, cut", STD, B(9, 6), -EBADMSG },
	{ "def_cfa, cut", STD, B(0x0c, 7), -EBADMSG },
	{ "def_cfa_sf, cut", STD, B(0x12, 7), -EBADMSG },
	{ "def_cfa_register, cut", STD, B(0x0d), -EBADMSG },
	{ "def_cfa_offset, cut", STD, B(0x0e), -EBADMSG },
	{ "def_cfa_offset_sf, cut", STD, B(0x13), -EBADMSG },
	{ "def_cfa_expression, cut", STD, B(0x0f), -EBADMSG },
	{ "def_cfa_expression, too long", STD, B(0x0f, 2, 0x30), -EBADMSG },
	{ "expression, cut", STD, B(0x10, 6), -EBADMSG },
	{ "expression, too long", STD, B(0x10, 6, 2, 0x30), -EBADMSG },
	{ "expression, 2^64 - 1", STD, B(0x10, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x30),
	  -EBADMSG },
	{ "val_expression, too long", STD, B(0x16, 6, 2, 0x30), -EBADMSG },
	{ "val_expression of a vector register, too long", STD, B(0x16, 17, 2, 0x30), -EBADMSG },
	{ "17 states", STD, B(X16(0x0a), 0x0a), -EBADMSG },
	{ "restore_state of none", STD, B(0x0b), -EBADMSG },
	{ "restore_state, once too often", STD, B(0x0a, 0x0b, 0x0b), -EBADMSG },
	{ "restore_state of one without a CFA", NONE, B(0x0a, 0x0c, 7, 8, 0x0b), -EBADMSG },
	{ "MIPS_advance_loc8", STD, B(0x1d, U8(1)), -ENOTSUP },
	{ "GNU_window_save", STD, B(0x2d), -ENOTSUP },
	{ "no instruction 0x17", STD, B(0x17, 0, 0), -ENOTSUP },
	{ "no instruction 0x1c", STD, B(0x1c), -ENOTSUP },
	{ "no instruction 0x3f", STD, B(0x3f, 0, 0), -ENOTSUP },
	{ "unknown in the CIE", B(0x0c, 7, 8, 0x3f), NONE, -ENOTSUP },
};

START_TEST(test_bad_row)
{
	struct cfi_cie cie = { .code_align = 1, .data_align = -8 };
	struct cfi_fde fde;
	struct cfi_row got;
	int rc;

	prepare(&cie, &fde, bad_rows[_i].first, bad_rows[_i].first_len, bad_rows[_i].program, bad_rows[_i].len);
	rc = cfi_row_find(&cie, &fde, START + 5, &got);
	ck_assert_msg(rc == bad_rows[_i].rc, "%s: %d", bad_rows[_i].name, rc);
	release(&cie, &fde);
}
END_TEST

/* Effects of the fields of the CIE. @rc: for the row of START + 8. */
static const struct {
	const char *name;
	struct cfi_cie cie;
	const uint8_t *program;
	size_t len;
	int rc;
	uint64_t start;
} aligned[] = {
	{ "code by 4", { .code_align = 4 }, B(0x42, 0x41), 0, 8 },
	{ "code by 0", { .code_align = 0 }, B(0x42, 0x41), 0, 0 },
	{ "code by 2^63: beyond the last address", { .code_align = 1ULL << 63 }, B(0x42), -EBADMSG },
	{ "code by 2^64 - 1: the sum wraps", { .code_align = UINT64_MAX }, B(0x41), -EBADMSG },
	{ "set_loc pcrel", { .encoding = 0x1b, .code_align = 1 }, B(1, U4(START + 4 - FDE_PROG - 1)), 0, 4 },
	{ "set_loc pcrel before", { .encoding = 0x1b, .code_align = 1 }, B(1, U4(START - FDE_PROG - 2)), -EBADMSG },
	{ "set_loc datarel", { .encoding = 0x3b, .code_align = 1 }, B(1, U4(4)), -ENOTSUP },
	{ "set_loc indirect", { .encoding = 0x9b, .code_align = 1 }, B(1, U4(4)), -ENOTSUP },
	{ "set_loc, half an sdata4", { .encoding = 0x1b, .code_align = 1 }, B(1, 1, 2, 3), -EBADMSG },
};

START_TEST(test_aligned)
{
	struct cfi_cie cie = aligned[_i].cie;
	struct cfi_fde fde;
	struct cfi_row got;
	int rc;

	prepare(&cie, &fde, STD, aligned[_i].program, aligned[_i].len);
	rc = cfi_row_find(&cie, &fde, START + 8, &got);
	ck_assert_msg(rc == aligned[_i].rc, "%s: %d", aligned[_i].name, rc);
	if (!rc)
		ck_assert_uint_eq(got.start, START + aligned[_i].start);
	release(&cie, &fde);
}
END_TEST

START_TEST(test_kind)
{
	struct cfi_cie cie = { .section = DEBUG, .code_align = 1, .data_align = INT64_MIN, .signal = true };
	struct cfi_fde fde;
	struct cfi_row got;

	prepare(&cie, &fde, B(0x0c, 7, 8), B(0x86, 3, 0x2f, 3, 1));
	cie.return_reg = 3;
	ck_assert_int_eq(cfi_row_find(&cie, &fde, START, &got), 0);
	ck_assert(got.signal && got.debug_frame && got.return_reg == 3);
	ck_assert(got.value[6] == INT64_MIN && got.value[3] == INT64_MIN);
	release(&cie, &fde);
}
END_TEST

/* ---- real records */

struct section {
	const uint8_t *bytes, *end;
	uint64_t addr;
};

typedef void fde_fn(const struct section *s, uint64_t cie_at, uint64_t cie_size, uint64_t at, uint64_t size, void *ctx);

static void each_fde(const struct section *s, fde_fn *fn, void *ctx)
{
	struct cfi_record record, cie;
	uint64_t at = 0, cie_at;

	for (; at < (uint64_t)(s->end - s->bytes); at += record.size) {
		ck_assert_int_eq(cfi_record(EH, s->bytes + at, (size_t)(s->end - s->bytes) - at, s->addr + at, &record),
				 0);
		if (record.terminator)
			return;
		if (record.is_cie)
			continue;
		cie_at = record.cie_addr - s->addr;
		ck_assert_uint_lt(cie_at, at);
		ck_assert_int_eq(cfi_record(EH, s->bytes + cie_at, at - cie_at, record.cie_addr, &cie), 0);
		fn(s, cie_at, cie.size, at, record.size, ctx);
	}
}

struct search {
	fde_fn *fn;
	void *ctx;
};

/* .eh_frame of a library, found by the first field of its .eh_frame_hdr, up to the end of its segment at most. */
static int each_library(struct dl_phdr_info *info, size_t info_size, void *ctx)
{
	struct search *search = ctx;
	const uint8_t *hdr = NULL;
	struct section s;
	uint64_t hdr_addr = 0;
	size_t i;

	(void)info_size;
	if (info->dlpi_name[0] != '/') /* a linker ends it with a terminator; the vDSO's has none */
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
			hdr_addr = info->dlpi_phdr[i].p_vaddr;
			hdr = (const uint8_t *)(info->dlpi_addr + hdr_addr);
		}
	if (!hdr)
		return 0;
	ck_assert_int_gt(cfi_pointer(hdr + 4, 8, hdr[1], hdr_addr + 4, hdr_addr, &s.addr), 0);
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || s.addr < p->p_vaddr || s.addr - p->p_vaddr >= p->p_filesz)
			continue;
		s.bytes = (const uint8_t *)(info->dlpi_addr + s.addr);
		s.end = (const uint8_t *)(info->dlpi_addr + p->p_vaddr + p->p_filesz);
		each_fde(&s, search->fn, search->ctx);
	}
	return 0;
}

struct count {
	size_t fdes, rows;
};

/* Each row begins where the previous one ends, and is found by its first and its last address. */
static void check_fde(const struct section *s, uint64_t cie_at, uint64_t cie_size, uint64_t at, uint64_t size,
		      void *ctx)
{
	uint8_t *cie_bytes = exact(s->bytes + cie_at, cie_size), *bytes = exact(s->bytes + at, size);
	struct count *count = ctx;
	struct cfi_row row, last;
	struct cfi_cie cie;
	struct cfi_fde fde;
	uint64_t addr;

	ck_assert_int_eq(cfi_cie_parse(EH, cie_bytes, cie_size, s->addr + cie_at, &cie), 0);
	ck_assert_int_eq(cfi_fde_parse(&cie, bytes, size, s->addr + at, 0, &fde), 0);
	for (addr = fde.start; addr < fde.end; addr = row.end) {
		ck_assert_int_eq(cfi_row_find(&cie, &fde, addr, &row), 0);
		ck_assert(row.start == addr && row.end > addr && row.end <= fde.end);
		ck_assert(row.cfa_expr || row.cfa_reg < ARCH_NR_REGS);
		ck_assert_int_eq(cfi_row_find(&cie, &fde, row.end - 1, &last), 0);
		ck_assert(last.start == row.start && last.end == row.end);
		count->rows++;
	}
	count->fdes++;
	free(bytes);
	free(cie_bytes);
}

START_TEST(test_real)
{
	struct count count = { 0 };
	struct search search = { check_fde, &count };

	dl_iterate_phdr(each_library, &search);
	ck_assert_uint_gt(count.fdes, 1000);
	ck_assert_uint_gt(count.rows, 2 * count.fdes);
}
END_TEST

static void damage(uint8_t *bytes, uint64_t size, unsigned short *seed)
{
	long n;

	for (n = nrand48(seed) % 4; n >= 0; n--) {
		uint64_t at = (uint64_t)nrand48(seed) % size;

		if (nrand48(seed) % 2)
			bytes[at] ^= (uint8_t)(1U << nrand48(seed) % 8);
		else
			bytes[at] = (uint8_t)(nrand48(seed) >> 8);
	}
}

static void check_error(int rc)
{
	ck_assert_msg(rc == 0 || rc == -EBADMSG || rc == -ENOTSUP, "%d", rc);
}

static void check_damaged(const struct cfi_cie *cie, const struct cfi_fde *fde, unsigned short *seed)
{
	struct cfi_row row;
	uint64_t addr;
	int i, rc;

	ck_assert_uint_lt(fde->start, fde->end);
	for (i = 0; i < 4; i++) {
		addr = fde->start + (uint64_t)nrand48(seed) % (fde->end - fde->start);
		rc = cfi_row_find(cie, fde, addr, &row);
		check_error(rc);
		if (!rc)
			ck_assert(row.start >= fde->start && row.start <= addr && row.end > addr &&
				  row.end <= fde->end && (row.cfa_expr || row.cfa_reg < ARCH_NR_REGS));
	}
}

/* Both records are damaged, or one of them. Also an FDE whose CIE was parsed before the damage. */
static void damage_fde(const struct section *s, uint64_t cie_at, uint64_t cie_size, uint64_t at, uint64_t size,
		       void *ctx)
{
	uint8_t *cie_bytes = exact(s->bytes + cie_at, cie_size), *bytes = exact(s->bytes + at, size);
	unsigned short *seed = ctx;
	struct cfi_record record;
	struct cfi_cie cie;
	struct cfi_fde fde;
	long which = nrand48(seed) % 3;
	int rc;

	if (which != 0)
		damage(bytes, size, seed);
	if (which != 1)
		damage(cie_bytes, cie_size, seed);
	check_error(cfi_record(EH, bytes, size, s->addr + at, &record));
	rc = cfi_cie_parse(EH, cie_bytes, cie_size, s->addr + cie_at, &cie);
	check_error(rc);
	if (!rc) {
		rc = cfi_fde_parse(&cie, bytes, size, s->addr + at, s->addr, &fde);
		check_error(rc);
		if (!rc)
			check_damaged(&cie, &fde, seed);
	}
	free(bytes);
	free(cie_bytes);
}

START_TEST(test_damaged)
{
	unsigned short seed[3] = { 1, 2, (unsigned short)_i };
	struct search search = { damage_fde, seed };

	dl_iterate_phdr(each_library, &search);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cfi");
	TCase *tc = tcase_create("cfi");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_pointer, 0, ARRAY_SIZE(pointers));
	tcase_add_loop_test(tc, test_header, 0, ARRAY_SIZE(headers));
	tcase_add_test(tc, test_header_wraps);
	tcase_add_loop_test(tc, test_cie, 0, ARRAY_SIZE(cies));
	tcase_add_loop_test(tc, test_fde, 0, ARRAY_SIZE(fdes));
	tcase_add_test(tc, test_cut);
	tcase_add_loop_test(tc, test_row, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, test_bad_row, 0, ARRAY_SIZE(bad_rows));
	tcase_add_loop_test(tc, test_aligned, 0, ARRAY_SIZE(aligned));
	tcase_add_test(tc, test_kind);
	tcase_add_test(tc, test_real);
	tcase_add_loop_test(tc, test_damaged, 0, 8);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
