// SPDX-License-Identifier: MIT
// The protocol on standard streams: every row of the decision table, framing, ids, concurrency and the end of a session.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { BUILD, LASTRO, META, SLACK, Stdio, assertValid, cleanEnv, cpuMs, manifest, modern, session, sim, sleep, sources, until } from './lib.mjs';

const fixture = manifest(['fixture']);
const on = (fn, options = {}) => () => session({ manifest: fixture, ...options }, fn);
const ready = (fn, version) => on(async s => { await s.initialize(version); await fn(s); });
const rpc = (id, method, params) => ({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) });
const callOf = (id, name, args) => rpc(id, 'tools/call', { name, arguments: args });
const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const NEWEST_LEGACY = '2025-11-25';
const counts = async s => (await s.tool('fx_count')).structuredContent;

function refused(message, code) {
    assert.ok(message.error, `expected error ${code}, got ${JSON.stringify(message).slice(0, 300)}`);
    assert.equal(message.error.code, code, JSON.stringify(message.error));
}

describe('framing', () => {
    test('a line that is not JSON gets -32700 without id, and the session goes on', ready(async s => {
        for (const line of ['{', 'hello', '{"jsonrpc":"2.0","id":1,"method":"ping"', '{"a":1}}', '{"jsonrpc":"2.0",}', '"open', 'nul', "{'a':1}", '01']) {
            const m = await s.next(line);
            refused(m, -32700);
            assert.ok(!('id' in m), `${line}: no id`);
        }
        assert.deepEqual(await s.result('ping'), {});
    }));
    test('CRLF, blank lines and white space around a message are tolerated', ready(async s => {
        const from = s.messages.length;
        s.raw('\r\n\n\n   \n\r\n').raw(JSON.stringify(rpc('a', 'ping')) + '\r\n').raw(`  \t${JSON.stringify(rpc('b', 'ping'))}  \n`);
        await s.reply('a'); await s.reply('b');
        assert.deepEqual(s.messages.slice(from).map(m => m.id).sort(), ['a', 'b']);
    }));
    test('CRLF on the very first line does not end the session', on(async s => {
        s.raw(JSON.stringify(rpc(0, 'initialize', { protocolVersion: NEWEST_LEGACY, capabilities: {}, clientInfo: { name: 'e', version: '1' } })) + '\r\n');
        assert.equal((await s.reply(0)).result.protocolVersion, NEWEST_LEGACY);
    }));
    test('a last line without newline is answered at the end of input', async () => {
        const s = new Stdio({ manifest: fixture });
        await s.initialize();
        s.raw(JSON.stringify(rpc('last', 'ping'))).closeInput();
        await s.reply('last');
        assert.equal((await s.ended()).code, 0);
        s.check();
    });
    test('a Content-Length header gets one parse error, the message after it is served', ready(async s => {
        const from = s.messages.length, body = JSON.stringify(rpc('c', 'ping'));
        s.raw(`Content-Length: ${body.length}\r\n\r\n${body}\n`);
        await s.reply('c');
        const got = s.messages.slice(from);
        assert.equal(got.length, 2);
        refused(got[0], -32700);
    }));
    test('a character split between two writes stays whole', ready(async s => {
        const line = Buffer.from(JSON.stringify(callOf('u', 'fx_echo', { text: 'ç€😀' })) + '\n');
        for (const byte of line) { s.raw(Buffer.from([byte])); await new Promise(setImmediate); }
        assert.equal((await s.reply('u')).result.structuredContent.text, 'ç€😀');
    }));
    test('many messages in one write, and one message in many', ready(async s => {
        s.raw(Array.from({ length: 200 }, (_, i) => JSON.stringify(callOf(`m${i}`, 'fx_echo', { text: `${i}` })) + '\n').join(''));
        for (let i = 0; i < 200; i++) assert.equal((await s.reply(`m${i}`)).result.structuredContent.text, `${i}`);
    }));
    test('bytes that are not UTF-8 get -32700', ready(async s => {
        const wrap = bytes => Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":"'), Buffer.from(bytes), Buffer.from('"}}\n')]);
        for (const bytes of [[0xc0, 0xaf], [0xff], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3], [0x80]]) {
            const from = s.messages.length;
            s.raw(wrap(bytes));
            refused(await s.receive(() => true, 'an answer', undefined, from), -32700);
        }
        assert.deepEqual(await s.result('ping'), {});
    }));
    test('a lone surrogate is refused or replaced, never passed on', ready(async s => {
        for (const text of ['\\ud83d', '\\udcaf', '\\ud83dx', '\\udcaf\\ud83d']) {
            const m = await s.next(`{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"fx_echo","arguments":{"text":"${text}"}}}`);
            if (m.result && !m.result.isError) assert.ok(m.result.structuredContent.text.includes('\ufffd'));
            assert.ok(!/\\ud[89a-f]/i.test(s.lines.at(-1)), 'no escaped half of a pair goes out');
        }
        assert.equal((await s.tool('fx_echo', { text: '😀' })).structuredContent.text, '😀');
    }));
    test('U+2028, U+0000 and control characters come back as they were', ready(async s => {
        for (const text of ['a\u2028b\u2029', 'a\u0000b', '\u0001\u001f\u007f\t\n\r"\\/', '\ufeffx', ''])
            assert.equal((await s.tool('fx_echo', { text })).structuredContent.text, text);
    }));
    test('a byte order mark gets exactly one answer and does no harm', on(async s => {
        const from = s.messages.length;
        s.raw(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(rpc('bom', 'ping')) + '\n')]));
        const m = await s.receive(() => true, 'an answer', undefined, from);
        assert.ok(m.id === 'bom' || m.error?.code === -32700, JSON.stringify(m));
        await s.initialize();
    }));
    test('a line above the limit gets one error and the session goes on', async () => {
        await session({ manifest: manifest(['fixture'], { limits: { messageBytes: 65536 } }) }, async s => {
            await s.initialize();
            const m = await s.next(JSON.stringify(callOf('long', 'fx_echo', { text: 'x'.repeat(70000) })));
            assert.ok(m.error, JSON.stringify(m).slice(0, 200));
            assert.match(m.error.message, /65.?536|64 KiB/, 'it names the limit');
            assert.equal((await s.tool('fx_echo', { text: 'x'.repeat(60000) })).structuredContent.text.length, 60000);
            const again = await s.next('y'.repeat(1 << 20));
            assert.ok(again.error);
            assert.equal((await counts(s)).echo, 1);
        });
    });
    test('20 MB without a newline neither grow without bound nor end the session', ready(async s => {
        const from = s.messages.length;
        for (let i = 0; i < 20; i++) s.raw('z'.repeat(1 << 20));
        s.raw('\n');
        const m = await s.receive(() => true, 'an error', 20000, from);
        assert.ok(m.error);
        const rss = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${s.pid}/status`, 'utf8'))[1]) / 1024;
        if (SLACK === 1) assert.ok(rss < 80, `peak memory ${rss} MB`);
        assert.deepEqual(await s.result('ping'), {});
    }));
    test('depth is bounded', ready(async s => {
        const m = await s.next(`{"jsonrpc":"2.0","id":"deep","method":"ping","params":{"a":${'['.repeat(100000)}${']'.repeat(100000)}}}`);
        assert.ok(m.error || m.result, 'answered');
        assert.deepEqual(await s.result('ping'), {});
    }));
    test('replies carry no raw newline and arrive while the input stays open', ready(async s => {
        const r = await s.tool('fx_echo', { text: 'line 1\nline 2\r\n' });
        assert.equal(r.structuredContent.text, 'line 1\nline 2\r\n');
    }));
});

describe('messages that are no requests', () => {
    test('an array gets one -32600, nothing in it is executed', ready(async s => {
        for (const line of ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '[]', '[1]', '  [ {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fx_echo","arguments":{"text":"x"}}} ]']) {
            const from = s.messages.length;
            refused(await s.next(line), -32600);
            await s.silent('');
            assert.equal(s.messages.length, from + 2, 'one answer to the array, one to the ping');
        }
        assert.equal((await counts(s)).echo, 0);
    }));
    test('after 2025-03-26 was negotiated a batch is served', ready(async s => {
        s.send([rpc('p', 'ping'), { jsonrpc: '2.0', method: 'notifications/foo' }, callOf('q', 'fx_echo', { text: 'in a batch' })]);
        assert.deepEqual((await s.reply('p')).result, {});
        assert.match((await s.reply('q')).result.content[0].text, /in a batch/);
        refused(await s.next('[]'), -32600);
        refused(await s.next('[1]'), -32600);
        await s.silent('[{"jsonrpc":"2.0","method":"notifications/foo"}]');
    }, '2025-03-26'));
    test('a batch with a claim of the 2026 era is refused', ready(async s => {
        refused(await s.next([rpc('p', 'tools/list', { _meta: modern() })]), -32600);
    }, '2025-06-18'));
    test('scalars and objects that are no message get -32600', ready(async s => {
        for (const line of ['1', '"x"', 'null', 'true', '{}', '{"jsonrpc":"2.0"}', '{"id":1,"method":"ping"}', '{"jsonrpc":"1.0","id":1,"method":"ping"}',
            '{"jsonrpc":2.0,"id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":1,"method":5}', '{"jsonrpc":"2.0","id":1,"method":null}'])
            refused(await s.next(line), -32600);
    }));
    test('params that are neither object nor absent are an error', ready(async s => {
        for (const params of ['[]', '5', '"x"', 'null']) {
            const m = await s.next(`{"jsonrpc":"2.0","id":"p","method":"tools/list","params":${params}}`);
            assert.ok([-32600, -32602].includes(m.error?.code), JSON.stringify(m).slice(0, 200));
        }
    }));
    test('an id that is neither string nor integer gets -32600 and nothing runs', ready(async s => {
        for (const id of ['null', 'true', 'false', '[]', '{}', '1.5', '[1]', '1e-1']) {
            const m = await s.next(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"fx_echo","arguments":{"text":"x"}}}`);
            refused(m, -32600);
            assert.ok(!('id' in m), `${id}: no id in the answer`);
        }
        assert.equal((await counts(s)).echo, 0);
    }));
    test('ids come back with the same text and type', ready(async s => {
        for (const id of ['0', '-5', '9007199254740993', '"1"', '1', '""', '1e2', '3100.0', '"a\\u0000b"', '"ç😀"', '"a\\"b\\\\c"', '-0']) {
            await s.next(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
            const line = s.lines.at(-1);
            if (id.startsWith('"')) assert.equal(JSON.parse(line).id, JSON.parse(id));
            else assert.ok(new RegExp(`"id":${id.replace('.', '\\.')}[,}]`).test(line), `${id} in ${line}`);
        }
    }));
    test('"901" and 901 in flight together are two requests', ready(async s => {
        s.send(callOf(901, 'fx_slow', { ms: 200 })).send(callOf('901', 'fx_echo', { text: 'the string' }));
        assert.equal((await s.reply('901')).result.structuredContent.text, 'the string');
        assert.ok((await s.reply(901)).result.structuredContent.waited >= 200);
    }));
    test('notifications are never answered and a call without id is not executed', ready(async s => {
        for (const m of [{ jsonrpc: '2.0', method: 'notifications/initialized' }, { jsonrpc: '2.0', method: 'notifications/foo', params: { a: 1 } },
            { jsonrpc: '2.0', method: 'tools/call', params: { name: 'fx_echo', arguments: { text: 'x' } } },
            { jsonrpc: '2.0', method: 'no/such' }, { jsonrpc: '2.0', method: 'initialize', params: {} },
            { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'unknown' } },
            { jsonrpc: '2.0', method: 'notifications/cancelled' }, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1.5 } },
            { jsonrpc: '2.0', method: 'tools/call', params: { name: 'fx_echo', arguments: { text: 'x' }, _meta: modern() } }])
            await s.silent(JSON.stringify(m));
        assert.equal((await counts(s)).echo, 0);
    }));
    test('responses that match no question of the server are dropped', ready(async s => {
        await s.silent('{"jsonrpc":"2.0","id":99,"result":{}}');
        await s.silent('{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}');
    }));
});

describe('before and around initialize', () => {
    test('requests before initialize: ping works, discover -32602, others an error of the old era', on(async s => {
        assert.deepEqual(await s.result('ping'), {});
        await s.error('server/discover', {}, -32602);
        for (const [method, params] of [['tools/list', {}], ['tools/call', { name: 'fx_echo', arguments: { text: 'x' } }], ['no/such', {}]]) {
            const e = await s.error(method, params);
            assert.ok(e.code > -32020 || e.code < -32022, `${method}: ${e.code} would make a client think the server modern`);
        }
        await s.initialize();
        assert.equal((await counts(s)).echo, 0);
    }));
    for (const v of LEGACY)
        test(`initialize with ${v} is answered with it`, on(async s => {
            const r = await s.initialize(v);
            assert.equal(r.protocolVersion, v);
            assert.equal(typeof r.serverInfo.name, 'string');
            assert.equal(typeof r.serverInfo.version, 'string');
            assert.ok(r.capabilities.tools);
            for (const key of ['resultType', 'ttlMs', 'cacheScope', '_meta']) assert.ok(!(key in r), key);
            if (v < '2025-06-18') assert.ok(!('title' in r.serverInfo), 'no title before 2025-06-18');
            if (v < '2025-11-25') for (const k of ['description', 'icons', 'websiteUrl']) assert.ok(!(k in r.serverInfo), k);
            if (v < '2025-03-26') assert.ok(!('completions' in r.capabilities));
        }));
    for (const v of ['2099-01-01', '2026-07-28', '2024-10-07', 'v999.0.0', '', '2025-11-25 '])
        test(`initialize with the unknown version ${JSON.stringify(v)} is negotiated to ${NEWEST_LEGACY}`, on(async s => {
            assert.equal((await s.initialize(v)).protocolVersion, NEWEST_LEGACY);
        }));
    test('initialize with malformed params is -32602 and can be repeated well', on(async s => {
        await s.error('initialize', { protocolVersion: 5, capabilities: {}, clientInfo: { name: 'e', version: '1' } }, -32602);
        assert.equal((await s.initialize()).protocolVersion, NEWEST_LEGACY);
    }));
    test('the first real request of a session may have id 0', on(async s => {
        s.send(rpc(0, 'initialize', { protocolVersion: NEWEST_LEGACY, capabilities: {}, clientInfo: { name: 'e', version: '1' } }));
        assert.ok((await s.reply(0)).result);
    }));
    test('a request right behind initialize, before initialized was sent, is served', on(async s => {
        s.send(rpc('i', 'initialize', { protocolVersion: NEWEST_LEGACY, capabilities: {}, clientInfo: { name: 'e', version: '1' } })).send(rpc('l', 'tools/list'));
        assert.ok((await s.reply('l')).result.tools.length);
    }));
    test('an unknown method is -32601 in the old era', ready(async s => {
        await s.error('no/such', {}, -32601);
        await s.error('tools/lists', undefined, -32601);
        assert.ok([-32601, -32602].includes((await s.error('server/discover', {})).code));
    }));
});

describe('the 2026-07-28 era', () => {
    const m = (params = {}, meta) => ({ ...params, _meta: modern(meta) });
    test('discover works before, between and after legacy traffic', on(async s => {
        const check = async () => {
            const d = await s.result('server/discover', m());
            assert.deepEqual(d.supportedVersions, ['2026-07-28']);
            assert.ok(d.capabilities.tools);
            assert.equal(d.resultType, 'complete');
            assert.ok(Number.isInteger(d.ttlMs) && d.ttlMs >= 0);
            assert.ok(['public', 'private'].includes(d.cacheScope));
            const info = d._meta[META + 'serverInfo'];
            assert.equal(typeof info.name, 'string');
            assert.equal(typeof info.version, 'string');
        };
        await check();
        await s.initialize();
        await check();
        assert.ok((await s.result('tools/list')).tools.length);
        await check();
    }));
    test('a claim that this server cannot serve is -32022 with what it can', on(async s => {
        for (const v of ['v999.0.0', '2099-01-01', ...LEGACY, '']) {
            const e = await s.error('tools/list', { _meta: { ...modern(), [META + 'protocolVersion']: v } }, -32022);
            assert.deepEqual(e.data, { supported: ['2026-07-28'], requested: v });
        }
    }));
    test('a bad envelope is -32602', on(async s => {
        const v = META + 'protocolVersion', c = META + 'clientCapabilities';
        for (const meta of [{ [v]: 5 }, { [v]: null }, { [v]: '2026-07-28' }, { [v]: '2026-07-28', [c]: [] }, { [v]: '2026-07-28', [c]: 'x' }, { [v]: '2026-07-28', [c]: null }])
            await s.error('tools/list', { _meta: meta }, -32602);
    }));
    test('methods that 2026-07-28 does not have are -32601', on(async s => {
        for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'no/such'])
            await s.error(method, m(), -32601);
        // …and have changed nothing for the old era
        assert.equal((await s.initialize()).protocolVersion, NEWEST_LEGACY);
    }));
    test('lists carry resultType, ttlMs, cacheScope and serverInfo', on(async s => {
        const r = await s.result('tools/list', m());
        assert.equal(r.resultType, 'complete');
        assert.ok(Number.isInteger(r.ttlMs) && r.ttlMs >= 0);
        assert.ok(['public', 'private'].includes(r.cacheScope));
        assert.equal(typeof r._meta[META + 'serverInfo'].version, 'string');
        assert.ok(!('nextCursor' in r));
        for (const t of r.tools) assert.ok(t.title && t.outputSchema && t.annotations);
    }));
    test('a call is complete, structured and says who answered', on(async s => {
        const r = await s.tool('fx_echo', { text: 'x' }, { era: 'modern' });
        assert.equal(r.resultType, 'complete');
        assert.deepEqual(r.structuredContent, { text: 'x' });
        assert.equal(typeof r._meta[META + 'serverInfo'].name, 'string');
        assert.equal((await s.tool('fx_fail', {}, { era: 'modern' })).resultType, 'complete');
    }));
    test('_meta without the claim is the old era', ready(async s => {
        const r = await s.result('tools/call', { name: 'fx_echo', arguments: { text: 'x' }, _meta: { progressToken: 7 } });
        assert.ok(!('resultType' in r));
    }));
    test('after modern traffic initialize still begins the old era', on(async s => {
        await s.result('tools/list', m());
        const r = await s.request('initialize', { protocolVersion: NEWEST_LEGACY, capabilities: {}, clientInfo: { name: 'e', version: '1' } });
        assert.ok(r.result ? r.result.protocolVersion === NEWEST_LEGACY : r.error.code === -32022);
    }));
});

describe('lists', () => {
    test('any cursor that was not given out is -32602, in both eras', ready(async s => {
        for (const method of ['tools/list'])
            for (const cursor of ['bogus', '', 5, [], {}, 'MQ==']) {
                await s.error(method, { cursor }, -32602);
                await s.error(method, { cursor, _meta: modern() }, -32602);
            }
    }));
    test('the list is whole, in one order, and ends without nextCursor', ready(async s => {
        const one = await s.result('tools/list'), two = await s.result('tools/list', {});
        assert.deepEqual(one, two);
        assert.ok(!('nextCursor' in one));
        assert.equal(new Set(one.tools.map(t => t.name)).size, one.tools.length);
        assert.deepEqual(Object.keys(one), ['tools']);
    }));
    const members = { '2024-11-05': [], '2025-03-26': ['annotations'], '2025-06-18': ['annotations', 'title', 'outputSchema'], '2025-11-25': ['annotations', 'title', 'outputSchema'] };
    for (const [v, has] of Object.entries(members))
        test(`${v}: tools have name, description, inputSchema${has.map(h => ', ' + h).join('')} and nothing newer`, ready(async s => {
            for (const t of (await s.result('tools/list')).tools)
                assert.deepEqual(Object.keys(t).filter(k => k !== '_meta').sort(), ['name', 'description', 'inputSchema', ...has].sort(), t.name);
            const r = await s.tool('fx_echo', { text: 'x' });
            assert.equal('structuredContent' in r, v >= '2025-06-18');
            assert.deepEqual(JSON.parse(r.content[0].text), { text: 'x' });
            for (const key of ['resultType', 'ttlMs', 'cacheScope']) assert.ok(!(key in r), key);
        }, v));
    test('every tool of the shipped manifest has a description and object schemas', async () => {
        await session({}, async s => {
            await s.initialize();
            const { tools } = await s.result('tools/list');
            assert.ok(tools.length > 0);
            for (const t of tools) {
                assert.match(t.name, /^[A-Za-z0-9_.-]{1,128}$/);
                assert.ok(t.description);
                assert.equal(t.inputSchema.type, 'object');
                if (t.outputSchema) assert.equal(t.outputSchema.type, 'object');
            }
        });
    });
});

describe('arguments', () => {
    const bad = async (s, name, args, ...expected) => {
        const r = await s.tool(name, args);
        assert.equal(r.isError, true, JSON.stringify(r).slice(0, 300));
        assert.ok(!('structuredContent' in r));
        for (const e of expected) assert.match(r.content[0].text, e);
    };
    test('a value that breaks the schema is an isError result naming field, value and rule', ready(async s => {
        await bad(s, 'fx_echo', {}, /text/);
        await bad(s, 'fx_echo', { text: 5 }, /«text»/, /a text|string/, /\b5\b/);
        await bad(s, 'fx_echo', { text: null }, /text/, /null/);
        await bad(s, 'fx_echo', { text: 'x', n: 0 }, /\bn\b/, /\b0\b/, /\b1\b/);
        await bad(s, 'fx_echo', { text: 'x', n: 1.5 }, /\bn\b/, /1\.5/, /integer/);
        await bad(s, 'fx_echo', { text: 'x', n: '1' }, /\bn\b/, /integer/);
        await bad(s, 'fx_slow', { ms: 60001 }, /ms/, /60001/, /60000/);
        assert.equal((await counts(s)).echo, 0, 'the handler never ran');
    }));
    test('an unknown member is refused, with the valid names', ready(async s => {
        await bad(s, 'fx_echo', { text: 'x', txet: 'y' }, /txet/, /\btext\b/);
        await bad(s, 'fx_count', { anything: 1 }, /anything/);
    }));
    test('no arguments member is the same as an empty object', ready(async s => {
        assert.equal((await s.result('tools/call', { name: 'fx_count' })).structuredContent.echo, 0);
        assert.equal((await s.result('tools/call', { name: 'fx_echo' })).isError, true);
    }));
    test('an unknown tool and malformed params are -32602, in both eras', ready(async s => {
        for (const p of [{ name: 'no_such', arguments: {} }, { name: 'FX_ECHO', arguments: {} }, { name: '', arguments: {} }, { name: 5, arguments: {} }, { arguments: {} }, {},
            { name: 'fx_echo', arguments: [] }, { name: 'fx_echo', arguments: 'x' }, { name: 'fx_echo', arguments: 5 }]) {
            await s.error('tools/call', p, -32602);
            await s.error('tools/call', { ...p, _meta: modern() }, -32602);
        }
        await s.error('tools/call', undefined, -32602);
    }));
    test('_meta is not an argument', ready(async s => {
        assert.equal((await s.result('tools/call', { name: 'fx_echo', arguments: { text: 'x' }, _meta: { anything: 1 } })).structuredContent.text, 'x');
    }));
    test('a result that breaks its own schema is a clear error, logged with plugin and tool, and nothing false goes out', ready(async s => {
        const m = await s.request('tools/call', { name: 'fx_bad_output', arguments: {} });
        assert.ok(m.error || m.result.isError, JSON.stringify(m).slice(0, 300));
        assert.ok(!m.result?.structuredContent);
        await until(() => /fx_bad_output/.test(s.stderr) && /fixture/.test(s.stderr), 'the log to name plugin and tool');
    }));
    test('a failing call is an isError result without the half that was written', ready(async s => {
        const r = await s.tool('fx_fail');
        assert.equal(r.isError, true);
        assert.match(r.content[0].text, /nothing is there under that name/);
        assert.ok(!JSON.stringify(r).includes('half'));
    }));
    test('results are valid by the listed outputSchema', ready(async s => {
        const schemas = Object.fromEntries((await s.result('tools/list')).tools.map(t => [t.name, t.outputSchema]));
        await assertValid(schemas.fx_echo, (await s.tool('fx_echo', { text: 'x' })).structuredContent, 'fx_echo');
        await assertValid(schemas.fx_count, await counts(s), 'fx_count');
    }));
});

describe('concurrency', () => {
    test('a slow call never blocks a quick one', ready(async s => {
        s.send(callOf('slow', 'fx_slow', { ms: 1500 }));
        const t0 = Date.now();
        await s.tool('fx_echo', { text: 'x' });
        await s.result('ping');
        await s.result('tools/list');
        assert.ok(Date.now() - t0 < 1000 * Math.min(SLACK, 1.4), `${Date.now() - t0} ms`);
        assert.ok(!s.messages.some(m => m.id === 'slow'));
        await s.reply('slow');
    }));
    test('30 slow calls run side by side', ready(async s => {
        const t0 = Date.now();
        for (let i = 0; i < 30; i++) s.send(callOf(`s${i}`, 'fx_slow', { ms: 400 }));
        for (let i = 0; i < 30; i++) await s.reply(`s${i}`);
        assert.ok(Date.now() - t0 < 2500 * SLACK, `${Date.now() - t0} ms; one after the other it would be 12 s`);
    }));
    test('more calls than workers all get their answer', async () => {
        await session({ manifest: manifest(['fixture'], { limits: { workers: 2 } }) }, async s => {
            await s.initialize();
            for (let i = 0; i < 8; i++) s.send(callOf(`s${i}`, 'fx_slow', { ms: 50 }));
            assert.deepEqual(await s.result('ping'), {});
            for (let i = 0; i < 8; i++) assert.ok((await s.reply(`s${i}`)).result);
        });
    });
    test('cancelled stops the call and is never answered', ready(async s => {
        s.send(callOf('c', 'fx_slow', { ms: 20000 }));
        await until(async () => (await counts(s)).begun === 1, 'the handler to begin');
        s.notify('notifications/cancelled', { requestId: 'c', reason: 'no longer needed' });
        await until(async () => (await counts(s)).stopped === 1, 'the handler to stop');
        await sleep(50);
        assert.ok(!s.messages.some(m => m.id === 'c'), 'no answer to a cancelled request');
    }));
    test('cancelling works in the 2026 era too', on(async s => {
        const count = async () => (await s.tool('fx_count', {}, { era: 'modern' })).structuredContent;
        s.send(rpc('c', 'tools/call', { name: 'fx_slow', arguments: { ms: 20000 }, _meta: modern() }));
        await until(async () => (await count()).begun === 1, 'the handler to begin');
        s.notify('notifications/cancelled', { requestId: 'c', _meta: modern() });
        await until(async () => (await count()).stopped === 1, 'the handler to stop');
        assert.ok(!s.messages.some(m => m.id === 'c'));
    }));
    test('cancelling "905" leaves 905 alone', ready(async s => {
        s.send(callOf(905, 'fx_slow', { ms: 300 }));
        s.notify('notifications/cancelled', { requestId: '905' });
        assert.ok((await s.reply(905)).result.structuredContent.waited >= 300);
    }));
    test('a cancelled id can be used again', ready(async s => {
        s.send(callOf('again', 'fx_slow', { ms: 20000 }));
        await until(async () => (await counts(s)).begun === 1, 'the handler to begin');
        s.notify('notifications/cancelled', { requestId: 'again' });
        await until(async () => (await counts(s)).stopped === 1, 'the handler to stop');
        s.send(callOf('again', 'fx_echo', { text: 'second' }));
        assert.equal((await s.reply('again')).result.structuredContent.text, 'second');
    }));
    test('a cancel that crosses the answer does no harm', ready(async s => {
        for (let i = 0; i < 100; i++) {
            s.send(callOf(`x${i}`, 'fx_echo', { text: 'x' }));
            s.notify('notifications/cancelled', { requestId: `x${i}` });
        }
        assert.deepEqual(await s.result('ping'), {});
    }));
});

describe('a slow source', () => {
    let source;
    before(async () => { source = await sim(); });
    after(() => source?.stop());
    test('a call that waits for the source blocks nobody, and cancelling reaches the socket', async () => {
        await source.faults({ rules: [{ effect: { delay_ms: 8000 } }] });
        await session({ env: sources(source.url) }, async s => {
            await s.initialize();
            s.send(callOf('wait', 'bcb_serie_ultimos', { codigo: 433, quantidade: 3 }));
            await until(async () => (await source.requests()).in_flight > 0, 'the request to reach the source');
            assert.deepEqual(await s.result('ping'), {});
            const popular = await s.tool('bcb_series_populares', {});
            assert.ok(!popular.isError, popular.content?.[0]?.text);
            s.notify('notifications/cancelled', { requestId: 'wait' });
            await sleep(200);
            assert.ok(!s.messages.some(m => m.id === 'wait'));
            const t0 = Date.now();
            await s.close(); // nothing of the call is left to wait for
            assert.ok(Date.now() - t0 < 900 * SLACK, `${Date.now() - t0} ms to end after the only call was cancelled`);
        });
    });
});

describe('standard output belongs to the protocol', () => {
    test('with debug logging, a plugin that prints in init, call and thread, and a library that buffers', async () => {
        const noisy = manifest([{ name: 'fixture', library: `${BUILD}/test-plugins/fixture.so`, config: { print: true } }]);
        await session({ manifest: noisy, env: { LASTRO_LOG: 'debug' } }, async s => {
            await s.initialize();
            assert.ok((await s.result('tools/list')).tools.length);
            assert.equal((await s.tool('fx_print')).structuredContent.text, 'printed');
            await s.result('ping');
            await s.close(); // checks every line and the rest
            for (const where of ['printf in init', 'printf in a call', 'printf in a thread', 'write to descriptor 1'])
                assert.ok(s.stderr.includes(where), `stderr should have "${where}": ${s.stderr.slice(0, 500)}`);
        });
    });
});

describe('large answers', () => {
    test('5 MB come whole, and the next call is served', ready(async s => {
        const r = await s.tool('fx_big', { bytes: 2500000 }, { ms: 30000 });
        assert.equal(r.structuredContent.text.length, 2500000);
        assert.equal(r.content[0].text, JSON.stringify(r.structuredContent));
        assert.equal((await s.tool('fx_echo', { text: 'x' })).structuredContent.text, 'x');
    }));
    test('an answer above the limit is a bounded error and the session goes on', async () => {
        await session({ manifest: manifest(['fixture'], { limits: { resultBytes: 1000000 } }) }, async s => {
            await s.initialize();
            for (const bytes of [600000, 50000000]) { // 600,000 twice is above: both copies count
                const m = await s.request('tools/call', { name: 'fx_big', arguments: { bytes } }, 30000);
                const text = m.error?.message ?? (m.result.isError && m.result.content[0].text);
                assert.ok(text, 'an error');
                assert.match(text, /1[ ,.]?000[ ,.]?000|large|limit/i);
                assert.ok(JSON.stringify(m).length < 2000);
            }
            assert.equal((await s.tool('fx_big', { bytes: 100000 })).structuredContent.text.length, 100000);
        });
    });
    test('a reader that is slow gets everything in the end', ready(async s => {
        s.stdout.pause();
        for (let i = 0; i < 20; i++) s.send(callOf(`b${i}`, 'fx_big', { bytes: 200000 }));
        await sleep(500);
        s.stdout.resume();
        for (let i = 0; i < 20; i++) assert.equal((await s.reply(`b${i}`, 20000)).result.structuredContent.text.length, 200000);
    }));
});

describe('the end of a session', () => {
    const started = async () => { const s = new Stdio({ manifest: fixture }); await s.initialize(); return s; };
    const alive = pid => existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

    test('end of input with nothing in flight: exit 0 at once', async () => {
        const s = await started(), t0 = Date.now();
        await s.close();
        assert.ok(Date.now() - t0 < 500 * SLACK, `${Date.now() - t0} ms`);
    });
    test('no input at all: exit 0, nothing written', async () => {
        const s = new Stdio({ manifest: fixture });
        await s.close();
        assert.deepEqual(s.lines, []);
    });
    test('a call already read has its second to answer', async () => {
        const s = await started();
        s.send(callOf('late', 'fx_slow', { ms: 400 })).closeInput();
        assert.ok((await s.reply('late')).result.structuredContent.waited >= 400);
        assert.equal((await s.ended()).code, 0);
        s.check();
    });
    test('a call that takes longer is cancelled after a second, exit 0', async () => {
        const s = await started(), t0 = Date.now();
        s.send(callOf('long', 'fx_slow', { ms: 30000 })).closeInput();
        assert.equal((await s.ended(4000 * SLACK)).code, 0);
        const took = Date.now() - t0;
        assert.ok(took > 700 && took < 2000 * SLACK, `${took} ms`);
        assert.ok(!s.messages.some(m => m.id === 'long' && m.result && !m.result.isError));
        s.check();
    });
    test('a call that ignores its cancellation cannot hold the program', async () => {
        const s = await started();
        s.send(callOf('deaf', 'fx_deaf', { ms: 30000 })).closeInput();
        assert.equal((await s.ended(4000 * SLACK)).code, 0);
    });
    test('SIGTERM ends it', async () => {
        const s = await started();
        s.kill('SIGTERM');
        const e = await s.ended();
        assert.ok(e.code === 0 || e.signal === 'SIGTERM', JSON.stringify(e));
    });
    test('the reader of stdout is gone: exit 0, no SIGPIPE', async () => {
        const s = await started();
        s.stdout.destroy();
        s.send(callOf('p', 'fx_big', { bytes: 3000000 }));
        const first = await Promise.race([s.ended(), sleep(1500 * SLACK)]);
        if (!first) s.send(rpc('q', 'ping'));
        assert.deepEqual(first ?? await s.ended(), { code: 0, signal: null });
    });
    test('the death of the parent is noticed while the input stays open', async () => {
        const parent = spawn('bash', ['-c', '"$0" --manifest "$1" <&3 >&4 & echo $!; wait', LASTRO, fixture],
            { env: cleanEnv(), stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'pipe'] });
        const pid = await new Promise(r => parent.stdout.once('data', d => r(Number(d))));
        parent.stdio[3].on('error', () => {});
        const answered = new Promise(r => parent.stdio[4].once('data', r));
        parent.stdio[3].write(JSON.stringify(rpc(1, 'ping')) + '\n');
        await answered;
        parent.kill('SIGKILL');
        try { await until(() => !alive(pid), 'the orphan to end', 4000 * SLACK); }
        finally { if (alive(pid)) process.kill(pid, 'SIGKILL'); parent.stdio[3].destroy(); parent.stdio[4].destroy(); }
    });
    test('idle costs no CPU', async () => {
        const s = await started();
        s.send(callOf('one', 'fx_slow', { ms: 10 }));
        await s.reply('one');
        await sleep(200);
        const before = cpuMs(s.pid);
        await sleep(1500);
        const used = cpuMs(s.pid) - before;
        await s.close();
        assert.ok(used <= 20, `${used} ms of CPU in 1.5 s`);
    });
});
