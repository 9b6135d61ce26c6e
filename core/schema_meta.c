/* SPDX-License-Identifier: MIT */
/* schema_meta.c -- the metaschemas of schemas/meta/, embedded by the build, by their URI. */
#include "embedded.h"
#include "schema_nodes.h"

#include <string.h>

#define VOCABULARY(name) "https://json-schema.org/draft/2020-12/meta/" name

static const struct {
    const char *uri, *text;
    const size_t *size;
} metaschemas[] = {
    {"http://json-schema.org/draft-07/schema", meta_draft_07, &meta_draft_07_size},
    {"https://json-schema.org/draft-07/schema", meta_draft_07, &meta_draft_07_size},
    {"https://json-schema.org/draft/2020-12/schema", meta_2020_12, &meta_2020_12_size},
    {VOCABULARY("core"), meta_2020_12_core, &meta_2020_12_core_size},
    {VOCABULARY("applicator"), meta_2020_12_applicator, &meta_2020_12_applicator_size},
    {VOCABULARY("unevaluated"), meta_2020_12_unevaluated, &meta_2020_12_unevaluated_size},
    {VOCABULARY("validation"), meta_2020_12_validation, &meta_2020_12_validation_size},
    {VOCABULARY("meta-data"), meta_2020_12_meta_data, &meta_2020_12_meta_data_size},
    {VOCABULARY("format-annotation"), meta_2020_12_format_annotation, &meta_2020_12_format_annotation_size},
    {VOCABULARY("format-assertion"), meta_2020_12_format_assertion, &meta_2020_12_format_assertion_size},
    {VOCABULARY("content"), meta_2020_12_content, &meta_2020_12_content_size},
};

const json_value *schema_meta_find(arena *a, const char *uri) {
    for (size_t i = 0; i < sizeof metaschemas / sizeof *metaschemas; i++)
        if (!strcmp(metaschemas[i].uri, uri))
            return json_read_copy(a, metaschemas[i].text, *metaschemas[i].size, NULL, NULL);
    return NULL;
}
