// SPDX-License-Identifier: MIT
// lastro serve: where it listens and may listen, keys, health, and how it stops.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { LASTRO, ROOT, SLACK, files, lastro, manifest, sleep, tempDir, testPlugin, until } from './lib.mjs';
import { modernRequest, send, serve } from './http.mjs';

const plain = manifest(['fixture']), fixture = path.join(ROOT, 'tests/conformance/manifest.json');
const get = (at, path, more) => send(at, { method: 'GET', path, ...more });
const slow = (at, ms, more) => modernRequest(at, 'tools/call', { name: 'fx_slow', arguments: { ms } }, more);
const withServer = async (options, fn) => {
    const s = await serve({ manifest: plain, ...options });
    try { await fn(s); } catch (e) { s.kill('SIGKILL'); throw e; }
    await s.stop();
};
const refusal = async (args, { env, file = plain } = {}) => {
    const r = await lastro(['serve', ...(file ? ['--manifest', file] : []), ...args], { env, timeout: 20000 * SLACK });
    assert.equal(r.code, 2, `${args.join(' ')}: ${r.stderr}`);
    assert.equal(r.stdout, '');
    return r.stderr;
};
const ipv6 = await new Promise(r => { const s = net.createServer(); s.on('error', () => r(false)); s.listen(0, '::1', () => s.close(() => r(true))); });

describe('where it listens', () => {
    test('the real port of 127.0.0.1:0 is told, and answers', () => withServer({}, async s => {
        assert.match(s.stderr(), /^lastro: listening on http:\/\/127\.0\.0\.1:[1-9]\d*\/mcp$/m);
        const a = await modernRequest(s, 'server/discover');
        assert.equal(a.status, 200);
        assert.deepEqual(a.answer.result.supportedVersions, ['2026-07-28']);
    }));
    test('[::1] is this machine too', { skip: ipv6 ? false : 'no IPv6 here' }, () => withServer({ listen: '[::1]:0' }, async s => {
        assert.match(s.stderr(), /listening on http:\/\/\[::1\]:\d+\/mcp$/m);
        assert.equal((await modernRequest(s, 'server/discover')).status, 200);
    }));
    test('a unix socket; its name goes with the server', async () => {
        const at = path.join(tempDir(), 'lastro.sock');
        await withServer({ listen: `unix:${at}` }, async s => {
            assert.match(s.stderr(), new RegExp(`listening on unix:${at}, endpoint /mcp$`, 'm'));
            assert.ok(statSync(at).isSocket());
            assert.equal((await modernRequest(s, 'server/discover')).status, 200);
            // whoever it is called by: nothing but a proxy reaches it from a page
            assert.equal((await modernRequest(s, 'server/discover', {}, { headers: { host: 'mcp.example.org' } })).status, 200);
        });
        assert.ok(!existsSync(at));
    });
    test('the name that a dead server left is taken over, that of a living one is not', async () => {
        const at = path.join(tempDir(), 'lastro.sock');
        const first = await serve({ manifest: plain, listen: `unix:${at}` });
        const told = await refusal(['--listen', `unix:${at}`]);
        assert.match(told, /cannot listen at unix:/);
        assert.equal((await modernRequest(first, 'server/discover')).status, 200, 'the first one still serves');
        first.kill('SIGKILL');
        await first.ended;
        assert.ok(existsSync(at));
        await withServer({ listen: `unix:${at}` }, async s => assert.equal((await modernRequest(s, 'server/discover')).status, 200));
    });
    test('a taken port is said', () => withServer({}, async s => {
        assert.match(await refusal(['--listen', `127.0.0.1:${s.url.port}`]), /cannot listen at 127\.0\.0\.1:\d+: .*in use/i);
    }));
    test('option, else environment, else manifest', async () => {
        const listening = async (args, env, http) => {
            const s = await serve({ manifest: manifest(['fixture'], http ? { http } : {}), listen: null, args, env });
            await s.stop();
            return s.socket ?? s.url.host;
        };
        const d = tempDir(), at = n => `unix:${d}/${n}`;
        assert.equal(await listening([], {}, { listen: at('m') }), `${d}/m`);
        assert.equal(await listening([], { LASTRO_LISTEN: at('e') }, { listen: at('m') }), `${d}/e`);
        assert.equal(await listening(['--listen', at('o')], { LASTRO_LISTEN: at('e') }, { listen: at('m') }), `${d}/o`);
        assert.equal(await listening([`--listen=${at('p')}`], {}), `${d}/p`);
    });
    test('a socket of the service manager', { skip: spawnSync('systemd-socket-activate', ['--version']).status === 0 ? false : 'no systemd-socket-activate' }, async () => {
        const port = await new Promise(r => { const s = net.createServer(); s.listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => r(p)); }); });
        const starting = serve({ manifest: plain, listen: null, command: ['systemd-socket-activate', '-l', `127.0.0.1:${port}`, LASTRO], env: { LASTRO_LISTEN: '127.0.0.1:1' } });
        let first;
        await until(async () => { first ??= await get({ url: new URL(`http://127.0.0.1:${port}/`) }, '/health').catch(() => undefined); return first; }, 'an answer', 10000 * SLACK);
        const s = await starting;
        assert.equal(first.status, 200);
        assert.equal(s.url.port, String(port));
        await s.stop();
    });
});

describe('whom it serves', () => {
    test('beyond this machine only with keys, or when told so', async () => {
        const told = await refusal(['--listen', '0.0.0.0:0']);
        assert.match(told, /reachable from other machines.*lastro manifest key NAME.*--open/s);
        assert.match(await refusal([], { env: { LASTRO_LISTEN: '0.0.0.0:0' } }), /reachable from other machines/);
        assert.match(await refusal([], { file: manifest(['fixture'], { http: { listen: '[::]:0' } }) }), /reachable from other machines/);
        for (const options of [{ args: ['--open'] }, { env: { LASTRO_OPEN: '1' } }, { manifest: manifest(['fixture'], { http: { open: true } }) }])
            await withServer({ listen: '0.0.0.0:0', ...options }, async () => {});
        assert.match(await refusal(['--listen', '0.0.0.0:0', '--open=no'], { file: manifest(['fixture'], { http: { open: true } }) }), /reachable from other machines/);
    });
    test('a key that manifest key made opens, no other does; it is never logged', async () => {
        const made = async name => {
            const r = await lastro(['manifest', 'key', name]);
            assert.equal(r.code, 0);
            return { secret: /Authorization: Bearer (\S+)$/m.exec(r.stdout)[1], entry: JSON.parse(/^ {2}(\{.*\})$/m.exec(r.stdout)[1]) };
        };
        const ana = await made('ana'), bob = await made('b"ó"b');
        assert.match(ana.secret, /^lastro_[A-Za-z0-9_-]{43}$/);
        assert.notEqual(ana.secret, (await made('ana')).secret);
        assert.equal(bob.entry.name, 'b"ó"b');
        const file = manifest(['fixture'], { principals: [{ ...ana.entry, claims: { team: 'x' } }, bob.entry] });
        await withServer({ manifest: file, listen: '127.0.0.1:0', env: { LASTRO_LOG: 'debug' } }, async s => {
            const ask = authorization => modernRequest(s, 'tools/call', { name: 'fx_echo', arguments: { text: 'x' } }, { headers: authorization ? { authorization } : {} });
            for (const k of [ana, bob]) assert.equal((await ask(`Bearer ${k.secret}`)).status, 200);
            for (const bad of [undefined, 'Bearer', `Bearer ${ana.secret}x`, `Bearer ${ana.secret.slice(0, -1)}`, `Basic ${ana.secret}`, `Bearer ${ana.entry.key.slice(7)}`]) {
                const a = await ask(bad);
                assert.equal(a.status, 401, bad);
                assert.match(a.headers['www-authenticate'], /^Bearer/);
            }
            assert.equal((await get(s, '/health')).status, 200, 'whoever watches needs no key');
            assert.equal((await get(s, '/ready')).status, 200);
            assert.ok(!s.stderr().includes(ana.secret) && !s.stderr().includes(ana.secret.slice(7)) && !s.stderr().includes(ana.entry.key));
        });
        await withServer({ manifest: file, listen: '0.0.0.0:0' }, async () => {}); // keys are enough
    });
    test('bad keys in the manifest are refused with their line, and not repeated', async () => {
        const file = path.join(files({ 'm.json': '{"manifest":1,"name":"n","version":"1","plugins":[],\n"principals":[\n{"name":"ana","key":"hunter2"}]}' }), 'm.json');
        const told = await refusal([], { file });
        assert.match(told, /m\.json:3: principal "ana": "key" must be "sha256:"/);
        assert.doesNotMatch(told, /hunter2/);
    });
});

describe('what it refuses to start with', () => {
    test('a broken manifest: an operator is watching', async () => {
        const file = path.join(files({ 'm.json': '{"manifest":1,\n"nom":2}' }), 'm.json');
        assert.match(await refusal([], { file }), /m\.json:2: unknown member "nom"/);
    });
    test('settings that cannot be', async () => {
        const cases = [
            [['--listen', 'localhost:80'], /"localhost:80" is no address.*127\.0\.0\.1:8717/],
            [['--listen', '127.0.0.1:99999'], /is no address/],
            [['--listen'], /--listen needs a value/],
            [['--listen='], /--listen must be a text/],
            [['--listen', `unix:/nowhere/${'x'.repeat(200)}`], /cannot listen at unix:/],
            [['--sessions', 'many'], /--sessions must be a positive integer, at most 1000000; it is "many"/],
            [['--sessions', '0'], /--sessions must be/],
            [['--allowed-hosts', '*'], /http\.allowedHosts: "\*" is no name/],
            [['--allowed-origins', 'https://app.example.org/'], /http\.allowedOrigins: "https:\/\/app\.example\.org\/" is no origin/],
            [['--io-threads', '65'], /--io-threads must be .*at most 64/],
            [['--open=perhaps'], /--open must be yes or no/],
            [['--verbose'], /serve takes no "--verbose"/],
            [['extra'], /serve takes no "extra"/],
        ];
        for (const [args, what] of cases) assert.match(await refusal(args), what);
        assert.match(await refusal([], { env: { LASTRO_DRAIN_MS: '-1' } }), /LASTRO_DRAIN_MS must be a positive integer/);
    });
    test('--help tells every setting', async () => {
        const r = await lastro(['serve', '--help']);
        assert.equal(r.code, 0);
        for (const [option, env, member] of [['--listen', 'LASTRO_LISTEN', 'listen'], ['--open', 'LASTRO_OPEN', 'open'], ['--sse', 'LASTRO_SSE', 'sse'],
            ['--allowed-origins', 'LASTRO_ALLOWED_ORIGINS', 'allowedOrigins'], ['--drain-ms', 'LASTRO_DRAIN_MS', 'drainMs']])
            assert.ok(r.stdout.includes(option) && r.stdout.includes(env) && r.stdout.includes(`http.${member}`), option);
    });
});

describe('health', () => {
    let s;
    before(async () => { s = await serve({ manifest: manifest(['fixture', { name: 'gone', library: '/nowhere/secret-place.so', config: { password: 'hunter2' } }]) }); });
    after(() => s.stop());
    test('the process lives', async () => {
        const a = await get(s, '/health');
        assert.equal(a.status, 200);
        assert.match(a.headers['content-type'], /^application\/json/);
        assert.equal(a.headers['cache-control'], 'no-store');
        assert.deepEqual(JSON.parse(a.text), { status: 'ok' });
    });
    test('a plugin that is not loaded is named, and no more told', async () => {
        const a = await get(s, '/ready');
        assert.equal(a.status, 503);
        assert.deepEqual(JSON.parse(a.text), { notLoaded: ['gone'], status: 'incomplete' });
        assert.equal((await modernRequest(s, 'tools/call', { name: 'fx_echo', arguments: { text: 'x' } })).status, 200, 'the others serve');
    });
    test('HEAD says as much in its status', async () => {
        for (const [at, status] of [['/health', 200], ['/ready', 503]]) {
            const a = await send(s, { method: 'HEAD', path: at });
            assert.equal(a.status, status);
            assert.equal(a.text, '');
        }
    });
    test('only reading, only these paths; by any name, but to no foreign page', async () => {
        for (const method of ['POST', 'DELETE', 'PUT']) {
            const a = await send(s, { method, path: '/health', ...(method !== 'DELETE' && { body: '' }) });
            assert.equal(a.status, 405, method);
            assert.equal(a.headers.allow, 'GET, HEAD');
        }
        for (const at of ['/healthz', '/ready/', '/Health', '/%68ealth', '/status-of-the-weather']) assert.equal((await get(s, at)).status, 404, at);
        assert.equal((await get(s, '/health', { headers: { host: '10.1.2.3:8717' } })).status, 200, 'a probe calls it by an address');
        assert.equal((await get(s, '/health', { headers: { origin: 'http://evil.example' } })).status, 403);
    });
});

describe('how it stops', () => {
    test('what runs may end; nothing new is taken; SIGINT as SIGTERM', async () => {
        for (const signal of ['SIGTERM', 'SIGINT']) {
            const s = await serve({ manifest: plain });
            const running = slow(s, 700);
            await sleep(200);
            const began = Date.now();
            s.kill(signal);
            await until(() => new RegExp(`${signal}: stopping`).test(s.stderr()), 'the stop');
            await sleep(50);
            await assert.rejects(modernRequest(s, 'server/discover'), /ECONNREFUSED|ECONNRESET/);
            const a = await running;
            assert.equal(a.status, 200);
            assert.equal(a.answer.result.structuredContent.waited, 700);
            assert.deepEqual(await s.ended, { code: 0, signal: null });
            assert.ok(Date.now() - began < 4000 * SLACK);
        }
    });
    test('an open connection gets 503 for what it asks then', async () => {
        const s = await serve({ manifest: plain });
        const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        assert.equal((await get(s, '/ready', { agent })).status, 200);
        assert.equal((await modernRequest(s, 'server/discover', {}, { agent })).status, 200); // the connection that stays
        const running = slow(s, 900);
        await sleep(200);
        s.kill('SIGTERM');
        await until(() => /stopping/.test(s.stderr()), 'the stop');
        const a = await modernRequest(s, 'server/discover', {}, { agent });
        assert.equal(a.status, 503);
        assert.match(JSON.parse(a.text).error.message, /stopping/);
        await running;
        assert.deepEqual(await s.ended, { code: 0, signal: null });
        agent.destroy();
    });
    test('what takes longer than drainMs is cancelled', async () => {
        const s = await serve({ manifest: plain, args: ['--drain-ms', '300'] });
        const running = slow(s, 60000).then(a => a, e => e);
        await sleep(200);
        const began = Date.now();
        s.kill('SIGTERM');
        assert.deepEqual(await s.ended, { code: 0, signal: null });
        const took = Date.now() - began;
        assert.ok(took >= 250 && took < 3000 * SLACK, `${took} ms`);
        await running;
    });
    test('a handler that never listens does not hold it', async () => {
        const s = await serve({ manifest: plain, args: ['--drain-ms', '100'] });
        const running = modernRequest(s, 'tools/call', { name: 'fx_deaf', arguments: { ms: 30000 } }).catch(e => e);
        await sleep(300);
        const began = Date.now();
        s.kill('SIGTERM');
        assert.deepEqual(await s.ended, { code: 0, signal: null });
        assert.ok(Date.now() - began < 3000 * SLACK);
        assert.match(s.stderr(), /did not end when it was cancelled/);
        await running;
    });
    test('a second signal ends it at once', async () => {
        const s = await serve({ manifest: plain, args: ['--drain-ms', '60000'] });
        const running = slow(s, 50000).catch(e => e);
        await sleep(200);
        s.kill('SIGTERM');
        await until(() => /stopping/.test(s.stderr()), 'the stop');
        await sleep(50);
        const began = Date.now();
        s.kill('SIGTERM');
        assert.deepEqual(await s.ended, { code: 1, signal: null });
        assert.ok(Date.now() - began < 2000 * SLACK);
        await running;
    });
    test('open subscriptions get their final result', async () => {
        const s = await serve({ manifest: plain });
        let acknowledged;
        const open = modernRequest(s, 'subscriptions/listen', { notifications: {} }, { on: m => { acknowledged ||= m.method === 'notifications/subscriptions/acknowledged'; } });
        await until(() => acknowledged, 'the acknowledgement');
        const began = Date.now();
        s.kill('SIGTERM');
        const a = await open;
        assert.equal(a.answer.result.resultType, 'complete');
        assert.deepEqual(await s.ended, { code: 0, signal: null });
        assert.ok(Date.now() - began < 3000 * SLACK, 'nothing else was waited for');
    });
});

test('a client that leaves in the middle of a large answer ends nothing', () => withServer({}, async s => {
    for (let i = 0; i < 5; i++)
        await new Promise((resolve, reject) => {
            const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'fx_big', arguments: { bytes: 5000000 }, _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } });
            const c = net.connect(Number(s.url.port), '127.0.0.1', () => c.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
                `Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: fx_big\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
            c.once('data', d => { c.resetAndDestroy(); d.length > 0 ? resolve() : reject(new Error('nothing came')); });
            c.on('error', reject);
        });
    assert.equal((await modernRequest(s, 'server/discover')).status, 200);
}));

test('streams that end leave nothing, also while a connection idles', () => withServer({ manifest: fixture, args: ['--sse', '--io-threads', '1'] }, async s => {
    const descriptors = () => readdirSync(`/proc/${s.pid}/fd`).length, idle = new http.Agent({ keepAlive: true });
    assert.equal((await modernRequest(s, 'server/discover', {}, { agent: idle })).status, 200);
    const before = descriptors();
    for (let i = 0; i < 3; i++)
        await Promise.all(Array.from({ length: 30 }, (_, n) => n % 2 ? get(s, '/sse', { on: (_, leave) => setTimeout(leave, 5) })
            : modernRequest(s, 'subscriptions/listen', { notifications: {} }, { on: (_, leave) => setTimeout(leave, 5) })));
    await until(() => descriptors() <= before + 2, 'the descriptors to be closed', 5000);
    idle.destroy();
}));

test('HTTP/1.0: the end of a stream is the end of the connection, also while another idles', () => withServer({ manifest: fixture, args: ['--io-threads', '1'] }, async s => {
    const idle = new http.Agent({ keepAlive: true });
    assert.equal((await modernRequest(s, 'server/discover', {}, { agent: idle })).status, 200);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'test_tool_with_progress', arguments: {}, _meta: { progressToken: 1,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } });
    for (let i = 0; i < 3; i++) {
        let all = '', last;
        await new Promise((resolve, reject) => {
            const c = net.connect(Number(s.url.port), '127.0.0.1', () => c.write(`POST /mcp HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
                `MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: test_tool_with_progress\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
            c.on('data', d => { all += d; last = Date.now(); });
            c.on('end', resolve);
            c.on('error', reject);
            c.setTimeout(10000 * SLACK, () => { c.destroy(); reject(new Error(`no end after ${all}`)); });
        });
        assert.match(all, /^HTTP\/1\.[01] 200 [^]*"progress":100[^]*"result":/);
        assert.doesNotMatch(all, /transfer-encoding/i);
        assert.ok(Date.now() - last < 500 * SLACK, `the end came ${Date.now() - last} ms after the last byte`);
    }
    idle.destroy();
}));
