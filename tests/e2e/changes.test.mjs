// SPDX-License-Identifier: MIT
// Changes, told over stdio by a plugin's own thread: subscriptions of the modern era, subscribe and list_changed of the
// legacy ones. And what is served fits the protocol's own schemas, in every revision.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { META, ROOT, SHARED, SLACK, files, lastro, manifest, modern, needShared, session, sleep } from './lib.mjs';

const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const STAMP = META + 'subscriptionId';
const changing = () => ({ manifest: manifest(['changing']) });
const listen = (s, id, notifications) => s.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications, _meta: modern() } });
const told = (s, method) => s.messages.filter(m => m.method === `notifications/${method}`);
const acknowledged = (s, id) => s.receive(m => m.method === 'notifications/subscriptions/acknowledged' && m.params._meta[STAMP] === id, `acknowledgement of ${id}`);
const news = (s, method, id) => s.receive(m => m.method === `notifications/${method}` && m.params?._meta?.[STAMP] === id, `${method} for ${id}`);

test('a subscription is acknowledged, stamped, filtered, and ends when it is cancelled', async () => {
    await session(changing(), async s => {
        listen(s, 'a', { toolsListChanged: true, resourceSubscriptions: ['changing://counter', 'changing://item/5', 'changing://nowhere/1/2'] });
        listen(s, 0, { promptsListChanged: true });
        assert.deepEqual((await acknowledged(s, 'a')).params.notifications,
            { toolsListChanged: true, resourceSubscriptions: ['changing://counter', 'changing://item/5'] });
        assert.deepEqual((await acknowledged(s, 0)).params.notifications, { promptsListChanged: true });
        const from = s.messages.length;
        for (const args of [{ what: 'resource' }, { what: 'resource', uri: 'changing://item/5' }, { what: 'resource', uri: 'changing://item/6' },
            { what: 'resources' }, { what: 'tools' }, { what: 'prompts' }])
            await s.tool('set_off', args, { era: 'modern' });
        await news(s, 'prompts/list_changed', 0); // the last one: the thread works in order
        assert.deepEqual(s.messages.slice(from).filter(m => m.method).map(m => [m.method, m.params._meta[STAMP], m.params.uri]), [
            ['notifications/resources/updated', 'a', 'changing://counter'],
            ['notifications/resources/updated', 'a', 'changing://item/5'],
            ['notifications/tools/list_changed', 'a', undefined],
            ['notifications/prompts/list_changed', 0, undefined]]);
        s.notify('notifications/cancelled', { requestId: 'a' });
        const before = s.messages.length;
        await s.tool('set_off', { what: 'tools', times: 5 }, { era: 'modern' });
        await s.tool('set_off', { what: 'prompts' }, { era: 'modern' });
        await s.receive(m => m.method === 'notifications/prompts/list_changed', 'the later change', undefined, before);
        assert.equal(told(s, 'tools/list_changed').length, 1);
        assert.ok(!s.messages.some(m => m.id === 'a'), 'a cancelled subscription has no answer');
    });
});

test('at the end of input every open subscription gets its result, also while changes rain', async () => {
    await session(changing(), async s => {
        for (let i = 100; i < 120; i++) listen(s, i, { toolsListChanged: true });
        await acknowledged(s, 119);
        await s.tool('set_off', { what: 'tools', times: 1e6 }, { era: 'modern' });
        await news(s, 'tools/list_changed', 107);
        await s.close();
        for (let i = 100; i < 120; i++) {
            const mine = s.messages.filter(m => (m.id ?? m.params?._meta?.[STAMP]) === i);
            assert.equal(mine[0].method, 'notifications/subscriptions/acknowledged');
            assert.deepEqual(mine.at(-1).result?._meta?.[STAMP], i, 'the result is the last word');
            assert.equal(mine.at(-1).result.resultType, 'complete');
            assert.equal(mine.filter(m => 'result' in m).length, 1);
        }
    });
});

test('a thousand subscriptions fit on a connection, and one more is refused in words', async () => {
    await session(changing(), async s => {
        for (let i = 0; i < 1000; i++) listen(s, `s${i}`, { toolsListChanged: true });
        await acknowledged(s, 's999');
        listen(s, 'one more', {});
        const refused = await s.reply('one more');
        assert.match(refused.error.message, /too many subscriptions/);
        await s.tool('set_off', { what: 'tools' }, { era: 'modern' });
        await s.receive(() => told(s, 'tools/list_changed').length === 1000, 'a thousand notifications', 20000 * SLACK);
        assert.equal(new Set(told(s, 'tools/list_changed').map(m => m.params._meta[STAMP])).size, 1000);
        s.notify('notifications/cancelled', { requestId: 's500' });
        listen(s, 'one more', {});
        await acknowledged(s, 'one more');
    });
});

for (const version of LEGACY)
    test(`${version}: lists and watched resources`, async () => {
        await session(changing(), async s => {
            const init = await s.result('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'e2e', version: '1' } });
            assert.deepEqual([init.capabilities.tools, init.capabilities.prompts, init.capabilities.resources],
                [{ listChanged: true }, { listChanged: true }, { subscribe: true, listChanged: true }]);
            await s.result('ping');
            await sleep(30);
            assert.deepEqual(s.messages.filter(m => m.method), [], 'nothing is told before the client is ready');
            s.notify('notifications/initialized');
            for (const what of ['tools', 'prompts', 'resources']) {
                await s.tool('set_off', { what });
                const m = await s.receive(x => x.method === `notifications/${what}/list_changed`, what);
                assert.ok(!m.params?._meta, 'no stamp');
            }
            assert.deepEqual(await s.result('resources/subscribe', { uri: 'changing://counter' }), {});
            assert.deepEqual(await s.result('resources/subscribe', { uri: 'changing://item/1' }), {});
            assert.deepEqual((await s.error('resources/subscribe', { uri: 'changing://none' }, -32002)).data, { uri: 'changing://none' });
            await s.tool('set_off', { what: 'resource', uri: 'changing://item/2' });
            await s.tool('set_off', { what: 'resource' });
            const m = await s.receive(x => x.method === 'notifications/resources/updated', 'an update');
            assert.deepEqual(m.params, { uri: 'changing://counter' });
            const text = (await s.result('resources/read', { uri: m.params.uri })).contents[0].text;
            assert.ok(Number(text) >= 4, text);
            assert.deepEqual(await s.result('resources/unsubscribe', { uri: 'changing://counter' }), {});
            const from = s.messages.length;
            await s.tool('set_off', { what: 'resource' });
            await s.tool('set_off', { what: 'resource', uri: 'changing://item/1' });
            const next = await s.receive(x => x.method === 'notifications/resources/updated', 'the other one', undefined, from);
            assert.deepEqual(next.params, { uri: 'changing://item/1' });
        });
    });

test('both eras on one connection: each hears what it asked for', async () => {
    await session(changing(), async s => {
        await s.initialize('2025-11-25');
        listen(s, 'm', { resourceSubscriptions: ['changing://counter'] });
        await acknowledged(s, 'm');
        await s.tool('set_off', { what: 'tools' });
        await s.receive(m => m.method === 'notifications/tools/list_changed', 'the legacy notification');
        await s.tool('set_off', { what: 'resource' });
        await news(s, 'resources/updated', 'm');
        assert.equal(told(s, 'resources/updated').length, 1, 'the legacy side subscribed to nothing');
        assert.ok(told(s, 'tools/list_changed').every(m => !m.params), 'the modern side asked for no tools');
        await s.error('resources/subscribe', { uri: 'changing://counter', _meta: modern() }, -32601);
    });
});

// ---- what is served fits the schemas that the protocol publishes

const schemas = SHARED ? Object.fromEntries([...LEGACY, '2026-07-28'].map(v =>
    [v, JSON.parse(readFileSync(path.join(SHARED, `data/mcp-schema/${v}.json`), 'utf8'))])) : {};
const definitions = v => schemas[v].$defs ?? schemas[v].definitions;

/** The values have the form of that definition, by the program's own validator. */
async function fits(version, definition, values) {
    const base = schemas[version];
    const root = base.$defs ? { ...base, $ref: `#/$defs/${definition}` } : { ...base, $ref: `#/definitions/${definition}` };
    const dir = files({ 'schema.json': root, ...Object.fromEntries(values.map((v, i) => [`${i}.json`, v])) });
    const r = await lastro(['schema', 'check', path.join(dir, 'schema.json'), ...values.map((_, i) => path.join(dir, `${i}.json`))]);
    assert.equal(r.code, 0, `${version} ${definition}: ${r.stdout}${r.stderr}`);
}
/** No member that the revision does not know. */
function known(version, definition, value) {
    const names = Object.keys(definitions(version)[definition].properties);
    for (const k of Object.keys(value)) assert.ok(names.includes(k), `${version}: ${definition} has no ${k}`);
}

const conformance = path.join(ROOT, 'tests/conformance/manifest.json');
const everything = [conformance, undefined].filter(m => m === undefined || existsSync(m));
const lists = [['tools/list', 'tools', 'ListToolsResult', 'Tool'], ['resources/list', 'resources', 'ListResourcesResult', 'Resource'],
    ['resources/templates/list', 'resourceTemplates', 'ListResourceTemplatesResult', 'ResourceTemplate'],
    ['prompts/list', 'prompts', 'ListPromptsResult', 'Prompt']];

for (const version of [...LEGACY, '2026-07-28']) {
    const meta = version === '2026-07-28' ? { _meta: modern() } : {};
    const open = async s => version === '2026-07-28'
        ? ['DiscoverResult', await s.result('server/discover', meta)] : ['InitializeResult', await s.initialize(version)];

    test(`${version}: lists and capabilities fit the protocol's schema`, { skip: needShared }, async () => {
        for (const file of everything)
            await session({ manifest: file }, async s => {
                const [definition, hello] = await open(s);
                await fits(version, definition, [hello]);
                known(version, definition, hello);
                known(version, 'ServerCapabilities', hello.capabilities);
                for (const [method, member, result, item] of lists) {
                    const capability = member === 'resourceTemplates' ? 'resources' : member;
                    if (!hello.capabilities[capability]) continue;
                    const r = await s.result(method, meta);
                    await fits(version, result, [r]);
                    known(version, result, r);
                    for (const one of r[member]) {
                        known(version, item, one);
                        if (one.annotations && item !== 'Tool' && definitions(version).Annotations) known(version, 'Annotations', one.annotations);
                    }
                }
            });
    });

    test(`${version}: results of all kinds fit the protocol's schema`, { skip: needShared || !existsSync(conformance) }, async () => {
        await session({ manifest: conformance }, async s => {
            await open(s);
            const result = (method, params) => s.result(method, { ...params, ...meta });
            const calls = [];
            for (const name of ['test_simple_text', 'test_image_content', 'test_audio_content', 'test_embedded_resource',
                'test_multiple_content_types', 'test_resource_link', 'test_error_handling'])
                calls.push(await result('tools/call', { name, arguments: {} }));
            await fits(version, 'CallToolResult', calls);
            for (const c of calls) { known(version, 'CallToolResult', c); assert.ok(c.content.length, 'nothing is left out in silence'); }
            const prompts = [];
            for (const [name, args] of [['test_simple_prompt'], ['test_prompt_with_arguments', { arg1: 'a', arg2: 'b' }],
                ['test_prompt_with_embedded_resource', { resourceUri: 'test://x' }], ['test_prompt_with_image']])
                prompts.push(await result('prompts/get', { name, ...(args && { arguments: args }) }));
            await fits(version, 'GetPromptResult', prompts);
            const reads = [];
            for (const uri of ['test://static-text', 'test://static-binary', 'test://template/7/data']) reads.push(await result('resources/read', { uri }));
            await fits(version, 'ReadResourceResult', reads);
            if (version >= '2025-03-26')
                await fits(version, 'CompleteResult', [await result('completion/complete', { ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'p' } })]);
        });
    });

    test(`${version}: notifications fit the protocol's schema`, { skip: needShared }, async () => {
        await session(changing(), async s => {
            await open(s);
            if (version === '2026-07-28') {
                listen(s, 4711, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['changing://counter'] });
                await fits(version, 'SubscriptionsAcknowledgedNotification', [await acknowledged(s, 4711)]);
            } else {
                await s.result('resources/subscribe', { uri: 'changing://counter' });
            }
            for (const what of ['tools', 'prompts', 'resources', 'resource']) await s.tool('set_off', { what }, version === '2026-07-28' ? { era: 'modern' } : {});
            const updated = await s.receive(m => m.method === 'notifications/resources/updated', 'the last change');
            await fits(version, 'ResourceUpdatedNotification', [updated]);
            for (const [what, definition] of [['tools', 'Tool'], ['prompts', 'Prompt'], ['resources', 'Resource']])
                await fits(version, `${definition}ListChangedNotification`, told(s, `${what}/list_changed`));
            if (version === '2026-07-28') {
                await s.close();
                await fits(version, 'SubscriptionsListenResult', [s.messages.find(m => m.id === 4711).result]);
            }
        });
    });
}
