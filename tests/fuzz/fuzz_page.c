// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for read_page(). Input: the number of columns of values, then strings, frames and nodes
 * (page_data.h).
 */
#include "tests/fuzz/read.h"

#include "core/formats/base64.h"
#include "core/formats/gzip.h"
#include "core/formats/page_data.h"

#include <stdlib.h>

static void put(void *base64, const void *bytes, size_t len)
{
	base64_put(base64, bytes, len);
}

static void put_head(struct gzip_writer *gzip, unsigned int columns)
{
	char head[256] = "?{\"unit\":\"samples\",\"before\":-1,\"columns\":[{}";
	size_t len = strlen(head);

	for (; columns; columns--)
		len += (size_t)snprintf(head + len, sizeof(head) - len, ",{}");
	len += (size_t)snprintf(head + len, sizeof(head) - len, "]}");
	head[0] = (char)(len - 1);
	check(len - 1 < 128);
	gzip_put(gzip, PAGE_MAGIC, strlen(PAGE_MAGIC));
	gzip_put(gzip, head, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gzip_writer gzip;
	struct base64_writer base64 = { 0 };
	char *page = NULL;
	size_t len;

	if (!size)
		return 0;
	base64.out = open_memstream(&page, &len);
	check(base64.out && !gzip_begin(&gzip, put, &base64));
	fprintf(base64.out, "<script id=\"data\">");
	put_head(&gzip, *data % 4);
	gzip_put(&gzip, data + 1, size - 1);
	gzip_end(&gzip);
	base64_end(&base64);
	fclose(base64.out);
	fuzz_report(read_page, (const uint8_t *)page, len);
	free(page);
	return 0;
}
