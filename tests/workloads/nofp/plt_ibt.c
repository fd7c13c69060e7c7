// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -fcf-protection=full -fplt -Wl,-z,lazy -Wl,-z,ibtplt -lcalls '-Wl,-rpath,$ORIGIN'
/* With the two tables of indirect branch tracking. */
#include "tests/workloads/nofp/plt.c"
