// SPDX-License-Identifier: MIT
// The official TypeScript SDK clients, v1 and v2, in each of their eras, over stdio and both transports of HTTP: against the
// conformance fixture everything a client can do, against the program's own manifest the tools it is for. The SDKs themselves
// check what they get: messages against the protocol's schemas, structuredContent against the listed outputSchema.
// `scripts/setup clients` brings them; without them: skipped.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { HOME, lists } from '../clients/common.mjs';
import { connect as v1 } from '../clients/v1.mjs';
import { connect as v2 } from '../clients/v2.mjs';
import { serve } from './http.mjs';
import { LASTRO, ROOT, SLACK, assertSane, cleanEnv, sim, sources, until } from './lib.mjs';

const missing = dir => existsSync(path.join(HOME, dir, '.done')) ? false : 'the SDK is not installed (scripts/setup clients)';
const legacy = { era: 'legacy', version: '2025-11-25' }, modern = { era: 'modern', version: '2026-07-28' };
const kinds = [
    { name: 'SDK v1', dir: 'sdk1', connect: v1, is: legacy },
    { name: 'SDK v2, era legacy', dir: 'sdk2', connect: o => v2({ ...o, era: 'legacy' }), is: legacy },
    { name: 'SDK v2, era auto', dir: 'sdk2', connect: o => v2({ ...o, era: 'auto' }), is: modern },
    { name: 'SDK v2, era modern', dir: 'sdk2', connect: o => v2({ ...o, era: 'modern' }), is: modern }
];
const timeout = 20000 * SLACK;

/** The transports over one manifest (null: the build's own) → options for connect, and the way to end what serves. */
const transports = {
    stdio: async (manifest, env) => ({ options: { stdio: [LASTRO, ...(manifest ? ['--manifest', manifest] : [])], env: cleanEnv(env) }, stop: async () => {} }),
    HTTP: async (manifest, env) => { const s = await serve({ manifest, env }); return { options: { http: s.url.href }, stop: s.stop }; },
    'HTTP+SSE': async (manifest, env) => { // of 2024-11-05: no modern era
        const s = await serve({ manifest, env, args: ['--sse'] });
        return { options: { sse: new URL('/sse', s.url).href }, stop: s.stop };
    }
};
const kindsOver = transport => transport !== 'HTTP+SSE' ? kinds
    : kinds.filter(k => k.name !== 'SDK v2, era modern').map(k => ({ ...k, is: legacy })); // auto falls back

/** Registers fn's tests, which share one client, for every kind of client over every transport. */
function everywhere(what, { manifest, env = () => ({}), abilities = {} }, fn) {
    for (const [transport, begin] of Object.entries(transports))
        for (const kind of kindsOver(transport))
            describe(`${what}: ${kind.name} over ${transport}`, { skip: missing(kind.dir) }, () => {
                const it = { kind, transport, client: null };
                let server;
                before(async () => {
                    server = await begin(manifest, env());
                    it.client = await kind.connect({ ...server.options, ...abilities, timeout });
                });
                after(async () => {
                    await it.client?.close();
                    assertSane(it.client?.stderr() ?? '');
                    await server?.stop();
                });
                test(`connects in the ${kind.is.era} era`, () => {
                    assert.equal(it.client.era, kind.is.era);
                    assert.equal(it.client.protocolVersion, kind.is.version);
                    assert.equal(it.client.sessionId !== undefined, transport === 'HTTP' && kind.is.era === 'legacy', 'a session id');
                });
                fn(it);
            });
}

// ---- the fixture: all that a client can do

const texts = result => result.content.map(c => c.text).join(' ');
/** What each form of the fixture asks for. */
const typed = { name: 'Ana', color: 'green', ok: true, confirm: true, context: 'a test', username: 'ana', email: 'ana@example.com' };
const abilities = { elicit: typed, page: 'accept', sample: 'Paris', roots: ['file:///srv/data'] };

everywhere('fixture', { manifest: path.join(ROOT, 'tests/conformance/manifest.json'), abilities }, it => {
    const call = (name, args = {}, more) => it.client.callTool({ name, arguments: args }, more);
    /** What arrives of these notifications while fn runs, and until enough(them) holds. */
    async function heard(method, fn, enough) {
        const from = it.client.notes.length;
        await fn();
        const these = () => it.client.notes.slice(from).filter(n => n.method === method);
        await until(() => enough(these()), `${method}; came: ${JSON.stringify(it.client.notes.slice(from))}`);
        return these();
    }

    test('lists tools, resources, templates and prompts', async () => {
        const all = await lists(it.client);
        assert.equal(all.tools[0].name, 'test_simple_text');
        assert.ok(all.tools.length > 40 && all.tools.every(t => t.description && t.inputSchema.type === 'object'));
        const image = all.tools.find(t => t.name === 'test_image_content');
        assert.match(image.icons[0].src, /^data:image\/png;base64,/);
        assert.equal(image.annotations.readOnlyHint, true);
        assert.equal(all.tools.find(t => t.name === 'json_schema_2020_12_tool').inputSchema.$defs.address.$anchor, 'addressDef');
        assert.equal(all.resources[0].uri, 'test://static-text');
        assert.equal(all.resources[0].annotations.priority, 0.8);
        assert.match(all.resources[0].icons[0].src, /^data:image\/png/);
        assert.deepEqual(all.resourceTemplates.map(t => t.uriTemplate), ['test://template/{id}/data']);
        assert.equal(all.prompts.length, 5);
        assert.deepEqual(all.prompts.find(p => p.name === 'test_prompt_with_arguments').arguments.map(a => a.name), ['arg1', 'arg2']);
    });
    test('knows who serves', () => {
        assert.equal(it.client.serverInfo.name, 'lastro-conformance');
        assert.match(it.client.instructions, /fixture/);
        assert.ok(it.client.capabilities.tools.listChanged && it.client.capabilities.resources.subscribe && it.client.capabilities.completions);
    });

    test('calls a tool without arguments', async () => {
        assert.deepEqual((await it.client.callTool({ name: 'test_simple_text' })).content, [{ type: 'text', text: 'This is a simple text response for testing.' }]);
    });
    test('gets text, image, audio, resources and links', async () => {
        const kind = async name => (await call(name)).content.map(c => c.type);
        assert.deepEqual(await kind('test_multiple_content_types'), ['text', 'image', 'resource']);
        assert.deepEqual(await kind('test_resource_link'), ['text', 'resource_link', 'resource_link']);
        const wav = Buffer.from((await call('test_audio_content')).content[0].data, 'base64');
        assert.equal(wav.toString('latin1', 8, 12), 'WAVE');
        assert.equal(wav.readUInt32LE(4), wav.length - 8);
        const png = Buffer.from((await call('test_image_content')).content[0].data, 'base64');
        assert.equal(png.toString('latin1', 1, 4), 'PNG');
    });
    test('gets a structured result that fits its schema', async () => {
        const { structuredContent } = await call('test_caller');
        assert.deepEqual(structuredContent, { principal: 'local', era: it.kind.is.era, protocol: it.kind.is.version,
            capabilities: ['elicitation', 'sampling', 'roots'] });
    });
    test('gets 5 MB in one result', async () => assert.equal(texts(await call('test_large_result')).length, 5000000));
    test('gets a failure inside the result', async () => {
        const r = await call('test_error_handling');
        assert.equal(r.isError, true);
        assert.match(texts(r), /intentionally/);
    });
    test('gets bad arguments told inside the result', async () => {
        const r = await call('greet', { nome: 'Ana' });
        assert.equal(r.isError, true);
        assert.match(texts(r), /nome/);
    });
    test('an unknown tool is an error of the protocol', async () => { await assert.rejects(call('no_such_tool'), { code: -32602 }); });
    test('arguments that go into headers arrive', async () => {
        if (it.kind.is.era === 'modern') await lists(it.client); // there the client learns which ones do
        const args = { text: 'zürich', number: -7, flag: true };
        assert.deepEqual(JSON.parse(texts(await call('test_header_kinds', args))), args);
        assert.equal(texts(await call('test_custom_header', { region: ' =?base64? ' })), 'Region:  =?base64? ');
    });

    test('reads text, bytes and a template', async () => {
        const read = async uri => (await it.client.readResource({ uri })).contents;
        assert.deepEqual(await read('test://static-text'), [{ uri: 'test://static-text', mimeType: 'text/plain', text: 'This is the content of the static text resource.' }]);
        assert.equal(Buffer.from((await read('test://static-binary'))[0].blob, 'base64').toString('latin1', 1, 4), 'PNG');
        assert.deepEqual(JSON.parse((await read('test://template/42/data'))[0].text), { id: '42', templateTest: true, data: 'Data for ID: 42' });
        await assert.rejects(read('test://no-such-thing'), { code: it.kind.dir === 'sdk1' ? -32002 : -32602 }); // v2 translates
    });
    test('gets prompts', async () => {
        const r = await it.client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'one', arg2: 'two' } });
        assert.equal(r.messages[0].content.text, "Prompt with arguments: arg1='one', arg2='two'");
        assert.equal((await it.client.getPrompt({ name: 'test_prompt_with_image' })).messages[0].content.type, 'image');
        await assert.rejects(it.client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'one' } }), { code: -32602 });
    });
    test('completes arguments and template variables', async () => {
        const complete = async (ref, name, value) => (await it.client.complete({ ref, argument: { name, value } })).completion.values;
        assert.deepEqual(await complete({ type: 'ref/prompt', name: 'test_prompt_with_arguments' }, 'arg1', 'testi'), ['testing']);
        assert.deepEqual(await complete({ type: 'ref/resource', uri: 'test://template/{id}/data' }, 'id', '12'), ['12', '123']);
    });

    test('answers a form', async () => {
        const from = it.client.asked.length;
        assert.match(texts(await call('test_elicitation', { message: 'Quoted: "yes"' })), /ana@example\.com/);
        assert.equal(it.client.asked[from].params.message, 'Quoted: "yes"');
        assert.deepEqual(it.client.asked[from].params.requestedSchema.required, ['username', 'email']);
    });
    test('answers a form with defaults and one with choices', async () => {
        const from = it.client.asked.length;
        await call('test_elicitation_sep1034_defaults');
        await call('test_elicitation_sep1330_enums');
        const [defaults, enums] = it.client.asked.slice(from).map(r => r.params.requestedSchema.properties);
        assert.deepEqual(Object.values(defaults).map(p => p.default), ['John Doe', 30, 95.5, 'active', true]);
        assert.deepEqual(Object.keys(enums), ['untitledSingle', 'titledSingle', 'legacyEnum', 'untitledMulti', 'titledMulti']);
    });
    test('answers a URL', async () => {
        const from = it.client.asked.length;
        assert.equal(texts(await call('test_url_elicitation')), "The user's answer to the page: accept");
        assert.equal(it.client.asked[from].params.mode, 'url');
        assert.equal(it.client.asked[from].params.url, 'https://example.com/sign-in');
    });
    test('answers for its model', async () => {
        assert.equal(texts(await call('test_sampling', { prompt: 'Capital of France?' })), 'LLM response: Paris');
        assert.equal(it.client.asked.at(-1).params.messages[0].content.text, 'Capital of France?');
    });
    test('gives its roots', async () => assert.match(texts(await call('test_input_required_result_list_roots')), /file:\/\/\/srv\/data/));
    test('answers three questions of one call', async () => {
        assert.match(texts(await call('test_input_required_result_multiple_inputs')), /^Paris, Ana! Roots: .*srv/);
    });
    test('answers a question that follows from another', async () => {
        assert.equal(texts(await call('test_input_required_result_multi_round')), 'Ana likes green');
    });
    test('a prompt and a resource ask too', async () => {
        assert.equal((await it.client.getPrompt({ name: 'test_input_required_result_prompt' })).messages[0].content.text, 'Use this context: a test');
        assert.equal((await it.client.readResource({ uri: 'test://asked' })).contents[0].text, 'Written for Ana.');
    });

    test('sees progress before the result', async () => {
        const seen = [];
        await call('test_tool_with_progress', {}, { onprogress: p => seen.push([p.progress, p.total]) });
        // the SDKs drop progress that comes in the same read as the result, as the last step may
        assert.ok(seen.length >= 2, JSON.stringify(seen));
        assert.deepEqual(seen, [[0, 100], [50, 100], [100, 100]].slice(0, seen.length));
    });
    test('hears the log from its level up', async () => {
        const levels = async level => {
            await it.client.hear(level);
            const enough = level === 'debug' ? 5 : 2;
            return (await heard('notifications/message', () => call('test_logging_tool'), n => n.length >= enough)).map(n => n.params.level);
        };
        assert.deepEqual(await levels('debug'), ['debug', 'info', 'notice', 'warning', 'error']);
        assert.deepEqual(await levels('warning'), ['warning', 'error']);
        await it.client.hear('emergency');
    });
    test('cancels a call, and the tool notices', async () => {
        const stop = new AbortController(), label = `${it.kind.name} over ${it.transport}`;
        await assert.rejects(call('test_slow', { seconds: 60, label }, { signal: stop.signal, onprogress: () => stop.abort('enough') }));
        await until(async () => {
            const r = await it.client.readResource({ uri: 'test://cancelled-calls' }, { cacheMode: 'refresh' });
            return JSON.parse(r.contents[0].text).last === label;
        }, 'the tool to notice');
        assert.equal(texts(await call('greet', { name: 'Ana' })), 'Hello, Ana!'); // and life goes on
    });
    test('is told when a resource it watches changes, and reads it afresh', async () => {
        const uri = 'test://watched-resource', text = async () => (await it.client.readResource({ uri })).contents[0].text;
        const before = await text();
        const stop = await it.client.watch({ uris: [uri] });
        const notes = await heard('notifications/resources/updated', () => call('test_touch_watched'), n => n.length > 0);
        assert.equal(notes[0].params.uri, uri);
        assert.notEqual(await text(), before);
        await stop();
        const from = it.client.notes.length;
        await call('test_touch_watched');
        await call('greet', { name: 'Ana' });
        assert.deepEqual(it.client.notes.slice(from), [], 'nothing after the end of the subscription');
    });
    test('is told when a list may have changed', async () => {
        const stop = await it.client.watch({ tools: true, prompts: true, resources: true });
        for (const [list, tool] of [['tools', 'test_trigger_tool_change'], ['prompts', 'test_trigger_prompt_change'], ['resources', 'test_trigger_resource_change']])
            await heard(`notifications/${list}/list_changed`, () => call(tool), n => n.length > 0);
        await stop();
    });
    test('comes back for the result of a stream that was let go', async () => {
        assert.match(texts(await call('test_reconnection')), /^Reconnection test completed/);
    });
    test('waits for what others take as a task', async () => {
        assert.equal(texts(await call('slow_compute', { seconds: 0.05, label: 'sum' })), 'Computed sum in 0.05 s');
        assert.equal(texts(await call('confirm_delete', { filename: 'a.txt' })), 'Deleted a.txt');
        assert.equal(texts(await call('test_tool_with_task')), 'Hello, Ana!');
    });
});

// ---- the program's own manifest

const IPCA_2024 = { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-12-31' };
const calls = [['bcb_variacao', IPCA_2024], ['bcb_serie_valores', IPCA_2024], ['bcb_serie_ultimos', { codigo: 4390, quantidade: 3 }],
    ['bcb_serie_metadados', { codigo: 189 }], ['bcb_series_populares', {}], ['bcb_series_populares', { categoria: 'inflação' }]];

let source;
before(async () => { source = await sim(); });
after(() => source?.stop());

everywhere('own manifest', { env: () => sources(source.url) }, it => {
    test('lists its tools', async () => {
        const { tools } = await lists(it.client);
        for (const [tool] of calls) assert.ok(tools.some(t => t.name === tool && t.outputSchema), tool);
    });
    for (const [tool, args] of calls)
        test(`${tool} ${JSON.stringify(args)} gives a valid structured result`, async () => {
            const r = await it.client.callTool({ name: tool, arguments: args }); // the SDK throws when it breaks the listed outputSchema
            assert.ok(!r.isError && r.structuredContent, JSON.stringify(r).slice(0, 2000));
            assert.deepEqual(JSON.parse(r.content[0].text), r.structuredContent);
            if (tool === 'bcb_variacao') assert.equal(r.structuredContent.analise.variacaoPercentual, 4.8313);
        });
    test('a bad argument comes as isError, not as a failed request', async () => {
        assert.equal((await it.client.callTool({ name: 'bcb_variacao', arguments: { codigo: '433' } })).isError, true);
    });
});
