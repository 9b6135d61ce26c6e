/* SPDX-License-Identifier: MIT */
/* schema_check.c -- what could never be evaluated is refused before the first instance: subschemas that lead
 * back to themselves on the same instance, chains deeper than the depth limit, and doublings beyond the step
 * limit. */
#include "schema_nodes.h"

#include <stdlib.h>

enum { WHITE, GRAY, BLACK };

/* The k-th subschema of op that looks at the same instance; certain: whenever op is reached. NULL: no more.
 */
static const schema_node *op_edge(const schema_op *op, uint32_t k, bool certain) {
    switch (op->code) {
    case OP_REF:
    case OP_NOT:
        return k == 0 ? op->u.node : NULL;
    case OP_ALL_OF:
    case OP_ANY_OF:
    case OP_ONE_OF:
        return k < op->u.branches->count ? op->u.branches->list[k] : NULL;
    case OP_IF: {
        const schema_condition *c = op->u.condition;
        const schema_node *list[] = {c->test, c->then ? c->then : c->test,
                                     c->otherwise ? c->otherwise : c->test};
        return k < (certain ? 1u : 3u) ? list[k] : NULL;
    }
    case OP_DEPENDENT:
        for (uint32_t i = 0, n = 0; !certain && i < op->u.dependents->count; i++)
            if (op->u.dependents->list[i].node && n++ == k)
                return op->u.dependents->list[i].node;
        return NULL;
    default:
        return NULL;
    }
}

typedef struct {
    schema_node *node;
    uint16_t op;
    uint32_t edge;
} visit;

typedef struct {
    schema_builder *b;
    visit *stack;
    size_t count, cap;
    bool certain;
} walk;

static bool enter(walk *w, schema_node *n) {
    if (w->count == w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 64;
        visit *stack = realloc(w->stack, cap * sizeof *stack);
        if (!stack)
            return schema_no_memory(w->b);
        w->stack = stack;
        w->cap = cap;
    }
    n->mark = GRAY;
    n->chain = 1;
    n->cost = 1;
    w->stack[w->count++] = (visit){n, 0, 0};
    return true;
}

/* The next edge of the visit, NULL when all are done. */
static schema_node *next_edge(const walk *w, visit *v) {
    for (; v->op < v->node->op_count; v->op++, v->edge = 0) {
        const schema_node *to = op_edge(&v->node->ops[v->op], v->edge, w->certain);
        if (to) {
            v->edge++;
            return (schema_node *)to; /* the builder's own, still being marked */
        }
    }
    return NULL;
}

/* n is done: what it costs goes to the node that led to it. */
static bool leave(walk *w, schema_node *n) {
    const schema_limits *limits = &w->b->s->limits;
    n->mark = BLACK;
    if (n->chain > limits->depth)
        return schema_refuse(w->b, n->source, "more than %u subschemas inside one another on the same value",
                             limits->depth);
    if (n->cost > limits->steps)
        return schema_refuse(w->b, n->source,
                             "checking one value could take more than %llu steps (subschemas that multiply)",
                             (unsigned long long)limits->steps);
    return true;
}

static void add_cost(schema_node *to, const schema_node *of) {
    if (of->chain + 1 > to->chain)
        to->chain = of->chain + 1;
    uint64_t sum = to->cost + of->cost;
    to->cost = sum < to->cost ? UINT64_MAX : sum;
}

static bool walk_from(walk *w, schema_node *start) {
    if (start->mark != WHITE)
        return true;
    if (!enter(w, start))
        return false;
    while (w->count) {
        visit *v = &w->stack[w->count - 1];
        schema_node *to = next_edge(w, v);
        if (!to) {
            w->count--;
            if (!leave(w, v->node))
                return false;
            if (w->count)
                add_cost(w->stack[w->count - 1].node, v->node);
        } else if (to->mark == WHITE) {
            if (!enter(w, to))
                return false;
        } else if (to->mark == BLACK) {
            add_cost(v->node, to);
        } else if (w->certain) {
            return schema_refuse(w->b, to->source,
                                 "endless: this subschema leads back to itself on the same value");
        }
    }
    return true;
}

static bool walk_all(schema_builder *b, bool certain) {
    walk w = {.b = b, .certain = certain};
    bool ok = true;
    for (schema_node *n = b->s->nodes; n; n = n->next)
        n->mark = WHITE;
    for (schema_node *n = b->s->nodes; ok && n; n = n->next)
        ok = walk_from(&w, n);
    free(w.stack);
    return ok;
}

bool schema_check(schema_builder *b) {
    return walk_all(b, true) && walk_all(b, false);
}
