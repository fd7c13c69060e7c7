/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a function with a frame pointer, void spin(uint64_t n), that counts down from @n. It can run at any
 * address.
 */
#ifndef TESTS_SPIN_CODE_H
#define TESTS_SPIN_CODE_H

#include <stdint.h>

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char spin_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; 1: subs x0,x0,#1; b.ne 1b; ldp x29,x30,[sp],#16; ret */
static const uint32_t spin_code[] = { 0xa9bf7bfd, 0x910003fd, 0xf1000400, 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0 };
#else
#error "no code for this CPU"
#endif

#endif
