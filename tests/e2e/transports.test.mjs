// SPDX-License-Identifier: MIT
// One server, two transports: in each revision the lists are the same bytes over stdio and over HTTP, and every tool, resource,
// prompt and completion gives the same messages in the same order, questions to the client included.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { send, serve } from './http.mjs';
import { BUILD, META, ROOT, Stdio, sim, sources } from './lib.mjs';

const MODERN = '2026-07-28', revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', MODERN];
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const answers = {
    'elicitation/create': p => p.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: 'Ana', color: 'green', ok: true,
        confirm: true, context: 'a test', username: 'ana', email: 'ana@example.com' } },
    'sampling/createMessage': () => ({ role: 'assistant', model: 'test', content: { type: 'text', text: 'Paris' } }),
    'roots/list': () => ({ roots: [{ uri: 'file:///srv/data' }] })
};
const answer = m => answers[m.method](m.params);

/** A client over stdio: ask(message, …) → the lines up to the response, after answering what is asked on the way. */
function overStdio(manifest, env) {
    const s = new Stdio({ manifest, env });
    return {
        async ask(message) {
            const from = s.lines.length;
            s.send(message);
            for (let seen = from; ; seen++) {
                const m = await s.receive(() => true, `message ${seen - from} on ${message.method}`, undefined, seen);
                if (m.method && m.id !== undefined) s.send({ jsonrpc: '2.0', id: m.id, result: answer(m) });
                if (!m.method && m.id === message.id) return s.lines.slice(from, seen + 1);
            }
        },
        notify: message => { s.send(message); },
        stop: () => s.close()
    };
}

/** The same over HTTP, in a session once there was an initialize. */
async function overHttp(manifest, env) {
    const s = await serve({ manifest, env }), session = {};
    const post = (body, headers, on) => send(s, { body, headers: { ...session, ...headers }, on });
    return {
        async ask(message, headers = {}) {
            const a = await post(message, headers, m => {
                if (m.method && m.id !== undefined) post({ jsonrpc: '2.0', id: m.id, result: answer(m) }, headers);
            });
            if (message.method === 'initialize') session['mcp-session-id'] = a.headers['mcp-session-id'];
            return /^application\/json/.test(a.headers['content-type']) ? [a.text] : a.events.filter(e => e.data).map(e => e.data);
        },
        notify: async message => { assert.equal((await post(message)).status, 202); },
        stop: () => s.stop()
    };
}

const headerValue = v => `=?base64?${Buffer.from(String(v)).toString('base64')}?=`;
/** What HTTP wants of a modern request besides its body. */
function headersOf({ method, params }, tool) {
    const name = params.name ?? params.uri, headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...(name && { 'mcp-name': headerValue(name) }) };
    for (const [key, p] of Object.entries(tool?.inputSchema.properties ?? {}))
        if (p['x-mcp-header'] && params.arguments[key] !== undefined) headers[`mcp-param-${p['x-mcp-header']}`] = headerValue(params.arguments[key]);
    return headers;
}

let id = 0;
/** The messages of one request on one of the two; in the modern era of all its rounds. */
async function ask(client, revision, method, params, tool) {
    const all = [];
    for (let more = {}; ;) {
        const meta = revision === MODERN && { _meta: { progressToken: 'token', [META + 'protocolVersion']: MODERN, [META + 'clientCapabilities']: CAPABILITIES, [META + 'logLevel']: 'debug' } };
        const message = { jsonrpc: '2.0', id: ++id, method, params: { ...params, ...more, ...(meta || { _meta: { progressToken: 'token' } }) } };
        all.push(...await client.ask(message, revision === MODERN ? headersOf(message, tool) : {}));
        const { result } = JSON.parse(all.at(-1));
        if (result?.resultType !== 'input_required') return all;
        more = { requestState: result.requestState, inputResponses: Object.fromEntries(Object.entries(result.inputRequests).map(([k, q]) => [k, answer(q)])) };
    }
}

/** What differs from run to run: the seal of a state, how long a source took. Changes are told when and where they happen. */
const same = lines => lines.map(l => JSON.parse(l)).filter(m => !/list_changed$|resources\/updated$/.test(m.method ?? ''))
    .map(m => JSON.parse(JSON.stringify(m, (k, v) => k === 'requestState' || k === 'elapsed_ms' || k === 'waited_ms' ? typeof v : v)));

/** The same request on both, with the same id. */
async function both(clients, revision, method, params, tool) {
    const from = id, results = [];
    for (const client of clients) {
        id = from;
        results.push(await ask(client, revision, method, params, tool));
    }
    return results;
}

const samples = { string: 'some "text", zürich', number: 0.05, integer: 3, boolean: true };
const special = { json_schema_2020_12_tool: { email: 'x' }, test_large_result: { bytes: 100000 }, test_header_kinds: { text: 'a', number: -7, flag: false } };
/** Arguments that fit: the required ones. */
const argumentsFor = tool => special[tool.name] ?? Object.fromEntries((tool.inputSchema.required ?? []).map(k => [k, samples[tool.inputSchema.properties[k].type]]));
/** Only over HTTP its stream ends early: clients.test.mjs looks at that. */
const isElsewhere = tool => tool.name === 'test_reconnection';

function compare(what, manifest, env, callsOf) {
    for (const revision of revisions)
        describe(`${what}, ${revision}`, () => {
            let clients = [], listed = {};
            before(async () => {
                clients = [overStdio(manifest, env()), await overHttp(manifest, env())];
                if (revision === MODERN) return;
                const [a, b] = await both(clients, revision, 'initialize', { protocolVersion: revision, capabilities: CAPABILITIES, clientInfo: { name: 'e2e', version: '1' } });
                assert.deepEqual(a, b);
                assert.equal(JSON.parse(a[0]).result.protocolVersion, revision);
                for (const c of clients) await c.notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
                await both(clients, revision, 'logging/setLevel', { level: 'debug' });
            });
            after(async () => { for (const c of clients) await c.stop(); });

            test('the lists are the same bytes', async () => {
                const lists = { 'tools/list': 'tools', 'resources/list': 'resources', 'resources/templates/list': 'resourceTemplates', 'prompts/list': 'prompts' };
                for (const [method, key] of Object.entries(lists)) {
                    const [a, b] = await both(clients, revision, method, {});
                    assert.equal(a.length, 1);
                    assert.deepEqual(a, b, method);
                    listed[key] = JSON.parse(a[0]).result?.[key] ?? [];
                }
                assert.ok(listed.tools.length > 0);
                if (revision === MODERN) assert.deepEqual(...await both(clients, revision, 'server/discover', {}));
            });
            test('every tool says the same', async () => {
                const called = new Set();
                for (const [name, args] of callsOf(listed.tools)) {
                    const tool = listed.tools.find(t => t.name === name);
                    const [a, b] = await both(clients, revision, 'tools/call', { name, arguments: args }, tool);
                    assert.ok(a.length > 0 && (!JSON.parse(a.at(-1)).error || /_job$/.test(name)), a.at(-1));
                    assert.deepEqual(same(a), same(b), `${name} ${JSON.stringify(args)}`);
                    called.add(name);
                }
                assert.deepEqual(listed.tools.filter(t => !called.has(t.name) && !isElsewhere(t)).map(t => t.name), [], 'tools that were not compared');
            });
            if (what === 'fixture') test('only what the revision knows is asked', async () => {
                for (const lines of await both(clients, revision, 'tools/call', { name: 'test_input_required_result_capabilities', arguments: {} }))
                    assert.equal(JSON.parse(lines.at(-1)).result.content[0].text, revision < '2025-06-18' ? 'Asked: the model' : 'Asked: the user and the model');
            });
            test('bad arguments and unknown names say the same', async () => {
                for (const params of [{ name: 'no_such_tool', arguments: {} }, { name: listed.tools[0].name, arguments: { no_such_argument: 1 } }])
                    assert.deepEqual(...(await both(clients, revision, 'tools/call', params)).map(same));
            });
            test('resources, prompts and completions say the same', async () => {
                const uris = [...listed.resources.map(r => r.uri), ...listed.resourceTemplates.map(t => t.uriTemplate.replace(/\{\w+\}/g, '12')), 'test://no-such-thing'];
                for (const uri of uris) assert.deepEqual(...(await both(clients, revision, 'resources/read', { uri })).map(same));
                for (const p of listed.prompts) {
                    const params = { name: p.name, arguments: Object.fromEntries((p.arguments ?? []).map(a => [a.name, 'a "value"'])) };
                    assert.deepEqual(...(await both(clients, revision, 'prompts/get', params)).map(same));
                    for (const a of p.arguments ?? [])
                        assert.deepEqual(...(await both(clients, revision, 'completion/complete', { ref: { type: 'ref/prompt', name: p.name }, argument: { name: a.name, value: 't' } })).map(same));
                }
            });
        });
}

compare('fixture', path.join(ROOT, 'tests/conformance/manifest.json'), () => ({}), tools => tools.filter(t => !isElsewhere(t)).map(t => [t.name, argumentsFor(t)]));

let source;
before(async () => { source = await sim(); });
after(() => source?.stop());
const window = { dataInicial: '2024-01-01', dataFinal: '2024-12-31' };
const own = [['bcb_variacao', { codigo: 433, ...window }], ['bcb_variacao', { codigo: 433 }], ['bcb_serie_valores', { codigo: 433, ...window }],
    ['bcb_serie_valores', { codigo: 1, ...window, frequencia: 'mensal' }], ['bcb_serie_ultimos', { codigo: 4390, quantidade: 3 }],
    ['bcb_serie_metadados', { codigo: 189 }], ['bcb_series_populares', {}], ['bcb_series_populares', { categoria: 'inflação' }]];
compare('own manifest', path.join(BUILD, 'manifest.json'), () => sources(source.url), () => own);
