// SPDX-License-Identifier: MIT
// The official Inspector's command line, in each of its eras, over stdio and over HTTP: it lists (--strict: schemas that are
// portable between clients), calls, reads and prompts. `scripts/setup clients` brings it; without it: skipped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { HOME } from '../clients/common.mjs';
import { serve } from './http.mjs';
import { LASTRO, ROOT, SLACK, cleanEnv, sim, sources, tempDir } from './lib.mjs';

const INSPECTOR = path.join(HOME, 'inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const [major, minor] = process.versions.node.split('.').map(Number);
const missing = !existsSync(path.join(HOME, 'inspector/.done')) ? 'the Inspector is not installed (scripts/setup clients)'
    : major < 22 || (major === 22 && minor < 19) ? `the Inspector needs Node 22.19 or newer, this is ${process.version} (scripts/setup test)` : false;

/** Runs it → what it printed, as JSON. It keeps files at home: it gets one of its own, and this Node first on its path. */
function inspector(args) {
    return new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [INSPECTOR, '--cli', ...args], { timeout: 60000 * SLACK,
            env: cleanEnv({ HOME: tempDir(), PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` }) });
        let out = '', err = '';
        child.stdout.on('data', d => { out += d; });
        child.stderr.on('data', d => { err += d; });
        child.on('error', reject);
        child.on('close', (code, signal) => {
            try {
                assert.equal(code, 0, `exit ${code ?? signal}`);
                resolve(JSON.parse(out).result ?? JSON.parse(out));
            } catch (e) { reject(new Error(`inspector ${args.join(' ')}: ${e.message}: ${out.slice(-1500)} ${err.slice(-1500)}`)); }
        });
    });
}

let source;
before(async () => { source = await sim(); });
after(() => source?.stop());

const FIXTURE = path.join(ROOT, 'tests/conformance/manifest.json');
const servers = [
    { what: 'fixture', manifest: FIXTURE, tests: {
        'tools/list --strict': [['--method', 'tools/list', '--strict'], r => assert.ok(r.tools.length > 40)],
        'tools/call': [['--method', 'tools/call', '--tool-name', 'greet', '--tool-args-json', '{"name":"Ana"}'], r => assert.equal(r.content[0].text, 'Hello, Ana!')],
        'resources/read': [['--method', 'resources/read', '--uri', 'test://static-text'], r => assert.match(r.contents[0].text, /static text resource/)],
        'prompts/get': [['--method', 'prompts/get', '--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=a', 'arg2=b'],
            r => assert.match(r.messages[0].content.text, /arg1='a', arg2='b'/)]
    } },
    { what: 'own manifest', manifest: null, tests: {
        'tools/list --strict': [['--method', 'tools/list', '--strict'], r => assert.ok(r.tools.some(t => t.name === 'bcb_variacao'))],
        'tools/call': [['--method', 'tools/call', '--tool-name', 'bcb_serie_ultimos', '--tool-args-json', '{"codigo":4390,"quantidade":2}'],
            r => assert.ok(r.structuredContent && !r.isError)]
    } }
];
const eras = { legacy: '2025-11-25', auto: '2026-07-28', modern: '2026-07-28' };

for (const { what, manifest, tests } of servers)
    for (const transport of ['stdio', 'http'])
        describe(`Inspector over ${transport}: ${what}`, { skip: missing, concurrency: 2 }, () => {
            let server;
            before(async () => { if (transport === 'http') server = await serve({ manifest, env: sources(source.url) }); });
            after(() => server?.stop());
            const ask = (era, args) => inspector([...(server ? [server.url.href] : []), '--transport', transport, '--protocol-era', era, ...args, '--format', 'json',
                ...(server ? [] : ['-q', LASTRO, '--source', `sgs=${source.url}`, ...(manifest ? ['--manifest', manifest] : [])])]); // it hands no environment on
            for (const [era, version] of Object.entries(eras)) {
                if (manifest) test(`${era}: speaks ${version}`, async () => assert.equal((await ask(era, ['--method', 'initialize'])).protocolVersion, version));
                for (const [name, [args, check]] of Object.entries(tests)) test(`${era}: ${name}`, async () => check(await ask(era, args)));
            }
        });
