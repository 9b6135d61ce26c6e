/* SPDX-License-Identifier: MIT */
/* lastro/abi.h -- the border between the host and its plugins. Authors include lastro/lastro.h, which adds
 * the comfort; this file alone is what both sides must agree on.
 *
 * ABI history (append-only: a struct grows at its end, a table gets new entries at its end, nothing moves)
 *   1  2026-11-30  first; the same day, at the ends: client_can, need_client, task, let_go, changed, to_json, chosen in
 *                  lastro_host; more in lastro_resource and lastro_prompt; LASTRO_TOOL_TASK, LASTRO_TOOL_TASK_ONLY,
 *                  LASTRO_TOOL_MAY_TASK
 *
 * Rules that hold everywhere
 *   - Text is UTF-8. A lastro_text is a pointer and a length; it is borrowed and may lack a final NUL unless said.
 *   - A const char * is NUL-terminated. NULL means "not given" where that is said.
 *   - Structs that cross the border start with their size in bytes, so that both sides see how much is there.
 *     Fill them with designated initialisers; what is not named is zero, and zero means "default".
 *   - What is passed to an add_* function (descriptor, strings, tables) must live as long as the plugin: use static data.
 *   - Times are milliseconds since 1970-01-01T00:00:00Z; lengths of time are milliseconds.
 *   - Unless said otherwise a function may be called from any thread, for one call at a time per thread.
 *   - A handler runs on a thread of the host and may run many times at once: guard what you share.
 *   - Never write to standard output (on stdio it belongs to the protocol): use log, or print in a shell command.
 */
#ifndef LASTRO_ABI_H
#define LASTRO_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LASTRO_MAGIC 0x4F54534CU /* "LSTO" in memory order on little-endian machines */
#define LASTRO_ABI 1U

/* ------------------------------------------------------------------ errors */

/* name, JSON-RPC code (0: told inside the tool's result), outcome class, meaning */
#define LASTRO_STATUS_MAP(X)                                                                          \
    X(LASTRO_OK, 0, "ok", "done")                                                                     \
    X(LASTRO_EPARAMS, -32602, "contract", "the request's parameters are malformed")                   \
    X(LASTRO_EARGS, 0, "contract", "the arguments break a rule of the tool")                          \
    X(LASTRO_ENOTFOUND, 0, "not_found", "nothing is there under that name or in that window")         \
    X(LASTRO_EUPSTREAM, 0, "source", "the source gave no usable answer")                              \
    X(LASTRO_EOFFLINE, 0, "source", "the network may not be used and nothing local answers")          \
    X(LASTRO_ECANCELLED, 0, "cancelled", "the client or the shutdown cancelled the call")             \
    X(LASTRO_EDEADLINE, 0, "source", "the call's time is used up")                                    \
    X(LASTRO_ELIMIT, 0, "contract", "the result or the request passes a stated limit")                \
    X(LASTRO_EDENIED, 0, "contract", "the principal or the manifest does not allow it")               \
    X(LASTRO_EASK, 0, "ok", "the client must answer a question first; return this at once")           \
    X(LASTRO_ECLIENT, -32021, "contract", "the client lacks a capability that this needs")            \
    X(LASTRO_ENOMEM, -32603, "defect", "out of memory")                                               \
    X(LASTRO_EABI, -32603, "defect", "the plugin was built for another SDK")                          \
    X(LASTRO_EINTERNAL, -32603, "defect", "a defect in the plugin or the host")
#define LASTRO_STATUS_ENUM(name, rpc, class_, text) name,
typedef enum lastro_status { LASTRO_STATUS_MAP(LASTRO_STATUS_ENUM) LASTRO_STATUS_COUNT } lastro_status;
#undef LASTRO_STATUS_ENUM

/* Filled by whoever fails; the text is read by a person or a model: what was wrong, what is valid, what to do next. */
typedef struct lastro_error {
    int32_t status; /* lastro_status */
    char text[1020];
} lastro_error;

/* ------------------------------------------------------------------ values */

typedef struct lastro_text {
    const char *at;
    size_t len;
} lastro_text;

/* A JSON value one may read. Opaque, immutable, borrowed: it lives as long as the call (or, read while loading,
 * as long as the plugin). NULL is "absent" and every reading function takes it. */
typedef struct lastro_value lastro_value;

enum {
    LASTRO_ABSENT = 0,
    LASTRO_NULL = 1,
    LASTRO_BOOL = 2,
    LASTRO_NUMBER = 3,
    LASTRO_STRING = 4,
    LASTRO_ARRAY = 5,
    LASTRO_OBJECT = 6
};

/* Iteration over an array or an object: iterate() fills it, next() steps. Fields other than key and value are the host's. */
typedef struct lastro_iter {
    lastro_text key;           /* {NULL, 0} in an array */
    const lastro_value *value;
    const void *host[2];
    uint64_t left, flags;
} lastro_iter;

/* A JSON text being written. Opaque. After a misuse (value without key, number that is none, bytes that are not
 * UTF-8, past the limit) it does nothing more and the call fails as a defect: a broken document never goes out. */
typedef struct lastro_writer lastro_writer;

/* ------------------------------------------------------------------ the call */

/* One tool call, resource read, prompt, completion or shell command in progress. Opaque; dead when the handler returns. */
typedef struct lastro_call lastro_call;
/* What a plugin registers into while it is being loaded. Opaque; dead when init returns. */
typedef struct lastro_registrar lastro_registrar;

/* Who calls. On stdio the manifest or LASTRO_PRINCIPAL names it, over HTTP the key does. */
typedef struct lastro_principal {
    uint32_t size;
    const char *name;             /* "local" when nobody was named */
    const lastro_value *claims;   /* object from the manifest or the token; NULL: none */
} lastro_principal;

enum { LASTRO_ERA_LEGACY = 0, LASTRO_ERA_MODERN = 1, LASTRO_ERA_SHELL = 2 };
enum { LASTRO_LOG_DEBUG = 0, LASTRO_LOG_INFO = 1, LASTRO_LOG_NOTICE = 2, LASTRO_LOG_WARNING = 3, LASTRO_LOG_ERROR = 4 };

enum { LASTRO_CHANGED_TOOLS = 0, LASTRO_CHANGED_PROMPTS = 1, LASTRO_CHANGED_RESOURCES = 2, LASTRO_CHANGED_RESOURCE = 3 };

/* A question to the client, through the protocol's own means in each era. In the modern era the first pass returns
 * LASTRO_EASK: return it at once; the handler runs again from its start when the answers are there, so ask before
 * doing anything that must not happen twice. An answer has the form that the protocol and the question ask for: anything
 * else is an error to be returned (LASTRO_EPARAMS, in sessions of the legacy eras LASTRO_EDENIED). */
typedef struct lastro_question {
    uint32_t size;
    const char *key;        /* names the question within the call, e.g. "user_name" */
    const char *method;     /* "elicitation/create", "sampling/createMessage", "roots/list" */
    const char *params;     /* JSON object, as the protocol defines it for the method */
} lastro_question;

/* ------------------------------------------------------------------ sources and fetching */

/* How the body of one attempt is judged (the shape of the body decides, not the status). */
enum {
    LASTRO_BODY_OK = 0,        /* a usable answer, also when it is empty */
    LASTRO_BODY_RETRY = 1,     /* a passing fault: worth another attempt */
    LASTRO_BODY_SUSPECT = 2,   /* not what was asked for; only repetition can tell why. Another attempt */
    LASTRO_BODY_NOT_FOUND = 3, /* the source itself says there is nothing: final */
    LASTRO_BODY_REFUSED = 4,   /* the source refuses this request as it is: final, never repeated */
    LASTRO_BODY_LIMITED = 5    /* too many requests: wait as told, then another attempt */
};

typedef struct lastro_attempt {
    uint32_t size;
    uint32_t http_status;
    lastro_text content_type;
    lastro_text body;
    const char *url;          /* canonical */
    const char *class_name;   /* request class */
} lastro_attempt;

typedef struct lastro_request_class {
    uint32_t size;
    const char *name;         /* "small", "window" */
    uint32_t attempt_ms;      /* one attempt may take this long */
    uint32_t attempts;        /* at the most */
    uint32_t budget_ms;       /* all attempts and waits together */
    uint32_t wait_ms;         /* before the second attempt; doubles each time, with jitter */
    uint32_t wait_max_ms;     /* no single wait is longer, save what Retry-After asks */
} lastro_request_class;

typedef struct lastro_source {
    uint32_t size;
    const char *name;         /* "sgs": also names --source NAME=URL and LASTRO_SOURCE_NAME */
    const char *title;        /* official name, for provenance */
    const char *base_url;     /* "https://api.example.org", without a final slash */
    const char *license;      /* SPDX id, or a name; NULL: none known */
    const char *license_url;
    const char *citation;     /* template; {detail}, {date} (dd/mm/yyyy, source's day), {license}, {url} are replaced */
    int32_t utc_offset_min;   /* of the source's own time, minutes east of UTC */
    uint32_t parallel;        /* requests of one call in the air at once; 0: 4 */
    uint32_t body_max;        /* bytes after decompression; 0: 32 MiB */
    const char *accept;       /* Accept header; NULL: application/json */
    const lastro_request_class *const *classes; /* ends with NULL; the first is the default */
    /* Judges one attempt that came through. Called on the handler's thread; reason: short English text for the log. */
    int32_t (*classify)(void *self, const lastro_attempt *attempt, char *reason, size_t reason_size);
    bool local;               /* nothing is fetched (a curated file, a database): only record_access refers to it */
} lastro_source;

typedef struct lastro_request {
    uint32_t size;
    const char *source;       /* registered name */
    const char *class_name;   /* NULL: the source's first class */
    const char *target;       /* path and query after base_url, percent-encoded: "/dados/serie/…" */
    uint32_t fresh_ms;        /* an answer of the cache this old will do; 0: never use or fill the cache */
    uint32_t negative_ms;     /* the same for NOT_FOUND and REFUSED answers */
    const char *label;        /* for progress and the log; NULL: none */
} lastro_request;

/* Why there is no usable body. */
enum {
    LASTRO_FETCH_OK = 0,
    LASTRO_FETCH_NOT_FOUND = 1,
    LASTRO_FETCH_REFUSED = 2,
    LASTRO_FETCH_TIMEOUT = 3,    /* no attempt answered in its time */
    LASTRO_FETCH_NETWORK = 4,    /* the source could not be reached */
    LASTRO_FETCH_LIMITED = 5,    /* 429 to the end */
    LASTRO_FETCH_SERVER = 6,     /* 5xx to the end */
    LASTRO_FETCH_MALFORMED = 7,  /* suspect bodies to the end */
    LASTRO_FETCH_OFFLINE = 8,
    LASTRO_FETCH_CANCELLED = 9,
    LASTRO_FETCH_TOO_LARGE = 10,
    LASTRO_FETCH_DEADLINE = 11,  /* the call's own time ended */
    LASTRO_FETCH_UNSUPPORTED = 12 /* bad request of the plugin, or the transport module is missing */
};
/* Faults counted over all attempts, in provenance's fixed order. */
enum {
    LASTRO_ANOMALY_TIMEOUT = 0,
    LASTRO_ANOMALY_NETWORK = 1,
    LASTRO_ANOMALY_4XX = 2,
    LASTRO_ANOMALY_5XX = 3,
    LASTRO_ANOMALY_LIMITED = 4,
    LASTRO_ANOMALY_BODY = 5,
    LASTRO_ANOMALY_COUNT = 6
};

typedef struct lastro_response {
    uint32_t size;
    int32_t outcome;          /* LASTRO_FETCH_* */
    int32_t verdict;          /* LASTRO_BODY_* of the last attempt that brought a body */
    uint32_t http_status;     /* of the last attempt; 0: none came through */
    lastro_text body;         /* of the last attempt; lives as long as the call */
    const char *url;          /* canonical address, whatever base was really used */
    int64_t retrieved_at;     /* when the body was really read from the source; 0: never */
    bool from_cache;
    uint32_t attempts;        /* made for this answer now (0: all from the cache) */
    uint32_t anomalies[LASTRO_ANOMALY_COUNT];
    uint32_t waited_ms;       /* from the start to the end of all attempts */
    uint32_t access;          /* number of this access in the call, for field sources */
    const char *reason;       /* English, for logs; never NULL */
} lastro_response;

/* ------------------------------------------------------------------ provenance */

/* One source of a merged answer: which fields came from where. */
typedef struct lastro_field_source {
    uint32_t size;
    const char *const *fields;   /* ends with NULL; at least one */
    const char *source_url;      /* NULL: the access's own */
    const char *dataset_id;      /* NULL: none */
    const char *data_vintage;    /* NULL: the source does not say */
    uint32_t access;             /* a response's access number; 0: none was made in this call */
} lastro_field_source;

/* A block of the answer's provenance. The host adds instant, licence, citation, retrieval and cache state from what
 * it recorded. One block per source; add them in the order they shall appear. */
typedef struct lastro_block {
    uint32_t size;
    const char *source;          /* registered name */
    const char *source_url;      /* reproduces the query; NULL: the address of the only access to that source */
    const char *data_vintage;    /* NULL: the source does not say */
    const char *detail;          /* put into the citation, e.g. "série 433 (IPCA)" */
    const lastro_field_source *const *fields; /* ends with NULL; NULL: not a merged answer */
    const char *const *notices;  /* ends with NULL; NULL: none */
    const char *revision;        /* "current", "provisional", "final"; NULL: say nothing */
    const char *revision_note;
} lastro_block;

/* A read of something that is not HTTP, or of data shipped with the plugin. */
typedef struct lastro_access {
    uint32_t size;
    const char *source;          /* registered name */
    const char *url;             /* canonical address or name of the data */
    int64_t retrieved_at;        /* when the data left its source; 0: unknown */
    const char *notice;          /* put among the block's notices, e.g. that this is a snapshot and of when; NULL: none */
} lastro_access;

/* ------------------------------------------------------------------ what a plugin can register */

enum {
    LASTRO_TOOL_QUICK = 1 << 0,       /* never waits, under about 100 µs: may run on the transport's own thread */
    LASTRO_TOOL_PROVENANCE = 1 << 1,  /* the host adds `provenance` (object) and `attribution` to the structured result */
    LASTRO_TOOL_PROVENANCE_LIST = 1 << 2, /* the same with `provenance` as an array of blocks */
    LASTRO_TOOL_TASK = 1 << 3,       /* takes long: a client that knows tasks gets one from the start (see task) */
    LASTRO_TOOL_TASK_ONLY = 1 << 4,  /* the same, and other clients are refused */
    LASTRO_TOOL_MAY_TASK = 1 << 5    /* its handler may call task; none of the three goes with LASTRO_TOOL_QUICK */
};

typedef struct lastro_tool {
    uint32_t size;
    uint32_t flags;
    /* The tool's contract file (name, title, description, annotations, inputSchema, outputSchema, language), as the
     * build embedded it. Nothing else describes a tool. */
    const char *contract;
    uint32_t deadline_ms;             /* 0: the host's default */
    /* args: an object that passed inputSchema, defaults not filled in. out: write the members of the structured result
     * as ONE object, or nothing when the contract has no outputSchema (then use content). */
    lastro_status (*run)(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err);
} lastro_tool;

typedef struct lastro_resource {
    uint32_t size;
    const char *uri;                  /* or, for a template, an RFC 6570 level 1 template: "x://{id}/data" */
    const char *name, *title, *description, *mime_type;
    /* Write one or more content objects {uri, mimeType, text | blob} into contents (an open array).
     * LASTRO_ENOTFOUND: there is no such resource. */
    lastro_status (*read)(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err);
    /* Templates only, may be NULL: candidates for a variable, best first, at most 100, as strings into values. */
    lastro_status (*complete)(void *self, lastro_call *call, lastro_text variable, lastro_text prefix,
                              lastro_writer *values, lastro_error *err);
    /* JSON object of what else the lists shall say: annotations, icons, size, _meta. NULL: nothing. */
    const char *more;
} lastro_resource;

typedef struct lastro_prompt_argument {
    uint32_t size;
    const char *name, *title, *description;
    bool required;
} lastro_prompt_argument;

typedef struct lastro_prompt {
    uint32_t size;
    const char *name, *title, *description;
    const lastro_prompt_argument *const *arguments; /* ends with NULL; NULL: none */
    const char *const *tools;         /* tools the text names; one of them disabled hides the prompt. Ends with NULL */
    /* Write message objects {role, content} into messages (an open array). arguments: object of strings. */
    lastro_status (*get)(void *self, lastro_call *call, const lastro_value *arguments, lastro_writer *messages,
                         lastro_error *err);
    lastro_status (*complete)(void *self, lastro_call *call, lastro_text argument, lastro_text prefix,
                              lastro_writer *values, lastro_error *err); /* may be NULL */
    const char *more;                 /* JSON object of what else the list shall say: icons, _meta. NULL: nothing */
} lastro_prompt;

/* Methods that other plugins may call. Name and version are the contract. */
typedef struct lastro_method {
    uint32_t size;
    const char *name;
    const char *input_schema, *output_schema; /* JSON Schema texts; checked by the host on both sides */
    lastro_status (*run)(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err);
} lastro_method;
typedef struct lastro_service {
    uint32_t size;
    const char *name;                 /* "series" */
    uint32_t version;
    const lastro_method *const *methods; /* ends with NULL */
} lastro_service;

typedef struct lastro_service_call {
    uint32_t size;
    const char *service;
    uint32_t version;
    const char *method;
    const lastro_value *args;
    /* filled by the host */
    const lastro_value *result;       /* NULL: it failed */
    lastro_error error;
} lastro_service_call;

/* lastro run PLUGIN NAME …  argv[0] is the command's own name. Returns the exit status; by convention 0 done, 1 failed,
 * 2 unusable arguments (after saying so through log: the host prints nothing more). Standard output through print only. */
typedef struct lastro_command {
    uint32_t size;
    const char *name, *summary, *usage;
    int32_t (*run)(void *self, lastro_call *call, int32_t argc, const char *const *argv);
} lastro_command;

/* ------------------------------------------------------------------ the host's services */

typedef struct lastro_host {
    uint32_t size, abi;
    const char *program, *version;

    /* -- while loading (init only) -- each fails with a text naming both owners when a name is taken */
    lastro_status (*add_tool)(lastro_registrar *r, const lastro_tool *tool, lastro_error *err);
    lastro_status (*add_resource)(lastro_registrar *r, const lastro_resource *resource, lastro_error *err);
    lastro_status (*add_template)(lastro_registrar *r, const lastro_resource *resource, lastro_error *err);
    lastro_status (*add_prompt)(lastro_registrar *r, const lastro_prompt *prompt, lastro_error *err);
    lastro_status (*add_source)(lastro_registrar *r, const lastro_source *source, lastro_error *err);
    lastro_status (*add_service)(lastro_registrar *r, const lastro_service *service, lastro_error *err);
    lastro_status (*add_command)(lastro_registrar *r, const lastro_command *command, lastro_error *err);
    /* A sentence or more for the model. tool: left out when that tool is disabled; NULL: always there. */
    lastro_status (*add_instructions)(lastro_registrar *r, const char *tool, const char *text, lastro_error *err);
    const lastro_value *(*config)(lastro_registrar *r);          /* the manifest's config object; NULL: none */
    /* Reads JSON that lives as long as the plugin. text is copied. NULL with err filled: it is not JSON. */
    const lastro_value *(*load_json)(lastro_registrar *r, const char *text, size_t len, lastro_error *err);

    /* -- values -- */
    int32_t (*kind)(const lastro_value *v);
    size_t (*count)(const lastro_value *v);                      /* items or members; 0 for anything else */
    const lastro_value *(*member)(const lastro_value *v, const char *name, size_t len);
    const lastro_value *(*at)(const lastro_value *v, size_t index);
    void (*iterate)(const lastro_value *v, lastro_iter *it);
    bool (*next)(lastro_iter *it);
    lastro_text (*text)(const lastro_value *v);                  /* of a string, or a number's digits as written */
    bool (*truth)(const lastro_value *v);
    bool (*int64)(const lastro_value *v, int64_t *ret);          /* true: an integer that fits (433, 433.0, 4.33e2) */
    double (*number)(const lastro_value *v);                     /* nearest double; 0 when it is no number */

    /* -- writing -- */
    void (*begin_object)(lastro_writer *w);
    void (*end_object)(lastro_writer *w);
    void (*begin_array)(lastro_writer *w);
    void (*end_array)(lastro_writer *w);
    void (*key)(lastro_writer *w, const char *name, size_t len);
    void (*write_text)(lastro_writer *w, const char *text, size_t len);
    void (*write_int)(lastro_writer *w, int64_t value);
    void (*write_double)(lastro_writer *w, double value);        /* shortest text that reads back the same */
    void (*write_decimal)(lastro_writer *w, const char *text, size_t len); /* a number token, kept as it is */
    void (*write_bool)(lastro_writer *w, bool value);
    void (*write_null)(lastro_writer *w);
    void (*write_value)(lastro_writer *w, const lastro_value *v);

    /* -- the call -- */
    const lastro_principal *(*principal)(lastro_call *call);
    int64_t (*now)(lastro_call *call);                           /* honours LASTRO_CLOCK */
    int64_t (*time_left)(lastro_call *call);                     /* until the deadline; at least 0 */
    bool (*cancelled)(lastro_call *call);
    int32_t (*era)(lastro_call *call);
    const char *(*protocol)(lastro_call *call);                  /* revision, e.g. "2026-07-28"; "" in the shell */
    const char *(*language)(lastro_call *call);                  /* of the tool's contract; "en" when it names none */
    bool (*offline)(lastro_call *call);
    void *(*alloc)(lastro_call *call, size_t size);              /* zeroed, lives as long as the call; NULL: budget spent */
    void (*log)(lastro_call *call, int32_t level, const char *text); /* call may be NULL */
    void (*progress)(lastro_call *call, double done, double total, const char *message); /* total 0: unknown */
    lastro_status (*ask)(lastro_call *call, const lastro_question *q, const lastro_value **ret, lastro_error *err);
    /* JSON read for the time of the call; text is copied. NULL with err filled: it is not JSON. */
    const lastro_value *(*parse)(lastro_call *call, const char *text, size_t len, lastro_error *err);
    lastro_writer *(*scratch)(lastro_call *call);                /* a new writer that lives as long as the call */
    const lastro_value *(*finish)(lastro_call *call, lastro_writer *scratch, lastro_error *err); /* read what was written */
    /* A writer for one more content item after the structured result (a whole object {type, …}). */
    lastro_writer *(*content)(lastro_call *call);
    void (*print)(lastro_call *call, const char *text, size_t len); /* shell commands only: standard output */

    /* -- sources -- */
    /* One request, waiting for it. LASTRO_OK exactly when outcome is LASTRO_FETCH_OK; else LASTRO_ENOTFOUND,
     * LASTRO_EUPSTREAM, LASTRO_EOFFLINE, LASTRO_ECANCELLED, LASTRO_EDEADLINE… ret is filled in every case;
     * set ret->size before the call. Say the error in the plugin's own words from ret. */
    lastro_status (*fetch)(lastro_call *call, const lastro_request *request, lastro_response *ret);
    /* count requests at once, within the source's `parallel`, shared fairly with other parts of the call. Returns the
     * status of the first failure (all are carried out unless the call is cancelled), LASTRO_OK when all are OK. */
    lastro_status (*fetch_all)(lastro_call *call, const lastro_request *requests, size_t count, lastro_response *rets);
    uint32_t (*record_access)(lastro_call *call, const lastro_access *access); /* access number; 0: refused */
    void (*block)(lastro_call *call, const lastro_block *block);
    /* What follows was computed by the plugin, by this engine and convention. Repeated calls add sentences. */
    void (*derived)(lastro_call *call, const char *engine, const char *note);

    /* -- services of other plugins -- */
    bool (*service_available)(const char *service, uint32_t version);
    lastro_status (*service)(lastro_call *call, lastro_service_call *request);
    /* All at once, each a part of the call with its fair share of the sources. Returns the first failure's status. */
    lastro_status (*services)(lastro_call *call, lastro_service_call *requests, size_t count);

    /* -- the client -- */
    /* The client declared that capability, and that part of it when part is given: ("sampling", NULL),
     * ("elicitation", "url"), ("extensions", "io.modelcontextprotocol/tasks"). An elicitation without parts means "form". */
    bool (*client_can)(lastro_call *call, const char *capability, const char *part);
    /* LASTRO_OK, or the error to return when the client lacks it: it learns what it should declare. */
    lastro_status (*need_client)(lastro_call *call, const char *capability, const char *part, lastro_error *err);
    /* What follows takes long: a client that knows tasks gets one now and looks in later; for others nothing changes.
     * message: what is going on, for people; may be NULL. For tools with LASTRO_TOOL_MAY_TASK (or one of the other two, then
     * it only tells the message), on the call that run was given; once is enough. From then on progress tells its message
     * alone, to who looks in. In a task ask works as in the modern era: the handler runs again from its start when the
     * answers are there. */
    void (*task)(lastro_call *call, const char *message);
    /* The client need not keep a stream open meanwhile: it comes back for the rest after retry_ms. Where the protocol or
     * the transport has no such thing nothing happens. */
    void (*let_go)(lastro_call *call, uint32_t retry_ms);
    /* Something that clients may have read is different now: a list, or one resource. Any thread, also outside calls. */
    void (*changed)(int32_t what, const char *uri); /* LASTRO_CHANGED_*; uri: of LASTRO_CHANGED_RESOURCE */
    /* The value as compact JSON text, where text is wanted: params of a question, the text of a resource. NUL-terminated; lives
     * as long as the call. {NULL, 0}: budget spent. */
    lastro_text (*to_json)(lastro_call *call, const lastro_value *v);
    /* While completing an argument or a variable: what the client has chosen for the others, an object of texts. NULL: nothing
     * yet, or its protocol cannot say (before 2025-06-18). */
    const lastro_value *(*chosen)(lastro_call *call);
} lastro_host;

/* ------------------------------------------------------------------ the plugin */

typedef struct lastro_need {
    const char *service;
    uint32_t version;
} lastro_need;

typedef struct lastro_plugin {
    uint32_t magic, abi, size;
    const char *name;                 /* as the manifest declares it */
    const char *version;              /* semantic version; told in provenance and _meta */
    const char *description;          /* one line */
    const lastro_need *needs;         /* services of other plugins; ends with {NULL, 0}; NULL: none */
    /* Registers everything. On failure all that it registered is forgotten and shutdown is not called. */
    lastro_status (*init)(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err);
    void (*shutdown)(void *self);     /* no call runs any more; may be NULL */
} lastro_plugin;

/* The smallest descriptor of ABI 1: everything up to and including init. */
#define LASTRO_PLUGIN_MIN_SIZE_1 ((uint32_t)(offsetof(lastro_plugin, init) + sizeof(void *)))

/* The one symbol a plugin exports. */
typedef const lastro_plugin *(*lastro_plugin_entry_fn)(void);
#define LASTRO_ENTRY_SYMBOL "lastro_plugin_entry"

/* The same two numbers in an ELF note, which the host reads before it runs a line of the plugin:
 * section ".note.lastro", name "Lastro", type 1, descriptor = uint32 abi, uint32 sizeof(lastro_plugin). */
#define LASTRO_NOTE_NAME "Lastro"
#define LASTRO_NOTE_TYPE 1U

#ifdef __cplusplus
}
#endif
#endif
