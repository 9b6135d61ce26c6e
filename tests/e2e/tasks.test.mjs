// SPDX-License-Identifier: MIT
// The extension io.modelcontextprotocol/tasks against the program itself, on stdio and over HTTP with the same expectations.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CLOCK, META, ROOT, Stdio, files, modern, session, until } from './lib.mjs';
import { modernRequest, serve } from './http.mjs';

process.setMaxListeners(0); // every program under test is killed at exit
const EXTENSION = META + 'tasks';
const FIXTURE = path.join(ROOT, 'tests/conformance/manifest.json');
const KNOWS = { elicitation: {}, extensions: { [EXTENSION]: {} } };
const END = ['completed', 'failed', 'cancelled'];
const accept = content => ({ action: 'accept', content });

// A client that can ask and listen: {ask(method, params, capabilities) → response, listen(taskIds) → {heard, end()}}.
class OnStdio {
    constructor() { this.s = new Stdio({ manifest: FIXTURE }); }
    ask(method, params = {}, capabilities = KNOWS) {
        return this.s.request(method, { ...params, _meta: modern({ [META + 'clientCapabilities']: capabilities }) });
    }
    async listen(taskIds) {
        const id = `listen-${this.s.messages.length}`, s = this.s;
        const mine = m => m.method && m.params?._meta?.[META + 'subscriptionId'] === id;
        s.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications: { taskIds },
            _meta: modern({ [META + 'clientCapabilities']: KNOWS }) } });
        await s.receive(mine, 'the acknowledgement');
        return { heard: () => s.messages.filter(mine), end: async () => { s.notify('notifications/cancelled', { requestId: id }); } };
    }
    stop() { return this.s.close(); }
}
class OnHttp {
    async open() { this.s = await serve({ manifest: FIXTURE }); return this; }
    async ask(method, params = {}, capabilities = KNOWS) {
        return (await modernRequest(this.s, method, params, { capabilities })).answer;
    }
    async listen(taskIds) {
        const heard = [];
        let leave;
        const whole = modernRequest(this.s, 'subscriptions/listen', { notifications: { taskIds } },
            { capabilities: KNOWS, on: (m, l) => { heard.push(m); leave = l; } });
        await until(() => heard.length, 'the acknowledgement');
        return { heard: () => heard, end: () => { leave(); return whole; } };
    }
    stop() { return this.s.stop(); }
}

for (const [where, open] of [['stdio', async () => new OnStdio()], ['HTTP', () => new OnHttp().open()]]) describe(`tasks on ${where}`, () => {
    let c;
    before(async () => { c = await open(); });
    after(() => c.stop());
    const ok = r => { assert.ok(r.result, JSON.stringify(r.error)); return r.result; };
    const call = async (name, args = {}, more = {}, capabilities) => ok(await c.ask('tools/call', { name, arguments: args, ...more }, capabilities));
    const task = async (name, args, more) => {
        const r = await call(name, args, more);
        assert.equal(r.resultType, 'task', JSON.stringify(r));
        return r;
    };
    const get = async taskId => ok(await c.ask('tasks/get', { taskId }));
    const when = (taskId, ...statuses) => until(async () => { const t = await get(taskId); return statuses.includes(t.status) && t; }, `${statuses}`);
    const acknowledged = r => assert.deepEqual(Object.keys(ok(r)).filter(k => k !== '_meta'), ['resultType']);
    const refused = (r, code) => { assert.equal(r.error?.code, code, JSON.stringify(r)); return r.error; };

    test('the handle is flat, of the server\'s clock, and good at once', async () => {
        const t = await task('slow_compute', { seconds: 0.2, label: 'flat' });
        const { taskId, _meta, ...rest } = t;
        assert.match(taskId, /^[0-9a-f]{32}$/);
        assert.deepEqual(rest, { resultType: 'task', status: 'working', createdAt: rest.createdAt, lastUpdatedAt: rest.createdAt, ttlMs: 3600000, pollIntervalMs: 500 });
        assert.equal(new Date(rest.createdAt).getTime(), new Date(CLOCK).getTime());
        assert.ok(_meta[META + 'serverInfo']);
        assert.equal((await get(taskId)).taskId, taskId);
        const done = await when(taskId, ...END);
        assert.equal(done.status, 'completed');
        assert.equal(done.resultType, 'complete');
        assert.deepEqual(done.result.content, [{ type: 'text', text: 'Computed flat in 0.2 s' }]);
        assert.equal(done.result.resultType, 'complete');
        assert.deepEqual(await get(taskId), done);
    });

    test('a failure of the tool is a result, one of the protocol an error', async () => {
        const [job, protocol] = [await task('failing_job'), await task('protocol_error_job')];
        const a = await when(job.taskId, ...END), b = await when(protocol.taskId, ...END);
        assert.deepEqual([a.status, a.result.isError, a.error], ['completed', true, undefined]);
        assert.deepEqual([b.status, b.error.code, b.result, b.statusMessage], ['failed', -32602, undefined, b.error.message]);
    });

    test('who does not declare the extension gets plain answers, and refusals that say what to declare', async () => {
        const discovered = ok(await c.ask('server/discover', {}, {}));
        assert.deepEqual(discovered.capabilities.extensions, { [EXTENSION]: {} });
        const r = await call('slow_compute', { seconds: 0, label: 'x' }, { task: { ttl: 1 } }, {});
        assert.deepEqual([r.resultType, r.taskId], ['complete', undefined]);
        const asked = [['tools/call', { name: 'failing_job', arguments: {} }], ['tasks/get', { taskId: 'x' }], ['tasks/cancel', { taskId: 'x' }],
            ['tasks/update', { taskId: 'x', inputResponses: {} }], ['subscriptions/listen', { notifications: { taskIds: ['x'] } }]];
        for (const [method, params] of asked)
            assert.deepEqual(refused(await c.ask(method, params, {}), -32021).data, { requiredCapabilities: { extensions: { [EXTENSION]: {} } } }, method);
        for (const method of ['tasks/get', 'tasks/cancel']) refused(await c.ask(method, { taskId: '0'.repeat(32) }), -32602);
        for (const method of ['tasks/list', 'tasks/result']) refused(await c.ask(method, { taskId: 'x' }), -32601);
    });

    test('questions stay open until each is answered', async () => {
        const { taskId } = await task('multi_input');
        const open = await when(taskId, 'input_required');
        assert.deepEqual(Object.keys(open.inputRequests), ['first_name', 'second_name']);
        assert.equal(open.requestState, undefined);
        acknowledged(await c.ask('tasks/update', { taskId, inputResponses: { first_name: accept({ name: 'Ana' }), unknown: { ignored: true } } }));
        assert.deepEqual(Object.keys((await get(taskId)).inputRequests), ['second_name']);
        refused(await c.ask('tasks/update', { taskId, inputResponses: { second_name: accept({ name: 5 }) } }), -32602);
        acknowledged(await c.ask('tasks/update', { taskId, inputResponses: { second_name: accept({ name: 'Bia' }) } }));
        assert.equal((await when(taskId, ...END)).result.content[0].text, 'Hello, Ana and Bia!');
    });

    test('what was asked before the task is known in it', async () => {
        const first = await call('test_tool_with_task');
        assert.deepEqual([first.resultType, first.taskId, Object.keys(first.inputRequests)], ['input_required', undefined, ['user_name']]);
        const t = await task('test_tool_with_task', {}, { inputResponses: { user_name: accept({ name: 'Alice' }) }, requestState: first.requestState });
        assert.equal(t.statusMessage, 'greeting at leisure');
        assert.equal((await when(t.taskId, ...END)).result.content[0].text, 'Hello, Alice!');
    });

    test('cancelling stops it, and is acknowledged as often as it comes', async () => {
        const { taskId } = await task('slow_compute', { seconds: 60, label: 'long' });
        for (let i = 0; i < 2; i++) acknowledged(await c.ask('tasks/cancel', { taskId }));
        await when(taskId, 'cancelled');
        acknowledged(await c.ask('tasks/cancel', { taskId }));
        const { taskId: waiting } = await task('confirm_delete', { filename: 'x' });
        await when(waiting, 'input_required');
        acknowledged(await c.ask('tasks/cancel', { taskId: waiting }));
        assert.equal((await get(waiting)).status, 'cancelled');
    });

    test('who listens hears of each state what tasks/get would say', async () => {
        const { taskId } = await task('confirm_delete', { filename: 'x.txt' });
        const other = await task('slow_compute', { seconds: 0.05, label: 'other' });
        await when(taskId, 'input_required');
        const l = await c.listen([taskId, 'f'.repeat(32)]);
        acknowledged(await c.ask('tasks/update', { taskId, inputResponses: { confirm: accept({ confirm: true }) } }));
        await until(() => l.heard().some(m => m.params.status === 'completed'), 'the end');
        await when(other.taskId, ...END);
        const [ack, ...news] = l.heard();
        assert.deepEqual([ack.method, ack.params.notifications], ['notifications/subscriptions/acknowledged', { taskIds: [taskId] }]);
        assert.deepEqual(news.map(m => [m.method, m.params.taskId, m.params.status]),
            ['input_required', 'working', 'completed'].map(s => ['notifications/tasks', taskId, s]));
        const { _meta: a, ...told } = news.at(-1).params, { _meta: b, resultType, ...got } = await get(taskId);
        assert.deepEqual(told, got);
        await l.end();
    });
});

describe('the end', () => {
    test('on stdio the end of input waits a second for what runs, then stops it', () => session({ manifest: FIXTURE }, async s => {
        const meta = modern({ [META + 'clientCapabilities']: KNOWS });
        const t = await s.result('tools/call', { name: 'slow_compute', arguments: { seconds: 60, label: 'x' }, _meta: meta });
        assert.equal(t.status, 'working');
        const began = Date.now();
        s.closeInput();
        assert.deepEqual(await s.ended(), { code: 0, signal: null });
        assert.ok(Date.now() - began >= 900, `ended after ${Date.now() - began} ms`);
    }));
    test('over HTTP a server that stops leaves no task behind', async () => {
        const dir = files({ 'manifest.json': { manifest: 1, name: 't', version: '1', http: { drainMs: 200 },
            plugins: [{ name: 'conformance', library: 'conformance.so' }] } });
        const s = await serve({ manifest: path.join(dir, 'manifest.json') });
        for (const [name, args] of [['slow_compute', { seconds: 60, label: 'x' }], ['confirm_delete', { filename: 'x' }]]) {
            const a = await modernRequest(s, 'tools/call', { name, arguments: args }, { capabilities: KNOWS });
            assert.equal(a.answer.result.resultType, 'task');
        }
        await s.stop();
    });
});

describe('principals over HTTP', () => {
    test('a task is its principal\'s alone', async () => {
        const key = name => `lastro-test-key-of-${name}`, hash = name => `sha256:${createHash('sha256').update(key(name)).digest('hex')}`;
        const dir = files({ 'manifest.json': { manifest: 1, name: 't', version: '1', publisher: 'dev.example.lastro', http: { drainMs: 100 },
            principals: ['ana', 'bia'].map(name => ({ name, key: hash(name) })), plugins: [{ name: 'conformance', library: 'conformance.so' }] } });
        const s = await serve({ manifest: path.join(dir, 'manifest.json') });
        const as = async (name, method, params) => (await modernRequest(s, method, params,
            { capabilities: KNOWS, headers: { authorization: `Bearer ${key(name)}` } })).answer;
        const { taskId } = (await as('ana', 'tools/call', { name: 'confirm_delete', arguments: { filename: 'x' } })).result;
        for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
            assert.equal((await as('bia', method, { taskId, inputResponses: {} })).error.code, -32602, method);
        assert.equal((await as('ana', 'tasks/get', { taskId })).result.taskId, taskId);
        await s.stop();
    });
});
