/* SPDX-License-Identifier: MIT */
/* resource_uri.h -- the addresses under which resources may be offered. */
#ifndef LASTRO_CORE_RESOURCE_URI_H
#define LASTRO_CORE_RESOURCE_URI_H

/* What is wrong with the address of a resource; NULL: nothing. */
const char *resource_uri_fault(const char *uri);
/* The same for an RFC 6570 template of level 1. */
const char *resource_template_fault(const char *text);

#endif
