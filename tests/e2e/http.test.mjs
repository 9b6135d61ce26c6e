// SPDX-License-Identifier: MIT
// MCP over HTTP against the program itself: the surface and the results are those of stdio in every revision; sessions and
// their streams; what a client that leaves means; pages of browsers.
import assert from 'node:assert/strict';
import path from 'node:path';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { META, ROOT, SIM_DATA, SLACK, Stdio, modern, session, sim, sleep, sources, until } from './lib.mjs';
import { modernRequest, send, serve } from './http.mjs';

process.setMaxListeners(0); // every program under test is killed at exit
const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const REVISIONS = [...LEGACY, '2026-07-28'];
const FIXTURE = path.join(ROOT, 'tests/conformance/manifest.json');
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
const isModern = rev => rev === '2026-07-28';

const withServer = async (options, fn) => {
    const s = await serve(options);
    try { await fn(s); } catch (e) { s.kill('SIGKILL'); throw e; }
    await s.stop();
};

/** A legacy session over HTTP. */
class Session {
    constructor(at, version, id, headers) {
        Object.assign(this, { at, version, id, headers: { ...headers, 'mcp-session-id': id, ...(version >= '2025-06-18' && { 'mcp-protocol-version': version }) } });
    }
    static async open(at, version = '2025-11-25', headers = {}) {
        const a = await send(at, { headers, body: initialize(version) });
        assert.equal(a.status, 200, a.text);
        const s = new Session(at, version, a.headers['mcp-session-id'], headers);
        s.initialized = a;
        assert.equal((await s.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
        return s;
    }
    post(body, more = {}) { return send(this.at, { ...more, headers: { ...this.headers, ...more.headers }, body }); }
    get(last, more = {}) {
        return send(this.at, { ...more, method: 'GET', headers: { ...this.headers, accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) } });
    }
    async end() { return (await send(this.at, { method: 'DELETE', headers: this.headers })).status; }
    /** A call to its end, wherever that comes: questions are answered, a stream that broke is taken up. */
    async call(message, on) {
        const seen = [];
        const take = (m, leave) => {
            seen.push(m);
            if (m.method && m.id !== undefined) this.post({ jsonrpc: '2.0', id: m.id, result: answerTo(m) });
            on?.(m, leave);
        };
        let a = await this.post(message, { on: take });
        while (!seen.some(m => m.id === message.id && !m.method)) {
            const last = a.events.findLast(e => e.id)?.id;
            assert.ok(last, `no answer, and no event to come back with: ${a.status} ${a.text}`);
            await sleep(Number(a.events.findLast(e => e.retry)?.retry ?? 100));
            a = await this.get(last, { on: take });
            assert.equal(a.status, 200, a.text);
        }
        return seen;
    }
}

const initialize = version => ({ jsonrpc: '2.0', id: 'init', method: 'initialize',
    params: { protocolVersion: version, capabilities: CAPABILITIES, clientInfo: { name: 'e2e', version: '1' } } });

/** What a client answers to a question. */
function answerTo({ method, params }) {
    const sample = p => p.enum?.[0] ?? p.oneOf?.[0].const ?? (p.type === 'string' ? 'text' : p.type === 'boolean' ? true
        : p.type === 'array' ? [p.items.enum?.[0] ?? p.items.anyOf?.[0].const] : p.minimum ?? 7);
    switch (method) {
    case 'elicitation/create':
        return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: Object.fromEntries(
            Object.entries(params.requestedSchema?.properties ?? {}).map(([k, p]) => [k, sample(p)])) };
    case 'sampling/createMessage': return { role: 'assistant', content: { type: 'text', text: 'four' }, model: 'm', stopReason: 'endTurn' };
    case 'roots/list': return { roots: [{ uri: 'file:///tmp', name: 'tmp' }] };
    default: assert.fail(`the server asks ${method}`);
    }
}

/** The same dialogue on either transport: both give every message of the server in its order. */
const onStdio = s => ({
    async exchange(message) {
        const from = s.messages.length, answered = new Set();
        s.send(message);
        for (;;) {
            const m = await s.receive(x => x.method && x.id !== undefined ? !answered.has(x) : x.id === message.id, 'an answer', 20000 * SLACK, from);
            if (!m.method) break;
            answered.add(m);
            s.send({ jsonrpc: '2.0', id: m.id, result: answerTo(m) });
        }
        return s.messages.slice(from);
    }
});
const headerOf = v => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(v) && !v.startsWith('=?base64?') ? v : `=?base64?${Buffer.from(v).toString('base64')}?=`;
const onHttp = (at, rev, legacy, tools) => ({
    async exchange(message) {
        if (!isModern(rev)) return await legacy.call(message);
        const { name, uri, arguments: args = {} } = message.params;
        const params = Object.entries(tools.find(t => t.name === name)?.inputSchema.properties ?? {})
            .filter(([k, p]) => p['x-mcp-header'] && args[k] !== undefined).map(([k, p]) => [`mcp-param-${p['x-mcp-header']}`, headerOf(String(args[k]))]);
        const a = await send(at, { body: message, headers: { 'mcp-protocol-version': rev, 'mcp-method': message.method,
            ...((name ?? uri) && { 'mcp-name': headerOf(name ?? uri) }), ...Object.fromEntries(params) } });
        return a.messages;
    }
});

/** A method in either era, through all rounds of questions. Returns what the server said. */
async function run(side, rev, id, method, params) {
    if (!isModern(rev)) return await side.exchange({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { progressToken: id } } });
    const said = [], meta = modern({ progressToken: id, [META + 'clientCapabilities']: CAPABILITIES, [META + 'logLevel']: 'debug' });
    for (let round = 0, more = {}; round < 5; round++) {
        const heard = await side.exchange({ jsonrpc: '2.0', id, method, params: { ...params, ...more, _meta: meta } });
        said.push(...heard);
        const r = heard.at(-1).result;
        if (r?.resultType !== 'input_required') return said;
        more = { ...(r.requestState && { requestState: r.requestState }),
            inputResponses: Object.fromEntries(Object.entries(r.inputRequests ?? {}).map(([k, q]) => [k, answerTo(q)])) };
    }
    assert.fail(`${method} asks and asks`);
}

/** Without what differs from run to run: signed states. Changes go to whoever listens, not to the call. */
const comparable = said => said.filter(m => !/list_changed|resources\/updated/.test(m.method ?? '')).map(m => JSON.stringify(m, (k, v) => k === 'requestState' ? 'state' : v));

// ---- contract 1: one surface, one result ----

const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
const surfaces = { 'the shipped manifest': {}, 'the fixture': { manifest: FIXTURE } };
for (const [what, options] of Object.entries(surfaces))
    describe(`the surface of ${what} is the same bytes as on stdio`, () => {
        let s;
        before(async () => { s = await serve(options); });
        after(() => s.stop());
        for (const rev of REVISIONS)
            test(rev, async () => await session(options, async io => {
                const line = async message => { const from = io.lines.length; io.send(message); await io.reply(message.id); return io.lines.slice(from).find(l => l.includes(`"id":"${message.id}"`)); };
                const mine = isModern(rev) ? null : await Session.open(s, rev);
                if (mine) {
                    assert.equal(mine.initialized.text, await line(initialize(rev)));
                    io.notify('notifications/initialized');
                }
                for (const method of [...(mine ? [] : ['server/discover']), ...lists]) {
                    const message = { jsonrpc: '2.0', id: `of ${method}`, method, params: mine ? {} : { _meta: modern() } };
                    const a = mine ? await mine.post(message) : await send(s, { body: message, headers: { 'mcp-protocol-version': rev, 'mcp-method': method } });
                    assert.equal(a.text, await line(message), method);
                    assert.match(a.headers['content-type'], /^application\/json$/);
                }
            }));
    });

const figures = existsSync(path.join(SIM_DATA, 'sgs')) ? path.join(SIM_DATA, 'sgs') : SIM_DATA; // the committed snapshot has no folders
const recorded = readdirSync(figures).filter(f => /^\d+\.json$/.test(f)).map(f => parseInt(f)).sort((a, b) => a - b);
const shippedCalls = () => {
    const codes = [433, 189, 4390].filter(c => recorded.includes(c)), year = { dataInicial: '2024-01-01', dataFinal: '2024-12-31' };
    return [...codes.flatMap(codigo => [['bcb_serie_valores', { codigo, ...year }], ['bcb_serie_ultimos', { codigo, quantidade: 5 }],
        ['bcb_serie_metadados', { codigo }], ['bcb_variacao', { codigo, ...year }]]),
    ['bcb_series_populares', {}], ['bcb_series_populares', { categoria: 'inflação' }],
    ['bcb_serie_valores', { codigo: 433, dataInicial: '2024-13-01' }], ['bcb_variacao', { codigo: '433' }], ['bcb_serie_ultimos', {}]];
};
test('every shipped tool gives the same result on both transports, in all revisions', async () => {
    const source = await sim();
    try {
        for (const rev of REVISIONS)
            await withServer({ env: sources(source.url) }, s => session({ env: sources(source.url) }, async io => {
                const tools = (await modernRequest(s, 'tools/list')).answer.result.tools, calls = shippedCalls();
                assert.deepEqual(tools.map(t => t.name).filter(n => !calls.some(([c]) => c === n)), [], 'every tool is called');
                const legacy = isModern(rev) ? null : await Session.open(s, rev);
                if (legacy) await io.initialize(rev, CAPABILITIES);
                for (const [i, [name, args]] of calls.entries()) {
                    const [a, b] = [await run(onStdio(io), rev, i, 'tools/call', { name, arguments: args }), await run(onHttp(s, rev, legacy, tools), rev, i, 'tools/call', { name, arguments: args })];
                    assert.deepEqual(comparable(b), comparable(a), `${rev} ${name} ${JSON.stringify(args)}`);
                }
            }));
    } finally { await source.stop(); }
});

const fixtureArguments = { test_sampling: { prompt: 'two and two?' }, test_elicitation: { message: 'Who?' }, test_custom_header: { region: 'zürich' },
    json_schema_2020_12_tool: { name: 'a', phone: '1', contactMethod: 'phone' }, greet: { name: 'Ana' }, slow_compute: { seconds: 0.02, label: 'l' },
    confirm_delete: { filename: 'f' }, test_slow: { seconds: 0.02, label: 'l' }, test_large_result: { bytes: 300000 },
    test_header_kinds: { text: '=?base64?x?=', number: 42, flag: false } };
test('every tool, resource and prompt of the fixture says the same on both transports, in all revisions', async () => {
    for (const rev of REVISIONS)
        await withServer({ manifest: FIXTURE }, s => session({ manifest: FIXTURE }, async io => {
            const tools = (await modernRequest(s, 'tools/list')).answer.result.tools;
            const legacy = isModern(rev) ? null : await Session.open(s, rev);
            const http = onHttp(s, rev, legacy, tools), stdio = onStdio(io);
            if (legacy) await io.initialize(rev, CAPABILITIES);
            const asked = [...tools.map(t => ['tools/call', { name: t.name, arguments: fixtureArguments[t.name] ?? {} }]), ['tools/call', { name: 'test_simple_text' }],
                ['tools/call', { name: 'nothing' }], ['resources/read', { uri: 'test://static-text' }], ['resources/read', { uri: 'test://static-binary' }],
                ['resources/read', { uri: 'test://template/123/data' }], ['resources/read', { uri: 'test://nonexistent' }], ['prompts/get', { name: 'test_simple_prompt' }],
                ['prompts/get', { name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } }], ['prompts/get', { name: 'test_input_required_result_prompt' }],
                ['completion/complete', { ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: '' } }],
                ...(legacy ? [['logging/setLevel', { level: 'debug' }], ['tools/call', { name: 'test_tool_with_logging', arguments: {} }], ['ping', {}]] : [])];
            let noisy = 0;
            for (const [i, [method, params]] of asked.entries()) {
                const a = await run(stdio, rev, i, method, params), b = await run(http, rev, i, method, params);
                assert.deepEqual(comparable(b), comparable(a), `${rev} ${method} ${JSON.stringify(params)}`);
                noisy += a.length > 1;
            }
            assert.ok(noisy >= 3, 'some of them say more than their answer');
        }));
});

test('a batch of 2025-03-26 is the same answer on both', () => withServer({ manifest: FIXTURE }, s => session({ manifest: FIXTURE }, async io => {
    const batch = [{ jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/x' },
        { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'test_simple_text' } }, { jsonrpc: '2.0', id: 1.5, method: 'ping' }, 7];
    await io.initialize('2025-03-26');
    const legacy = await Session.open(s, '2025-03-26'), a = await legacy.post(batch), from = io.messages.length;
    io.send(batch);
    await until(() => io.messages.length >= from + 4, 'the batch');
    const order = list => list.map(m => JSON.stringify(m)).sort();
    assert.equal(a.status, 200);
    assert.equal(a.text[0], '[');
    assert.deepEqual(order(a.messages), order(io.messages.slice(from)));
    assert.equal((await legacy.post([{ jsonrpc: '2.0', method: 'notifications/x' }])).status, 202);
    assert.equal((await (await Session.open(s, '2025-06-18')).post(batch)).status, 400);
})));

// ---- sessions ----

describe('over one server', () => {
    let s;
    before(async () => { s = await serve({ manifest: FIXTURE }); });
    after(() => s.stop());
    const call = (id, name, args = {}) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: { progressToken: id } } });
    const quiet = (name, args) => ({ jsonrpc: '2.0', id: 'q', method: 'tools/call', params: { name, arguments: args } });
    /** How many slow calls saw that they were cancelled. */
    const cancelled = async () => JSON.parse((await modernRequest(s, 'resources/read', { uri: 'test://cancelled-calls' })).answer.result.contents[0].text).count;

    test('events leave as they come', async () => {
        const mine = await Session.open(s), at = [];
        const t0 = Date.now();
        await mine.post(call(1, 'test_tool_with_progress'), { on: () => at.push(Date.now() - t0) });
        assert.ok(at.length >= 4);
        assert.ok(at.at(-1) - at[0] >= 60, `the first event came with the last: ${at}`);
    });

    test('a question is answered by another POST, only of that session', async () => {
        const mine = await Session.open(s), other = await Session.open(s);
        const done = mine.post(call(1, 'test_elicitation', { message: 'Who?' }), { on: async m => {
            if (m.method !== 'elicitation/create') return;
            assert.equal((await other.post({ jsonrpc: '2.0', id: m.id, result: { action: 'decline' } })).status, 202);
            assert.equal((await mine.post({ jsonrpc: '2.0', id: m.id, result: answerTo(m) })).status, 202);
        } });
        const a = await done;
        assert.match(JSON.stringify(a.messages.at(-1).result), /accept/);
    });

    test('DELETE ends it: 404 afterwards, its streams end, what waits is told', async () => {
        const mine = await Session.open(s);
        const before = await cancelled(), stream = mine.get(), waiting = mine.post(quiet('test_slow', { seconds: 60, label: 'deleted' })), begun = mine.post(call(2, 'test_slow', { seconds: 60 }));
        await sleep(100);
        assert.equal(await mine.end(), 200);
        assert.equal((await stream).status, 200);
        assert.equal((await waiting).status, 404);
        assert.ok(!(await begun).messages.some(m => m.id === 2));
        for (const a of [await mine.post({ jsonrpc: '2.0', id: 1, method: 'ping' }), await mine.get(), { status: await mine.end() }]) assert.equal(a.status, 404);
        await until(async () => await cancelled() === before + 2, 'both calls to be cancelled');
    });

    test('a broken stream is taken up where it broke, also while the call goes on', async () => {
        const mine = await Session.open(s);
        const broken = await mine.post(call(1, 'test_tool_with_progress'), { on: (m, leave) => m.params?.progress === 0 && leave() });
        assert.ok(broken.left);
        const last = broken.events.findLast(e => e.id).id;
        const rest = await mine.get(last);
        assert.equal(rest.status, 200);
        assert.deepEqual(rest.messages.map(m => m.params?.progress ?? 'result'), [50, 100, 'result']);
        assert.deepEqual((await mine.get(last)).messages, rest.messages, 'and once more');
        assert.equal((await mine.get(rest.events.at(-1).id)).status, 204, 'nothing follows the answer');
        assert.equal((await mine.get('77-1')).status, 400);
        assert.equal((await (await Session.open(s)).get(last)).status, 400, 'it leads nowhere in another session');
    });

    test('a call that lets its client go is fetched with GET', async () => {
        const mine = await Session.open(s);
        const a = await mine.post(call(1, 'test_reconnection'));
        assert.equal(a.events[0].data, '');
        assert.ok(a.events[0].id && a.events.some(e => e.retry));
        assert.equal(a.messages.length, 0);
        const b = await mine.get(a.events[0].id);
        assert.ok(b.messages.at(-1).result);
    });

    test('changes come on the stream that GET opens, and only there', async () => {
        const mine = await Session.open(s), heard = [];
        await mine.post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'test://watched-resource' } });
        const stream = mine.get(undefined, { on: m => heard.push(m.method) });
        await sleep(50);
        const a = await mine.post(call(2, 'test_trigger_tool_change'));
        await mine.post(call(3, 'test_touch_watched'));
        await until(() => heard.includes('notifications/tools/list_changed') && heard.includes('notifications/resources/updated'), 'both changes');
        assert.ok(!a.messages.some(m => /list_changed/.test(m.method)));
        await mine.end();
        await stream;
    });

    test('many POSTs at once, of many clients', async () => {
        const sessions = await Promise.all(Array.from({ length: 8 }, () => Session.open(s)));
        const all = await Promise.all(Array.from({ length: 200 }, async (_, i) => {
            const name = ['test_simple_text', 'test_tool_with_progress', 'greet', 'test_slow'][i % 4], args = { ...fixtureArguments[name] };
            const a = i % 2 ? await sessions[i % 8].post(call(i, name, args)) : (await modernRequest(s, 'tools/call', { name, arguments: args }));
            return (a.answer ?? a.messages.find(m => m.id === i && !m.method)).result?.content[0].text;
        }));
        assert.ok(all.every(t => t), JSON.stringify(all.findIndex(t => !t)));
    });

    // F064: what a dropped stream means changed.
    test('a legacy client that leaves cancels nothing, a modern one does', async () => {
        const mine = await Session.open(s), before = await cancelled();
        for (const message of [call(1, 'test_slow', { seconds: 0.6 }), quiet('test_slow', { seconds: 0.6 })]) assert.ok((await mine.post(message, { leaveMs: 100 })).left);
        for (const meta of [{}, { progressToken: 1 }])
            assert.ok((await modernRequest(s, 'tools/call', { name: 'test_slow', arguments: { seconds: 60 } }, { leaveMs: 100, meta })).left);
        await until(async () => await cancelled() === before + 2, 'the calls of the modern client to be cancelled', 2000 * SLACK);
        await sleep(700);
        assert.equal(await cancelled(), before + 2, 'and no others');
    });

    test('a thousand that leave, in each era, leave nothing behind', { timeout: 120000 * SLACK }, async () => {
        const count = what => readdirSync(`/proc/${s.pid}/${what}`).length;
        await modernRequest(s, 'server/discover');
        const mine = await Session.open(s);
        const leave = async n => { for (let i = 0; i < n; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => j % 2
            ? mine.post(call(i + j, 'test_tool_with_progress'), { on: (m, out) => out() })
            : modernRequest(s, 'tools/call', { name: 'test_tool_with_progress', arguments: {} }, { meta: { progressToken: 1 }, on: (m, out) => out() }))); };
        await leave(100);
        await sleep(300);
        const before = { fds: count('fd'), threads: count('task') };
        await leave(2000);
        await until(() => count('fd') <= before.fds + 5, `descriptors to go back to ${before.fds}`, 10000);
        assert.ok(count('task') <= Math.max(before.threads, 75), `threads: ${before.threads}, then ${count('task')}`);
        assert.equal((await mine.post(call(9, 'test_simple_text'))).status, 200);
    });

    test('a body beyond the limit, and one that is no JSON', async () => {
        const big = await send(s, { body: `"${'x'.repeat(17 << 20)}"` });
        assert.equal(big.status, 413);
        assert.equal(big.messages[0].error.code, -32600);
        const bad = await send(s, { body: '{"jsonrpc":"2.0",' });
        assert.equal(bad.status, 400);
        assert.equal(bad.messages[0].error.code, -32700);
        assert.ok(!('id' in bad.messages[0]));
    });

    // ---- pages of browsers ----

    test('a page of this machine: preflight, request, what it may read', async () => {
        const origin = 'http://localhost:6274';
        const asked = await send(s, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type,mcp-protocol-version,mcp-method,mcp-param-region,x-other' } });
        assert.equal(asked.status, 204);
        assert.equal(asked.headers['access-control-allow-origin'], origin);
        const allowed = asked.headers['access-control-allow-headers'].toLowerCase().split(/, */);
        for (const h of ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-session-id', 'mcp-param-region', 'last-event-id', 'authorization']) assert.ok(allowed.includes(h), h);
        assert.ok(!allowed.includes('x-other'));
        const mine = await Session.open(s, '2025-11-25', { origin });
        assert.equal(mine.initialized.headers['access-control-allow-origin'], origin);
        assert.match(mine.initialized.headers['access-control-expose-headers'], /Mcp-Session-Id/i);
        const stream = await mine.post(call(1, 'test_tool_with_progress'));
        assert.match(stream.headers['content-type'], /event-stream/);
        assert.equal(stream.headers['access-control-allow-origin'], origin);
    });

    test('F062: a page from anywhere else gets nothing, whatever it asks', async () => {
        const bad = [{ origin: 'http://evil.example' }, { origin: 'null' }, { origin: 'http://localhost.evil.example' }, { origin: 'http://127.0.0.1.nip.io' }, { host: 'evil.example:8080' }];
        for (const headers of bad)
            for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
                const a = await send(s, { method, headers, ...(method === 'POST' && { body: initialize('2025-11-25') }) });
                assert.equal(a.status, 403, `${method} ${JSON.stringify(headers)}`);
                assert.equal(a.headers['access-control-allow-origin'], undefined);
            }
        for (const headers of [{ origin: 'http://[::1]:8080' }, { host: 'localhost:1' }, {}])
            assert.equal((await send(s, { headers, body: initialize('2025-11-25') })).status, 200, JSON.stringify(headers));
    });
});
