/* SPDX-License-Identifier: Apache-2.0 */
/* The Linux distribution, as far as it matters for installing debug packages. */
#ifndef CORE_HOST_DISTRIBUTION_H
#define CORE_HOST_DISTRIBUTION_H

/**
 * enum distribution - distributions by their tools.
 * DISTRIBUTION_RPM_YUM: Red Hat and similar ones before dnf: version 7, Amazon Linux 2
 */
enum distribution {
	DISTRIBUTION_UNKNOWN,
	DISTRIBUTION_DEB,
	DISTRIBUTION_RPM_DNF,
	DISTRIBUTION_RPM_YUM,
	DISTRIBUTION_SUSE,
	DISTRIBUTION_ARCH
};

/**
 * distribution_of() - the distribution of an os-release(5) file: by ID, otherwise by the first known word of ID_LIKE.
 * @text: its content, zero-terminated. It may be hostile: no part of it is kept.
 */
enum distribution distribution_of(const char *text);

#endif
