// SPDX-License-Identifier: MIT
// The transport of 2024-11-05: GET /sse and POST /messages, raw; clients.test.mjs has the SDKs' own clients for it.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { META, ROOT, SLACK, lastro, manifest, modern, sleep, until } from './lib.mjs';
import { send, serve } from './http.mjs';

const fixture = path.join(ROOT, 'tests/conformance/manifest.json');
const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** Opens the stream → {endpoint, messages, ended, post(message), request(method, params), receive(fits), leave()}. */
async function open(at, headers = {}) {
    let leave, next = 1;
    const it = { messages: [], ended: false, left: () => leave() };
    const whole = new Promise((resolve, reject) => {
        send(at, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream', ...headers }, timeout: 60000 * SLACK, on(m, l) {
            leave = l;
            if (m.event === 'endpoint') it.endpoint = m.data; else it.messages.push(m);
        } }).then(a => { it.answer = a; it.ended = true; resolve(a); }, reject);
    });
    whole.catch(() => {});
    await Promise.race([until(() => it.endpoint, 'the endpoint'), whole.then(a => assert.fail(`the stream ended: ${a.status} ${a.text}`))]);
    it.whole = whole;
    it.leave = () => leave();
    it.post = (message, more = {}) => send(at, { path: it.endpoint, body: message, ...more, headers: { ...headers, ...more.headers } });
    it.tell = async message => {
        const a = await it.post(message);
        assert.equal(a.status, 202, a.text);
        assert.equal(a.text, '');
    };
    it.receive = (fits, what = 'a message') => until(() => it.messages.find(fits), what);
    it.request = async (method, params) => {
        const id = next++;
        await it.tell({ jsonrpc: '2.0', id, method, ...(params && { params }) });
        return await it.receive(m => m.id === id && !('method' in m), `the answer to ${method}`);
    };
    it.initialize = async (protocolVersion = '2024-11-05', capabilities = {}) => {
        const r = await it.request('initialize', { protocolVersion, capabilities, clientInfo: { name: 'e2e', version: '1' } });
        await it.tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
        return r.result;
    };
    it.call = (name, args = {}, _meta) => it.request('tools/call', { name, arguments: args, ...(_meta && { _meta }) });
    return it;
}
const close = async it => { it.leave(); await it.whole; };

test('it is off unless asked for', async () => {
    const s = await serve({ manifest: fixture });
    for (const [method, at] of [['GET', '/sse'], ['POST', '/messages?sessionId=1']])
        assert.equal((await send(s, { method, path: at, ...(method === 'POST' && { body: '{}' }) })).status, 404, at);
    await s.stop();
    for (const options of [{ env: { LASTRO_SSE: '1' }, manifest: fixture }, { manifest: manifest(['fixture'], { http: { sse: true } }) }]) {
        const t = await serve(options);
        await close(await open(t));
        await t.stop();
    }
});

describe('a dialogue', () => {
    let s;
    before(async () => { s = await serve({ manifest: fixture, args: ['--sse'] }); });
    after(() => s.stop());

    test('the first event tells where messages go; the stream is one that proxies let through', async () => {
        const it = await open(s);
        assert.match(it.endpoint, /^\/messages\?sessionId=[0-9a-f]{32}$/);
        const other = await open(s);
        assert.notEqual(other.endpoint, it.endpoint);
        await close(it);
        await close(other);
        assert.equal(it.answer.status, 200);
        assert.match(it.answer.headers['content-type'], /^text\/event-stream/);
        assert.equal(it.answer.headers['cache-control'], 'no-cache');
        assert.equal(it.answer.headers['x-accel-buffering'], 'no');
        assert.equal(it.answer.headers['mcp-session-id'], undefined);
        assert.match(it.answer.text, /^event: endpoint\ndata: \/messages\?sessionId=[0-9a-f]+\n\n$/);
    });
    for (const revision of REVISIONS)
        test(`${revision}: what each of its requests answers, as events`, async () => {
            const it = await open(s);
            assert.equal((await it.initialize(revision, { elicitation: {}, sampling: {}, roots: {} })).protocolVersion, revision);
            assert.deepEqual((await it.request('ping')).result, {});
            assert.ok((await it.request('tools/list')).result.tools.length > 10);
            assert.equal((await it.call('test_simple_text')).result.content[0].text, 'This is a simple text response for testing.');
            assert.equal((await it.request('no/such')).error.code, -32601);
            const result = await it.call('test_tool_with_progress', {}, { progressToken: 'p' });
            const steps = it.messages.filter(m => m.method === 'notifications/progress');
            assert.deepEqual(steps.map(m => m.params.progress), [0, 50, 100]);
            assert.ok(it.messages.indexOf(steps.at(-1)) < it.messages.indexOf(result), 'progress comes before the result');
            await close(it);
            assert.ok(it.answer.events.slice(1).every(e => e.event === 'message' && e.id === undefined));
        });
    test('the server asks, and the answer finds the call', async () => {
        const it = await open(s);
        await it.initialize('2025-06-18', { elicitation: {}, sampling: {} });
        const result = it.call('test_elicitation', { message: 'Who?' });
        const asked = await it.receive(m => m.method === 'elicitation/create');
        await it.tell({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { username: 'ana', email: 'a@b.example' } } });
        assert.match((await result).result.content[0].text, /ana/);
        await close(it);
    });
    test('a batch where the protocol has them, and only there', async () => {
        const batch = [{ jsonrpc: '2.0', id: 'a', method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/x' },
            { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'test_simple_text', arguments: {} } }];
        const it = await open(s);
        await it.initialize('2025-03-26');
        await it.tell(batch);
        const answers = await it.receive(m => Array.isArray(m));
        assert.deepEqual(answers.map(m => m.id).sort(), ['a', 'b']);
        await close(it);
        const newer = await open(s);
        await newer.initialize('2025-06-18');
        const a = await newer.post(batch);
        assert.equal(a.status, 400);
        assert.equal(a.messages[0].error.code, -32600);
        await close(newer);
    });
    test('what cannot be an event is refused where it came', async () => {
        const it = await open(s);
        const refused = async (status, code, message, more) => {
            const a = await it.post(message, more);
            assert.equal(a.status, status, `${message}: ${a.status} ${a.text}`);
            assert.equal(a.messages[0]?.error?.code, code);
        };
        await refused(400, -32700, '{"jsonrpc":');
        await refused(400, -32600, '5');
        await refused(400, -32600, '[]');
        await refused(400, -32600, { jsonrpc: '2.0', id: null, method: 'ping' });
        await refused(415, -32600, '{}', { headers: { 'content-type': 'text/plain' } });
        await refused(400, -32600, '{}', { path: '/messages' });
        await refused(400, -32600, '{}', { path: '/messages?sessionId=' });
        await refused(400, -32600, '{}', { path: `/messages?sessionId=${'0'.repeat(4000)}` });
        await refused(404, -32600, '{}', { path: `/messages?sessionId=${'0'.repeat(32)}` });
        await refused(404, -32600, '{}', { path: '/messages?sessionId=..%2f' });
        for (const [method, at, allow] of [['GET', it.endpoint, 'POST'], ['DELETE', it.endpoint, 'POST'], ['POST', '/sse', 'GET'], ['DELETE', '/sse', 'GET']]) {
            const a = await send(s, { method, path: at, ...(method === 'POST' && { body: '{}' }) });
            assert.equal(a.status, 405, `${method} ${at}`);
            assert.equal(a.headers.allow, allow);
        }
        // one with an id is answered on the stream
        await it.tell({ jsonrpc: '1.0', id: 'old', method: 'ping' });
        assert.equal((await it.receive(m => m.id === 'old')).error.code, -32600);
        assert.equal((await it.request('tools/list')).error.code, -32600, 'before initialize');
        await close(it);
    });
    test('a probe of the modern era hears an error, so that it falls back', async () => {
        const it = await open(s);
        const r = await it.request('server/discover', { _meta: modern() });
        assert.equal(r.error.code, -32600);
        assert.match(r.error.message, /initialize/);
        assert.equal((await it.initialize('2025-11-25')).protocolVersion, '2025-11-25');
        await close(it);
    });
    test('sessions are apart, also with the same ids', async () => {
        const [a, b] = [await open(s), await open(s)];
        await Promise.all([a.initialize('2025-06-18', { elicitation: {} }), b.initialize('2025-06-18')]);
        const waiting = a.call('test_elicitation', { message: 'Who?' });
        const asked = await a.receive(m => m.method === 'elicitation/create');
        await b.tell({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { username: 'mallory', email: 'm@b.example' } } });
        await b.request('ping');
        await a.tell({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { username: 'ana', email: 'a@b.example' } } });
        assert.match((await waiting).result.content[0].text, /ana/);
        assert.ok(!b.messages.some(m => m.method === 'elicitation/create'));
        await Promise.all([close(a), close(b)]);
    });
    test('a change is told without being asked', async () => {
        const it = await open(s), other = await open(s);
        await it.initialize();
        await other.initialize();
        await other.call('test_trigger_tool_change');
        await it.receive(m => m.method === 'notifications/tools/list_changed');
        await Promise.all([close(it), close(other)]);
    });
    test('Host, Origin and CORS are those of the other endpoint', async () => {
        for (const [method, at] of [['GET', '/sse'], ['POST', '/messages?sessionId=1']])
            for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }, { origin: 'null' }])
                assert.equal((await send(s, { method, path: at, headers, ...(method === 'POST' && { body: '{}' }) })).status, 403);
        const origin = 'http://localhost:6274', it = await open(s, { origin });
        const a = await it.post({ jsonrpc: '2.0', id: 1, method: 'ping' });
        assert.equal(a.status, 202);
        assert.equal(a.headers['access-control-allow-origin'], origin);
        await it.receive(m => m.id === 1);
        await close(it);
        assert.equal(it.answer.headers['access-control-allow-origin'], origin);
        assert.equal((await send(s, { method: 'OPTIONS', path: '/messages', headers: { origin, 'access-control-request-method': 'POST' } })).status, 204);
    });
    test('streams end while changes are told to them', async () => {
        const teller = await open(s);
        await teller.initialize('2025-06-18');
        let over = false;
        const telling = (async () => { while (!over) await teller.call('test_trigger_tool_change'); })();
        const comeAndGo = async () => { for (let i = 0; i < 40; i++) { const it = await open(s); await it.initialize('2025-06-18'); await close(it); } };
        await Promise.all(Array.from({ length: 6 }, comeAndGo)); // a sanitizer says when one of them is told after its end
        over = true;
        await telling;
        await close(teller);
    });
    test('300 streams that come and go leave nothing', async () => {
        const descriptors = () => readdirSync(`/proc/${s.pid}/fd`).length, before = descriptors();
        for (let i = 0; i < 15; i++) {
            const all = await Promise.all(Array.from({ length: 20 }, () => open(s)));
            await Promise.all(all.map(async (it, n) => {
                if (n % 2) await it.initialize('2025-11-25', { elicitation: {} });
                if (n % 4 === 1) it.tell({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'test_elicitation', arguments: { message: 'Who?' } } }).catch(() => {});
                await close(it);
            }));
        }
        await until(() => descriptors() <= before + 4, 'the descriptors');
    });
});

describe('its ends', () => {
    test('with the stream the session and its calls end', async () => {
        const s = await serve({ manifest: manifest(['fixture']), args: ['--sse'] });
        const it = await open(s), watcher = await open(s);
        await it.initialize('2025-06-18');
        await watcher.initialize('2025-06-18');
        await it.tell({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: { name: 'fx_slow', arguments: { ms: 60000 } } });
        const count = async () => (await watcher.call('fx_count')).result.structuredContent;
        await until(async () => (await count()).begun === 1, 'the call to begin');
        await close(it);
        await until(async () => (await count()).stopped === 1, 'the call to be stopped');
        assert.equal((await send(s, { path: it.endpoint, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status, 404);
        await close(watcher);
        await s.stop();
    });
    test('a stop lets the running call answer, then ends the streams', async () => {
        const s = await serve({ manifest: manifest(['fixture']), args: ['--sse'] });
        const it = await open(s), idle = await open(s);
        await it.initialize('2025-06-18');
        await it.tell({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: { name: 'fx_slow', arguments: { ms: 700 } } });
        await sleep(100);
        s.kill('SIGTERM');
        await idle.whole;
        assert.equal(it.ended, false);
        assert.equal((await it.receive(m => m.id === 'slow')).result.structuredContent.waited, 700);
        await it.whole;
        assert.deepEqual(await s.ended, { code: 0, signal: null });
    });
    test('a session is its principal\'s', async () => {
        const key = async name => {
            const r = await lastro(['manifest', 'key', name]);
            return { authorization: `Bearer ${/Bearer (\S+)$/m.exec(r.stdout)[1]}`, entry: JSON.parse(/^ {2}(\{.*\})$/m.exec(r.stdout)[1]) };
        };
        const [ana, bob] = [await key('ana'), await key('bob')];
        const s = await serve({ manifest: manifest(['fixture'], { principals: [ana.entry, bob.entry] }), args: ['--sse'] });
        const it = await open(s, { authorization: ana.authorization });
        await it.initialize('2025-06-18');
        const ping = { jsonrpc: '2.0', id: 'p', method: 'ping' };
        assert.equal((await send(s, { path: it.endpoint, body: ping })).status, 401);
        assert.equal((await send(s, { path: it.endpoint, body: ping, headers: { authorization: bob.authorization } })).status, 404);
        assert.equal((await send(s, { method: 'GET', path: '/sse' })).status, 401);
        assert.deepEqual((await it.request('ping')).result, {});
        await close(it);
        await s.stop();
    });
    test('as many sessions as the manifest says', async () => {
        const s = await serve({ manifest: manifest(['fixture']), args: ['--sse', '--sessions', '2'] });
        const [a, b] = [await open(s), await open(s)];
        assert.equal((await send(s, { method: 'GET', path: '/sse' })).status, 503);
        await close(a);
        let c;
        await until(async () => { c = await open(s).catch(() => undefined); return c; }, 'room');
        await Promise.all([close(b), close(c)]);
        await s.stop();
    });
});
