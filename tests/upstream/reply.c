/* SPDX-License-Identifier: MIT */
#include "sim.h"

void reply_text(sim_reply *ret, unsigned status, const char *type, const char *body) {
    text_free(&ret->body);
    text_adds(&ret->body, body);
    ret->status = status;
    ret->type = type;
}

void reply_html_page(const sim_world *w, sim_reply *ret) {
    reply_text(ret, 200, TYPE_HTML, w->pages.html);
    ret->html_page = true;
}
