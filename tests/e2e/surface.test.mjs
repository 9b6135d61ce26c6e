// SPDX-License-Identifier: MIT
// The surface: what the manifest promises is what is served, the same bytes on every way, and no text sends the model
// to a tool that is not there.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BUILD, ROOT, lastro, modern, session, tempDir } from './lib.mjs';

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const committed = () => JSON.parse(readFileSync(path.join(ROOT, 'manifest.json'), 'utf8'));
/** A copy of the build's manifest with changes, its libraries still found beside the program. */
function changed(change) {
    const m = JSON.parse(readFileSync(path.join(BUILD, 'manifest.json'), 'utf8'));
    change(m);
    const file = path.join(tempDir(), 'manifest.json');
    writeFileSync(file, JSON.stringify(m));
    return file;
}

test('the committed manifest lists exactly what is served', async () => {
    const r = await lastro(['manifest', 'check']);
    assert.equal(r.code, 0, r.stdout);
    const built = JSON.parse(readFileSync(path.join(BUILD, 'manifest.json'), 'utf8'));
    for (const p of built.plugins) { assert.match(p.sha256, /^[0-9a-f]{64}$/); delete p.sha256; }
    assert.deepEqual(built, committed(), 'build/manifest.json is the committed one plus hashes');
});

const drifts = {
    'a description': m => { m.listing.tools[0].description += '!'; },
    'a schema digest': m => { m.listing.tools[1].inputSchema = m.listing.tools[1].inputSchema.replace(/.$/, c => c === '0' ? '1' : '0'); },
    'an annotation': m => { m.listing.tools[0].annotations.readOnlyHint = false; },
    'a title gone': m => { delete m.listing.tools[0].title; },
    'a tool that is not served': m => { m.listing.tools.push({ ...m.listing.tools[0], name: 'bcb_outra' }); },
    'a served tool not listed': m => { m.listing.tools.pop(); },
    'the version': m => { m.version = '9.9.9'; },
    'a plugin hash': m => { m.plugins[0].sha256 = '0'.repeat(64); },
    'no listing': m => { delete m.listing; }
};
for (const [what, change] of Object.entries(drifts))
    test(`manifest check sees ${what}`, async () => {
        const r = await lastro(['manifest', 'check', '--manifest', changed(change)]);
        assert.equal(r.code, 1, r.stdout + r.stderr);
        assert.match(r.stdout, /differ|listed|served|version|not loaded/);
    });
test('manifest check does not mind the order of members', async () => {
    const file = changed(m => { m.listing.tools[0] = Object.fromEntries(Object.entries(m.listing.tools[0]).reverse()); });
    const r = await lastro(['manifest', 'check', '--manifest', file]);
    assert.equal(r.code, 0, r.stdout);
});

test('shell and stdio serve the same bytes', async () => {
    const shell = await lastro(['list', 'tools', '--json']);
    await session({}, async s => {
        await s.initialize('2025-11-25');
        const from = s.lines.length;
        await s.request('tools/list', {});
        const line = s.lines[from];
        assert.ok(line.endsWith(`"result":${shell.stdout.trim()}}`), 'tools/list on stdio is what lastro list --json prints');
    });
});

test('members that a revision does not know are left out', async () => {
    for (const rev of revisions)
        await session({}, async s => {
            await s.initialize(rev);
            const tools = (await s.result('tools/list', {})).tools;
            assert.deepEqual(tools.map(t => t.name), committed().listing.tools.map(t => t.name));
            for (const t of tools) {
                assert.equal('annotations' in t, rev >= '2025-03-26', rev);
                assert.equal('title' in t, rev >= '2025-06-18', rev);
                assert.equal('outputSchema' in t, rev >= '2025-06-18', rev);
                assert.ok(!('language' in t), 'language is the host\'s');
            }
        });
});

test('the modern list has the same tools, and says how long it holds', async () => {
    await session({}, async s => {
        const r = await s.result('tools/list', { _meta: modern() });
        assert.equal(r.resultType, 'complete');
        assert.ok(Number.isInteger(r.ttlMs) && r.ttlMs >= 0 && ['public', 'private'].includes(r.cacheScope));
        await s.initialize('2025-11-25');
        const legacy = await s.result('tools/list', {});
        assert.deepEqual(r.tools, legacy.tools);
    });
});

/** Every object of a published schema that has properties is closed. */
function open(schema, at, found) {
    if (schema === null || typeof schema !== 'object') return;
    if (schema.properties && schema.additionalProperties !== false && typeof schema.additionalProperties !== 'object') found.push(at);
    for (const [k, v] of Object.entries(schema)) open(v, `${at}/${k}`, found);
}
test('published schemas are flat and closed', async () => {
    const { tools } = (await lastro(['list', '--json'])).json();
    assert.ok(tools.length > 0);
    for (const t of tools) {
        const found = [];
        open(t.inputSchema, `${t.name}/inputSchema`, found);
        open(t.outputSchema, `${t.name}/outputSchema`, found);
        assert.deepEqual(found, [], 'objects without additionalProperties');
        assert.doesNotMatch(JSON.stringify(t), /"\$ref"|"\$fragment"/);
        assert.ok(t.outputSchema.required.includes('provenance') && t.outputSchema.required.includes('attribution'), t.name);
    }
});

test('no text names a tool that is not served', async () => {
    const { tools } = (await lastro(['list', '--json'])).json();
    const served = new Set(tools.map(t => t.name));
    const texts = [['manifest.json', readFileSync(path.join(ROOT, 'manifest.json'), 'utf8')]];
    for (const dir of ['plugins/sgs', 'plugins/stats', 'schemas', 'catalog'])
        for (const f of readdirSync(path.join(ROOT, dir)).filter(f => /\.(c|h|json)$/.test(f)))
            texts.push([`${dir}/${f}`, readFileSync(path.join(ROOT, dir, f), 'utf8')]);
    for (const [file, text] of texts)
        for (const [name] of text.matchAll(/\bbcb_[a-z_]*[a-z]\b(?!\()/g))
            assert.ok(served.has(name), `${file} names ${name}, which nobody serves`);
});

test('a disabled tool is absent from list, call and instructions', async () => {
    const file = changed(m => { m.plugins[0].tools = ['bcb_serie_valores']; delete m.listing; });
    await session({ manifest: file }, async s => {
        const r = await s.initialize();
        const names = (await s.result('tools/list', {})).tools.map(t => t.name);
        assert.deepEqual(names, ['bcb_serie_valores', 'bcb_variacao']);
        const e = await s.error('tools/call', { name: 'bcb_serie_ultimos', arguments: { codigo: 433 } }, -32602);
        assert.match(e.message, /bcb_serie_ultimos/);
        assert.ok(r.instructions.length > 0);
    });
});

test('stats without sgs is not loaded and says why', async () => {
    const file = changed(m => { m.plugins[0].enabled = false; delete m.listing; });
    const r = await lastro(['list', 'plugins', '--manifest', file]);
    assert.match(r.stdout, /stats.*not loaded.*"series" version 1/);
    const tools = await lastro(['list', '--manifest', file]);
    assert.equal(tools.stdout, '');
});

test('what --source says is used or told', async () => {
    for (const value of ['sgs=http://example.com', 'sgs=https://user:pw@example.com', 'sgs', '=http://127.0.0.1:9', 'sgs=ftp://x']) {
        const r = await lastro(['--source', value, 'list']);
        assert.equal(r.code, 2, value);
        assert.match(r.stderr, /--source/);
        assert.doesNotMatch(r.stderr, /pw/);
    }
    const unknown = await lastro(['--source', 'nobody=http://127.0.0.1:9', 'list']);
    assert.match(unknown.stderr, /nobody.*no loaded plugin/);
    const env = await lastro(['list', 'plugins', '--json'], { env: { LASTRO_SOURCE_SGS: 'http://example.com' } });
    const sgs = env.json().plugins.find(p => p.name === 'sgs');
    assert.equal(sgs.loaded, false);
    assert.match(sgs.reason, /loopback/);
});

test('list plugins --json is JSON, with tools and reasons', async () => {
    const { plugins } = (await lastro(['list', 'plugins', '--json'])).json();
    assert.deepEqual(plugins.map(p => [p.name, p.loaded, p.reason]), [['sgs', true, null], ['stats', true, null]]);
    assert.ok(plugins[1].tools.includes('bcb_variacao'));
});

test('the snapshot tells a window without observation from one it does not reach', async () => {
    const weekend = await lastro(['--offline', 'call', 'bcb_serie_valores', 'codigo=1', 'dataInicial=2024-07-06', 'dataFinal=2024-07-07']);
    assert.equal(weekend.code, 1);
    assert.match(weekend.stderr, /cobre o período pedido/);
    const early = await lastro(['--offline', 'call', 'bcb_serie_valores', 'codigo=1', 'dataInicial=2001-07-06', 'dataFinal=2001-07-07']);
    assert.match(early.stderr, /só vai de/);
});

test('no figure of the snapshot looks younger than its extraction', async () => {
    const r = (await lastro(['--offline', 'call', 'bcb_serie_valores', 'codigo=432', 'dataInicial=2026-06-18', 'dataFinal=2026-06-20', '--json'])).json();
    assert.match(r.structuredContent.avisos.join(' '), /entre 13\/04\/2026 e 21\/08\/2026/);
    assert.equal(r.structuredContent.provenance.retrieved_at, '2026-04-13T00:00:00-03:00', 'the oldest reading');
});
