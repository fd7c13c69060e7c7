/* SPDX-License-Identifier: Apache-2.0 */
/* Make the request and the session that a checked command line asks for. */
#ifndef CORE_CLI_REQUEST_H
#define CORE_CLI_REQUEST_H

#include "core/cli/command_line.h"
#include "core/session/session.h"

/** request_of() - what @o asks of a session. Borrows from @o. */
struct request request_of(const struct options *o, const struct host *host);

/** request_session() - a session that samples this host, or reads the recording that @o names. NULL: no memory. */
struct session *request_session(const struct options *o, const struct host *host);

#endif
