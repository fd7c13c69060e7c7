/* SPDX-License-Identifier: Apache-2.0 */
/* Which Linux distribution this is, as far as it matters for how debug packages are installed. */
#ifndef CORE_HOST_DISTRIBUTION_H
#define CORE_HOST_DISTRIBUTION_H

/**
 * enum distribution - by the tools it has.
 * DISTRIBUTION_RPM_YUM: Red Hat's and its like before they had dnf: version 7, Amazon Linux 2
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
 * distribution_of() - the distribution that os-release(5) tells of: ID, else the first word of ID_LIKE that is known.
 * @text: its content, terminated by a zero. It may be anybody's: nothing of it is kept.
 */
enum distribution distribution_of(const char *text);

#endif
