// SPDX-License-Identifier: MIT
// Many clients of both eras at one server for a while: every answer must be right, and nothing may be left afterwards.
//   node mixed.mjs [--seconds N] [--clients N] [--seed N]     LASTRO_BUILD: whose lastro; the fixture is tests/conformance
// Last line: "N passed, M failed": one for each kind of exchange and each thing that may leak.
import http from 'node:http';
import path from 'node:path';
import { readFileSync, readdirSync } from 'node:fs';
import { BUILD, META, ROOT, sleep } from '../e2e/lib.mjs';
import { send as exchange, serve } from '../e2e/http.mjs';

const options = { seconds: 10, clients: 64, seed: 1 };
for (let i = 2; i < process.argv.length; i += 2) {
    const name = process.argv[i].replace(/^--/, ''), value = Number(process.argv[i + 1]);
    if (!(name in options) || !(value > 0)) { console.error(`usage: mixed.mjs [--seconds N] [--clients N] [--seed N]`); process.exit(2); }
    options[name] = value;
}
const sanitized = /-(asan|tsan)$/.test(BUILD);
const MODERN = '2026-07-28', LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const ANSWER_MS = 30000;

const server = await serve({ manifest: path.join(ROOT, 'tests/conformance/manifest.json'), args: ['--sse', '--drain-ms', '8000'] });
const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
const status = name => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);

class Failure extends Error {}
const check = (ok, what, got) => { if (!ok) throw new Failure(`${what}${got === undefined ? '' : `: ${JSON.stringify(got)?.slice(0, 400)}`}`); };
const send = (agent, more) => exchange(server, { agent, timeout: ANSWER_MS, ...more });

// ---- clients ----

const agents = [];
class Client {
    constructor(number) {
        this.state = (options.seed * 7919 + number * 104729) >>> 0 || 1;
        this.agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
        agents.push(this.agent);
        this.next = 1;
        this.text = number % 2 === 1; // whose ids are texts
    }
    random(n) { this.state ^= this.state << 13; this.state >>>= 0; this.state ^= this.state >>> 17; this.state ^= this.state << 5; this.state >>>= 0; return this.state % n; }
    id() { return this.text ? `id-${this.next++}` : this.next++; }

    /** A request's answer; checks that it is the only one and bears the id. */
    async ask(request, more = {}) {
        const a = await send(this.agent, { body: request, ...more });
        if (a.left) return a;
        const own = a.messages.filter(m => !('method' in m));
        check(own.length === 1, 'one answer', { status: a.status, messages: a.messages, text: a.text });
        a.answer = own[0];
        check(a.messages.at(-1) === a.answer, 'the answer comes last', a.messages);
        if (!more.anyId) check(a.answer.id === request.id, 'the id', [request.id, a.answer.id]);
        return a;
    }
    async result(method, params, more) {
        const a = await this.request(method, params, more);
        if (!a.left) check(a.status === 200 && a.answer.result, `${method} gives a result`, { status: a.status, answer: a.answer });
        return a;
    }
    async call(name, args, more = {}) {
        const { meta, params, ...rest } = more;
        const a = await this.result('tools/call', { name, arguments: args, ...params, ...(meta && { _meta: meta }) }, { name, ...rest });
        if (!a.left) check(!a.answer.result.isError, `${name} succeeds`, a.answer.result);
        return a;
    }
}

class Modern extends Client {
    request(method, params = {}, { name, headers, meta, ...more } = {}) {
        const version = { [META + 'protocolVersion']: MODERN, [META + 'clientInfo']: { name: 'load', version: '1' },
            [META + 'clientCapabilities']: { elicitation: { form: {} } } };
        return this.ask({ jsonrpc: '2.0', id: this.id(), method, params: { ...params, _meta: { ...version, ...params._meta, ...meta } } },
            { headers: { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...(name && { 'mcp-name': name }), ...headers }, ...more });
    }
}

class Legacy extends Client {
    constructor(number) { super(number); this.revision = LEGACY[number % LEGACY.length]; }
    get headers() { return { 'mcp-session-id': this.session, ...(this.revision >= '2025-06-18' && { 'mcp-protocol-version': this.revision }) }; }
    request(method, params, { name, headers, ...more } = {}) {
        return this.ask({ jsonrpc: '2.0', id: this.id(), method, ...(params && { params }) }, { headers: { ...this.headers, ...headers }, ...more });
    }
    async start() {
        this.session = undefined;
        const a = await this.ask({ jsonrpc: '2.0', id: this.id(), method: 'initialize', params: { protocolVersion: this.revision,
            capabilities: { elicitation: {}, sampling: {}, roots: {} }, clientInfo: { name: 'load', version: '1' } } });
        check(a.status === 200 && a.answer.result?.protocolVersion === this.revision, 'initialize', a.answer);
        this.session = a.headers['mcp-session-id'];
        check(this.session, 'a session id');
        await this.tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
    }
    async tell(message) {
        const a = await send(this.agent, { body: message, headers: this.headers });
        check(a.status === 202 && a.text === '', 'accepted without a word', { status: a.status, text: a.text });
    }
    async end() {
        const a = await send(this.agent, { method: 'DELETE', headers: this.headers });
        check(a.status >= 200 && a.status < 300, 'the session ends', a.status);
    }
}

/** A client of the transport of 2024-11-05: its answers come on the one stream of its session. */
class Pair extends Client {
    constructor(number) { super(number); this.revision = LEGACY[number % LEGACY.length]; this.waiting = new Map(); }
    request(method, params, { name, leaveMs, ...more } = {}) {
        return this.ask({ jsonrpc: '2.0', id: this.id(), method, ...(params && { params }) }, more);
    }
    async ask(request, { on } = {}) {
        const a = { status: 200, messages: [], left: false };
        let timer;
        const answered = new Promise((resolve, reject) => {
            timer = setTimeout(() => reject(new Failure(`no event within ${ANSWER_MS} ms: ${JSON.stringify(request)}`)), ANSWER_MS);
            this.waiting.set(request.id, m => { a.messages.push(m); on?.(m); if (!('method' in m)) { a.answer = m; resolve(); } });
        });
        try { await Promise.all([this.tell(request), answered]); } finally { clearTimeout(timer); this.waiting.delete(request.id); }
        return a;
    }
    /** What bears no id of ours (progress, a question) belongs to the one request that runs. */
    take(m) {
        const own = 'method' in m ? [...this.waiting.values()].at(-1) : this.waiting.get(m.id);
        if (own) own(m); else if (!('method' in m)) this.stray = m;
    }
    async tell(message) {
        const a = await send(this.agent, { path: this.endpoint, body: message });
        check(a.status === 202 && a.text === '', 'accepted without a word', { status: a.status, text: a.text });
    }
    async start() {
        this.endpoint = this.leave = undefined;
        this.stream = send(this.agent, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' }, timeout: 600000, on: (m, leave) => {
            this.leave = leave;
            if (m.event === 'endpoint') this.endpoint = m.data; else this.take(m);
        } });
        this.stream.catch(() => {});
        for (const end = Date.now() + ANSWER_MS; !this.endpoint; await sleep(2)) check(Date.now() < end, 'the endpoint comes');
        const a = await this.ask({ jsonrpc: '2.0', id: this.id(), method: 'initialize', params: { protocolVersion: this.revision,
            capabilities: { elicitation: {}, sampling: {} }, clientInfo: { name: 'load', version: '1' } } });
        check(a.answer.result?.protocolVersion === this.revision, 'initialize', a.answer);
        await this.tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
    }
    async end() {
        check(!this.stray, 'no answer without a question', this.stray);
        this.leave();
        const a = await this.stream;
        check(a.left && a.status === 200, 'the stream was open to the end', a.status);
    }
}

// ---- what they do; each throws when something is wrong ----

const SIMPLE = 'This is a simple text response for testing.';
const lists = new Map();

async function quick(c) {
    const a = await c.call('test_simple_text', {});
    check(a.answer.result.content[0].text === SIMPLE, 'the text', a.answer.result);
}
async function listing(c) {
    const a = await c.result('tools/list'), key = c.revision ?? MODERN, text = JSON.stringify(a.answer.result);
    if (!lists.has(key)) lists.set(key, text);
    check(lists.get(key) === text && a.answer.result.tools.length > 5, 'the same list each time', a.answer.result);
}
async function streaming(c) {
    const token = `t${c.next}`;
    const a = await c.call('test_tool_with_progress', {}, { meta: { progressToken: token } });
    const steps = a.messages.filter(m => m.method === 'notifications/progress');
    check(steps.length === 3 && steps.every((m, i) => m.params.progressToken === token && m.params.progress === i * 50), 'three steps', a.messages);
}
async function slow(c) {
    const a = await c.call('slow_compute', { seconds: c.random(20) / 100, label: `of ${c.next}` });
    check(a.answer.result.content.length > 0, 'content', a.answer.result);
}
async function leaving(c) {
    const a = await c.call('slow_compute', { seconds: 0.7, label: 'left' }, { leaveMs: 10 + c.random(100) });
    check(a.left, 'it takes longer', a.answer);
}
async function reading(c) {
    const uri = 'test://static-text', a = await c.result('resources/read', { uri }, { name: uri });
    check(a.answer.result.contents[0].text === 'This is the content of the static text resource.', 'the resource', a.answer.result);
}
async function refused(c, fits, message, more) {
    const a = await send(c.agent, { body: message, ...more });
    check(fits(a.status, a.messages[0]?.error?.code), 'refused so', { status: a.status, text: a.text, message });
}
async function bad(c) {
    const modern = { [META + 'protocolVersion']: MODERN, [META + 'clientCapabilities']: {} };
    const ask = (method, _meta = modern) => ({ jsonrpc: '2.0', id: 1, method, params: { _meta } });
    const named = (method, version = MODERN) => ({ headers: { 'mcp-protocol-version': version, 'mcp-method': method } });
    const cases = [
        () => refused(c, (s, e) => s === 400 && e === -32700, '{"jsonrpc":"2.0","id":1,'),
        () => refused(c, (s, e) => s === 400 && e === -32600, '[]'),
        () => refused(c, (s, e) => s === 400 && e === -32600, { jsonrpc: '2.0', id: null, method: 'tools/list' }),
        () => refused(c, s => s === 404, ask('tools/list'), { path: '/other' }),
        () => refused(c, s => s === 403, ask('tools/list'), { headers: { origin: 'http://evil.example' } }),
        () => refused(c, s => s === 415, ask('tools/list'), { headers: { 'content-type': 'text/plain' } }),
        () => refused(c, (s, e) => s === 400 && e === -32020, ask('tools/list'), named('tools/call')),
        () => refused(c, (s, e) => s === 404 && e === -32601, ask('no/such'), named('no/such')),
        () => refused(c, (s, e) => s === 400 && e === -32022, ask('tools/list', { ...modern, [META + 'protocolVersion']: 'v999.0.0' }), named('tools/list', 'v999.0.0')),
        () => refused(c, s => s === 404, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { headers: { 'mcp-session-id': 'none-such' } }),
        () => refused(c, s => s === 405, undefined, { method: 'PUT' })
    ];
    await cases[c.random(cases.length)]();
}

async function modernAnswer(c) {
    const name = 'test_input_required_result_elicitation', first = await c.call(name, {});
    const { resultType, inputRequests, requestState } = first.answer.result;
    check(resultType === 'input_required' && inputRequests.user_name?.method === 'elicitation/create', 'a question', first.answer.result);
    const who = `N${c.next}`, inputResponses = { user_name: { action: 'accept', content: { name: who } } };
    const second = await c.call(name, {}, { params: { inputResponses, ...(requestState && { requestState }) } });
    check(second.answer.result.resultType === 'complete' && JSON.stringify(second.answer.result.content).includes(who), 'the answer is used', second.answer.result);
}
async function listening(c) {
    let acknowledged = false;
    const stay = 100 + c.random(600);
    const a = await c.request('subscriptions/listen', { notifications: { toolsListChanged: true } }, { on(m, leave) {
        if (!acknowledged) setTimeout(leave, stay);
        acknowledged ||= m.method === 'notifications/subscriptions/acknowledged';
        check(acknowledged, 'the acknowledgement comes first', m);
        check('method' in m && m.params._meta[META + 'subscriptionId'] !== undefined, 'stamped', m);
    } });
    check(a.left && acknowledged, 'an open subscription', a.answer);
}
async function changing(c) { await c.call('test_trigger_tool_change', {}); }

async function tasking(c) {
    const more = { params: { _meta: { [META + 'clientCapabilities']: { extensions: { [META + 'tasks']: {} } } } } }, cancel = c.random(3) === 0;
    const a = await c.call('slow_compute', { seconds: cancel ? 20 : c.random(10) / 100, label: 'task' }, more);
    const { resultType, taskId, status } = a.answer.result;
    check(resultType === 'task' && taskId && status === 'working', 'a task', a.answer.result);
    const look = method => c.result(method, { taskId, ...more.params }, { name: taskId });
    if (cancel) await look('tasks/cancel');
    for (const end = Date.now() + ANSWER_MS; ; await sleep(20)) {
        const { status, result } = (await look('tasks/get')).answer.result;
        if (status === 'working') { check(Date.now() < end, 'the task ends'); continue; }
        check(cancel ? status === 'cancelled' : status === 'completed' && result.content.length > 0, 'its end', { status, result });
        return;
    }
}

async function legacyAnswer(c) {
    if (c.revision < '2025-06-18') return; // no elicitation before
    let asked = 0, told;
    const a = await c.call('test_elicitation', { message: 'Who?' }, { on(m) {
        if (m.method !== 'elicitation/create') return;
        asked++;
        told = c.tell({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { username: `u${c.next}`, email: 'a@b.example' } } });
        told.catch(() => {});
    } });
    await told;
    check(asked === 1 && a.answer.result.content[0].text, 'asked once, then answered', a.messages);
}
async function watching(c) {
    const a = await send(c.agent, { method: 'GET', headers: { ...c.headers, accept: 'text/event-stream' },
        head: (_, leave) => setTimeout(leave, 50 + c.random(400)) });
    check(a.left && a.status === 200, 'an open stream', a.status);
}
async function batch(c) {
    if (c.revision !== '2025-03-26') return refused(c, (s, e) => s === 400 && e === -32600, [{ jsonrpc: '2.0', id: 1, method: 'ping' }], { headers: c.headers });
    const ids = [c.id(), c.id()];
    const a = await send(c.agent, { headers: c.headers, body: [{ jsonrpc: '2.0', id: ids[0], method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/none' },
        { jsonrpc: '2.0', id: ids[1], method: 'tools/call', params: { name: 'test_simple_text', arguments: {} } }] });
    check(a.status === 200 && a.messages.length === 2 && ids.every(i => a.messages.some(m => m.id === i && m.result)), 'two answers', a);
}
async function renewing(c) {
    if (c.endpoint) { await c.end(); return await c.start(); }
    const old = c.headers, running = c.random(2) ? c.call('slow_compute', { seconds: 0.3, label: 'ending' }) : null;
    running?.catch(() => {}); // what becomes of it when its session ends is not said
    await c.end();
    await refused(c, s => s === 404, { jsonrpc: '2.0', id: 1, method: 'ping' }, { headers: old });
    await running?.catch(e => { if (!(e instanceof Failure)) throw e; });
    await c.start();
}
async function cancelling(c) {
    const id = c.id();
    let over;
    const call = send(c.agent, { headers: c.headers, body: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'slow_compute', arguments: { seconds: 25, label: 'c' } } } });
    call.finally(() => { over = true; }).catch(() => {});
    while (!over) { // what comes before the call finds nothing to cancel
        await sleep(30 + c.random(200));
        await c.tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'load' } });
    }
    const { messages } = await call;
    check(messages.every(m => m.id !== id), 'no answer to what was cancelled', messages);
}

const both = [[quick, 30], [listing, 4], [streaming, 6], [slow, 8], [leaving, 4], [reading, 4], [bad, 8]];
const deeds = { Modern: [...both, [modernAnswer, 8], [tasking, 4], [listening, 6], [changing, 2]],
    Pair: [...both.filter(([d]) => d !== leaving), [legacyAnswer, 8], [renewing, 4]],
    Legacy: [...both, [legacyAnswer, 8], [watching, 4], [batch, 4], [renewing, 3], [cancelling, 3]] };

// ---- the run ----

const tally = new Map(), failures = [];
function count(name, error) {
    const t = tally.get(name) ?? { done: 0, failed: 0 };
    tally.set(name, t);
    t.done++;
    if (!error) return;
    t.failed++;
    if (failures.length < 20) failures.push(`${name}: ${error instanceof Failure ? error.message : error.stack}`);
}
async function attempt(name, fn) {
    try { await fn(); count(name); } catch (e) { count(name, e); await sleep(50); }
}
async function live(c, until) {
    const kind = c.constructor.name, list = deeds[kind], all = list.reduce((n, [, w]) => n + w, 0);
    if (c.start) await attempt(`${kind} start`, () => c.start());
    while (Date.now() < until) {
        let at = c.random(all);
        const [deed] = list.find(([, w]) => (at -= w) < 0);
        await attempt(`${kind} ${deed.name}`, () => deed(c));
        if (c.random(4) === 0) await sleep(c.random(20));
    }
    if (c.session || c.endpoint) await attempt(`${kind} end`, () => c.end());
    c.agent.destroy();
}
const everyone = (n, ms) => Promise.all(Array.from({ length: n }, (_, i) => live(new [Modern, Legacy, Modern, Legacy, Pair][i % 5](i), Date.now() + ms)));
async function settles(what, get, most, ms) {
    let got;
    for (const end = Date.now() + ms; (got = get()) > most && Date.now() < end; await sleep(50))
        for (const a of agents) a.destroy(); // a connection that was being made may have come after the last time
    count(`${what} afterwards`, got > most ? new Failure(`${got}, at most ${most} expected; connections ${JSON.stringify(connections())}`) : undefined);
}
/** How many connections of the server are in which state, seen from it: 01 established, 08 closed by the client. */
function connections() {
    const port = Number(server.url.port).toString(16).toUpperCase().padStart(4, '0'), states = {};
    for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
        const [, local, , state] = line.trim().split(/\s+/);
        if (local?.endsWith(`:${port}`)) states[state] = (states[state] ?? 0) + 1;
    }
    return states;
}

const before = { fds: descriptors(), threads: status('Threads') };
await everyone(options.clients, options.seconds * 300);
const warm = status('VmRSS'); // kB; what a full house takes
await everyone(options.clients, options.seconds * 700);
const loaded = { threads: status('Threads'), rss: status('VmRSS') };
// what the modules open once (a resolver's, an event's) may stay; a connection must not
await settles('descriptors', descriptors, before.fds + 4, 5000);
if (options.seconds >= 30) await settles('threads', () => status('Threads'), before.threads + 2, 45000);
const most = Math.round(warm * 1.25) + 8192;
if (!sanitized) // a sanitizer keeps what was freed, and shadows of all that was ever touched
    count('memory afterwards', loaded.rss > most ? new Failure(`${loaded.rss} kB, at most ${most} expected`) : undefined);

// nothing is running, so nothing is waited for
const stopping = Date.now();
const end = await server.stop(20000).then(() => undefined, e => e);
const took = Date.now() - stopping;
count('the end', end ?? (took < 5000 ? undefined : new Failure(`after ${took} ms`)));

let exchanges = 0, failed = 0;
for (const [name, t] of [...tally].sort()) {
    exchanges += t.done; failed += t.failed > 0;
    console.log(`${t.failed ? 'FAIL' : 'ok  '} ${name}: ${t.done}${t.failed ? `, ${t.failed} failed` : ''}`);
}
for (const f of failures) console.log(`error ${f}`);
console.log(`${exchanges} exchanges of ${options.clients} clients in ${options.seconds} s; descriptors ${before.fds} before, threads ${before.threads} before ` +
    `and ${loaded.threads} under load, memory ${warm} kB warm and ${loaded.rss} kB at the end, stopped in ${took} ms`);
console.log(`${tally.size - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
