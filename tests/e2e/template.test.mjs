// SPDX-License-Identifier: MIT
// The template plugin in the real host: one of everything that sdk/README.md promises, called once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import { BUILD, lastro, manifest, session } from './lib.mjs';

const dir = path.join(BUILD, 'template'), library = path.join(dir, 'template.so');
const own = path.join(dir, 'manifest.json'); // the one beside it, with a bare library name and currency EUR
const started = (fn, file = own) => session({ manifest: file }, async s => fn(s, await s.initialize()));

describe('the template plugin', () => {
    test('exports one symbol', () => {
        const names = execFileSync('nm', ['-D', '--defined-only', library]).toString().trim().split('\n').map(l => l.split(' ').pop());
        assert.deepEqual(names, ['lastro_plugin_entry']);
    });
    test('its tool: figures, configuration, the caller\'s digits', () => started(async (s, hello) => {
        assert.match(hello.instructions ?? '', /compound_interest/);
        const { tools } = await s.result('tools/list');
        assert.deepEqual(tools.map(t => t.name), ['compound_interest']);
        const r = await s.tool('compound_interest', { principal: 1000, rate: 1, periods: 12 });
        assert.equal(r.structuredContent.amount, 1126.83);
        assert.equal(r.structuredContent.interest, 126.83);
        assert.equal(r.structuredContent.currency, 'EUR');
        assert.deepEqual(JSON.parse(r.content[0].text), r.structuredContent);
        s.send('{"jsonrpc":"2.0","id":"digits","method":"tools/call","params":{"name":"compound_interest","arguments":' +
            '{"principal":1000.10,"rate":0.500,"periods":1}}}');
        await s.reply('digits');
        assert.match(s.lines.at(-1), /"principal":1000\.10,"rate":0\.500,/);
    }));
    test('its tool refuses what it cannot say in cents, and what the contract forbids', () => started(async s => {
        const big = await s.tool('compound_interest', { principal: 1e12, rate: 1000, periods: 1200 });
        assert.equal(big.isError, true);
        assert.match(big.content[0].text, /1 trillion/);
        const none = await s.tool('compound_interest', { principal: 1, rate: 1, periods: 0 });
        assert.equal(none.isError, true);
        assert.match(none.content[0].text, /periods/);
    }));
    test('without configuration the defaults hold', () => started(async s => {
        assert.equal((await s.tool('compound_interest', { principal: 1, rate: 0, periods: 1 })).structuredContent.currency, 'USD');
    }, manifest([{ name: 'template', library }])));
    test('its resource and its template resource', () => started(async s => {
        const { resources } = await s.result('resources/list');
        assert.deepEqual(resources.map(r => r.uri), ['interest://conventions']);
        const text = await s.result('resources/read', { uri: 'interest://conventions' });
        assert.match(text.contents[0].text, /No rounding/);
        assert.equal(text.contents[0].mimeType, 'text/plain');
        const { resourceTemplates } = await s.result('resources/templates/list');
        assert.deepEqual(resourceTemplates.map(r => r.uriTemplate), ['interest://growth/{rate}']);
        const table = await s.result('resources/read', { uri: 'interest://growth/10' });
        assert.deepEqual(JSON.parse(table.contents[0].text).slice(0, 3), [1.1, 1.21, 1.331]);
        const e = await s.error('resources/read', { uri: 'interest://growth/much' });
        assert.match(JSON.stringify(e), /much/);
    }));
    test('its completions', () => started(async s => {
        const complete = (ref, prefix) => s.result('completion/complete', { ref, argument: { name: 'rate', value: prefix } });
        const template = { type: 'ref/resource', uri: 'interest://growth/{rate}' }, prompt = { type: 'ref/prompt', name: 'compare_rates' };
        assert.deepEqual((await complete(template, '1')).completion.values, ['1', '1.5', '10']);
        assert.deepEqual((await complete(prompt, '')).completion.values, ['0.5', '1', '1.5', '2', '5', '10']);
    }));
    test('its prompt', () => started(async s => {
        const { prompts } = await s.result('prompts/list');
        assert.deepEqual(prompts.map(p => p.name), ['compare_rates']);
        const r = await s.result('prompts/get', { name: 'compare_rates', arguments: { rate: '2' } });
        assert.match(r.messages[0].content.text, /2 percent.*compound_interest/);
        await s.error('prompts/get', { name: 'compare_rates' });
    }));
    test('its shell command', async () => {
        const run = args => lastro(['run', 'template', 'table', ...args, '--manifest', own]);
        const r = await run(['10', '2']);
        assert.equal(r.code, 0, r.stderr);
        assert.equal(r.stdout, '1\t1.100000\n2\t1.210000\n');
        const none = await run([]);
        assert.equal(none.code, 2);
        assert.match(none.stderr, /RATE/);
        assert.match((await run(['--help'])).stdout, /table RATE \[PERIODS\]/);
    });
    test('from the shell, as the README says', async () => {
        const r = await lastro(['call', 'compound_interest', 'principal=1000', 'rate=1', 'periods=12', '--manifest', own]);
        assert.equal(r.code, 0, r.stderr);
        assert.match(r.stdout, /1126\.83/);
    });
    test('with its tool switched off the prompt goes too', () => started(async s => {
        const prompts = await s.request('prompts/list');
        assert.deepEqual((prompts.result?.prompts ?? []).map(p => p.name), []);
    }, manifest([{ name: 'template', library, tools: [] }])));
});
