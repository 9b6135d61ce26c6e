// SPDX-License-Identifier: MIT
// The official TypeScript SDK clients, v1 and v2, over stdio, in each of their eras: they list, call, and themselves
// check structuredContent against the listed outputSchema. `scripts/setup clients` brings them; without them: skipped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { HOME } from '../clients/common.mjs';
import { LASTRO, ROOT, SLACK, assertSane, cleanEnv, sim, sources } from './lib.mjs';

const missing = dir => existsSync(path.join(HOME, dir, '.done')) ? false : `the SDK is not installed (scripts/setup clients)`;

let source;
before(async () => { source = await sim(); });
after(() => source?.stop());

/** Runs a client script against the server; returns its report. */
function client(script, args) {
    return new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [path.join(ROOT, 'tests/clients', script), ...args, '--timeout', String(20000 * SLACK), '--stdio', LASTRO],
            { env: cleanEnv({ ...sources(source.url), ...(process.env.LASTRO_CACHE && { LASTRO_CACHE: process.env.LASTRO_CACHE }) }) });
        let out = '', err = '';
        child.stdout.on('data', d => { out += d; });
        child.stderr.on('data', d => { err += d; });
        child.on('error', reject);
        child.on('close', code => {
            try { assertSane(err); resolve({ code, ...JSON.parse(out) }); }
            catch (e) { reject(new Error(`${script} ${args.join(' ')}: exit ${code}, ${e.message}: ${out.slice(-2000)} ${err.slice(-2000)}`)); }
        });
    });
}

const IPCA_2024 = { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-12-31' };
const calls = [['bcb_variacao', IPCA_2024], ['bcb_serie_valores', IPCA_2024], ['bcb_serie_ultimos', { codigo: 4390, quantidade: 3 }],
    ['bcb_serie_metadados', { codigo: 189 }], ['bcb_series_populares', {}], ['bcb_series_populares', { categoria: 'inflação' }]];
const bad = ['bcb_variacao', { codigo: '433' }];
const kinds = [
    { name: 'SDK v1', script: 'v1.mjs', dir: 'sdk1', args: [], era: 'legacy', version: '2025-11-25' },
    { name: 'SDK v2, era legacy', script: 'v2.mjs', dir: 'sdk2', args: ['--era', 'legacy'], era: 'legacy', version: '2025-11-25' },
    { name: 'SDK v2, era auto', script: 'v2.mjs', dir: 'sdk2', args: ['--era', 'auto'], era: 'modern', version: '2026-07-28' },
    { name: 'SDK v2, era modern', script: 'v2.mjs', dir: 'sdk2', args: ['--era', 'modern'], era: 'modern', version: '2026-07-28' }
];

for (const k of kinds)
    describe(k.name, { skip: missing(k.dir) }, () => {
        let r; // one client process does it all
        before(async () => { r = await client(k.script, [...k.args, ...[...calls, bad].flatMap(([tool, args]) => ['--call', tool, '--args', JSON.stringify(args)])]); });
        test(`connects in the ${k.era} era and lists the tools`, () => {
            assert.equal(r.errors, undefined, JSON.stringify(r.errors));
            assert.equal(r.code, 0);
            assert.equal(r.era, k.era);
            assert.equal(r.protocolVersion, k.version);
            for (const [tool] of calls) assert.ok(r.tools.some(t => t.name === tool), tool);
        });
        for (const [i, [tool, args]] of calls.entries())
            test(`${tool} ${JSON.stringify(args)} gives a valid structured result`, () => {
                const call = r.calls[i], shown = JSON.stringify(call).slice(0, 2000);
                assert.equal(call.structuredContent, 'valid', shown);
                assert.ok(!call.result.isError, shown);
            });
        test('IPCA over 2024 is 4.8313 %', () => assert.equal(r.calls[0].result.structuredContent.analise.variacaoPercentual, 4.8313));
        test('a bad argument comes as isError, not as a failed request', () => assert.equal(r.calls.at(-1).result.isError, true));
    });
