// SPDX-License-Identifier: MIT
// What the host does with manifests and plugins that are wrong: each is refused with its reason, the rest serves.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { BUILD, files, lastro, manifest, session, tempDir, testPlugin } from './lib.mjs';

const entry = (name, library, more = {}) => ({ name, library, ...more });
const names = async s => (await s.result('tools/list')).tools.map(t => t.name);

/** Loads `plugins` beside the good one; returns the session's tools and log after checking that the good one serves. */
async function load(plugins, { env, cwd, extra } = {}) {
    let tools, log;
    await session({ manifest: manifest([...plugins, 'good'], extra), env, cwd }, async s => {
        await s.initialize();
        tools = await names(s);
        assert.ok(tools.includes('odd_good'), `the good plugin still serves: ${tools}\n${s.stderr}`);
        assert.equal((await s.tool('odd_good')).structuredContent.who, 'good');
        for (const t of tools.filter(t => t !== 'odd_good')) await s.tool(t);
        await s.close();
        log = s.stderr;
    });
    return { tools, log };
}
async function refused(plugins, ...why) {
    const { tools, log } = await load(plugins);
    assert.deepEqual(tools, ['odd_good']);
    for (const w of why) assert.match(log, w);
    return log;
}

describe('the manifest', () => {
    // A manifest that cannot be trusted as a whole loads nothing. A command ends with status 2 and says where it is wrong;
    // on stdio the client is still answered, without tools and with the reason in the instructions.
    const broken = async (text, ...why) => {
        const file = path.join(files({ 'manifest.json': text }), 'manifest.json');
        await session({ manifest: file }, async s => {
            const r = await s.initialize();
            assert.match(r.instructions, /manifest/);
            assert.deepEqual((await s.result('tools/list', {})).tools, []);
            for (const w of [/manifest\.json/, ...why]) { assert.match(s.stderr, w); assert.match(r.instructions, w); }
        });
        for (const args of [['list', 'tools'], ['call', 'odd_good']]) {
            const r = await lastro([...args, '--manifest', file]);
            assert.equal(r.code, 2, `${args}: ${r.stderr}`);
            assert.equal(r.stdout, '');
            for (const w of [/manifest\.json/, ...why]) assert.match(r.stderr, w);
        }
    };
    const base = { manifest: 1, name: 'x', version: '1', plugins: [] };
    test('that is not JSON: the log says line and column', () => broken('{\n  "manifest": 1,\n  "name": \n}\n', /manifest\.json[:,] ?(line )?4[:,] ?(column )?1\b/));
    test('that ends early', () => broken('{"manifest": 1, "plugins": [', /[:,] ?(line )?1[:,]/));
    test('that is empty', () => broken('', /manifest\.json/));
    test('that is another JSON value', () => broken('[]', /object/));
    test('with an unknown member: it is named', () => broken(JSON.stringify({ ...base, plugin: [] }), /"?plugin"?/, /unknown/));
    test('of a later format: both numbers are named', () => broken(JSON.stringify({ ...base, manifest: 2 }), /\b2\b/, /\b1\b/));
    test('with a member of the wrong kind: it is named', () => broken(JSON.stringify({ ...base, name: 5 }), /name/));
    test('with a repeated member: it is named', () => broken('{"manifest":1,"name":"x","name":"y","version":"1","plugins":[]}', /name/));
    test('with one name for two plugins', () => broken(JSON.stringify({ ...base, plugins: [entry('good', testPlugin('good')), entry('good', testPlugin('other'))] }), /good/));
    test('that is missing, given by --manifest: an error that names it', async () => {
        const r = await lastro(['list', 'tools', '--manifest', path.join(tempDir(), 'none.json')]);
        assert.notEqual(r.code, 0);
        assert.match(r.stderr, /none\.json/);
        assert.equal(r.stdout, '');
    });
    test('LASTRO_MANIFEST names one, --manifest wins over it', async () => {
        const a = manifest(['good']), b = manifest(['other']);
        const r1 = await lastro(['list', 'tools'], { env: { LASTRO_MANIFEST: a } });
        assert.match(r1.stdout, /odd_good/);
        const r2 = await lastro(['list', 'tools', '--manifest', b], { env: { LASTRO_MANIFEST: a } });
        assert.match(r2.stdout, /odd_other/);
        assert.ok(!r2.stdout.includes('odd_good'));
    });
    test('the working directory never matters', async () => {
        const cwd = path.dirname(manifest(['other']));
        const r = await lastro(['list', 'tools'], { cwd });
        assert.equal(r.code, 0, r.stderr);
        assert.ok(!r.stdout.includes('odd_other'), 'a manifest in the working directory is not picked up');
    });
    test('without plugins the server serves nothing, well', async () => {
        await session({ manifest: manifest([]) }, async s => {
            await s.initialize();
            const r = await s.request('tools/list');
            assert.ok(r.error?.code === -32601 || r.result.tools.length === 0);
        });
    });
});

describe('a library that cannot be had', () => {
    test('missing file', () => refused([entry('gone', '/nonexistent/gone.so')], /gone/, /No such file|not exist|neither/i));
    test('missing bare name: the places that were searched', () => refused([entry('gone', 'gone.so')], /gone\.so/, /plugins/));
    test('not an ELF file', () => refused([entry('text', path.join(files({ 'text.so': 'hello\n' }), 'text.so'))], /text/, /ELF/));
    test('an empty file', () => refused([entry('empty', path.join(files({ 'empty.so': '' }), 'empty.so'))], /empty/));
    test('a cut file', () => {
        const whole = readFileSync(testPlugin('other'));
        return refused(['cut1', 'cut2', 'cut3'].map((n, i) =>
            entry(n, path.join(files({ [`${n}.so`]: whole.subarray(0, [60, 200, whole.length >> 1][i]) }), `${n}.so`))), /cut1/, /cut2/, /cut3/);
    });
    test('a shared library that is no plugin', async () => {
        const libc = execFileSync('sh', ['-c', 'ldconfig -p 2>/dev/null | sed -n "s/.*libm.so.6.* => //p" | head -n 1; ls /lib/*/libm.so.6 | head -n 1']).toString().split('\n')[0];
        await refused([entry('libm', libc)], /libm/);
    });
    test('a directory', () => refused([entry('dir', path.dirname(path.join(files({ 'd.so/x': '' }), 'd.so/x')))], /dir/, /regular file|directory/i));
    test('a FIFO: nothing waits on it', async () => {
        const d = tempDir();
        execFileSync('mkfifo', [path.join(d, 'x.so')]);
        await refused([entry('fifo', path.join(d, 'x.so'))], /fifo/, /regular file/);
    });
    test('a name with a folder in it', () => refused([entry('up', '../x.so'), entry('down', 'plugins/x.so'), entry('dot', './x.so')], /\.\.\/x\.so/, /plugins\/x\.so/, /bare/));
    test('a bare name in the working directory is not picked up', async () => {
        const cwd = tempDir();
        copyFileSync(testPlugin('other'), path.join(cwd, 'other.so'));
        const { tools } = await load([entry('other', 'other.so')], { cwd });
        assert.deepEqual(tools, ['odd_good']);
    });
    test('a bare name beside the manifest is found', async () => {
        const file = manifest([entry('other', 'other.so')]);
        copyFileSync(testPlugin('other'), path.join(path.dirname(file), 'other.so'));
        await session({ manifest: file }, async s => { await s.initialize(); assert.deepEqual(await names(s), ['odd_other']); });
    });
});

describe('a library that anybody could have written', () => {
    const copy = (fileMode, dirMode) => {
        const d = tempDir(), so = path.join(d, 'other.so');
        copyFileSync(testPlugin('other'), so);
        chmodSync(so, fileMode); chmodSync(d, dirMode);
        return so;
    };
    test('world-writable file', () => refused([entry('other', copy(0o666, 0o755))], /other\.so/, /writable/));
    test('world-writable folder', () => refused([entry('other', copy(0o644, 0o777))], /writable/));
    test('sticky world-writable folder, like /tmp', () => refused([entry('other', copy(0o644, 0o1777))], /writable/));
    test('a link to a file that may be loaded is followed', async () => {
        const d = tempDir();
        symlinkSync(testPlugin('other'), path.join(d, 'link.so'));
        assert.deepEqual((await load([entry('other', path.join(d, 'link.so'))])).tools.sort(), ['odd_good', 'odd_other']);
    });
    test('a link into a writable folder is refused', () => {
        const d = tempDir();
        symlinkSync(copy(0o644, 0o777), path.join(d, 'link.so'));
        return refused([entry('other', path.join(d, 'link.so'))], /writable/);
    });
    test('a link to nothing', () => {
        const d = tempDir();
        symlinkSync('/nonexistent/x.so', path.join(d, 'link.so'));
        return refused([entry('other', path.join(d, 'link.so'))], /link\.so/);
    });
    test('sha256: the right one is loaded, a wrong one refused with both', async () => {
        const right = createHash('sha256').update(readFileSync(testPlugin('other'))).digest('hex');
        assert.ok((await load([entry('other', testPlugin('other'), { sha256: right })])).tools.includes('odd_other'));
        await refused([entry('other', testPlugin('other'), { sha256: '0'.repeat(64) })], new RegExp(right), /0{64}/);
    });
});

describe('the plugin ABI', () => {
    test('ABI 0, 2 and 99 are refused, with both numbers', async () => {
        const log = await refused(['abi0', 'abi2', 'abi99'], /abi0.*\b0\b.*\b1\b/, /abi2.*\b2\b.*\b1\b/, /abi99.*\b99\b.*\b1\b/);
        assert.ok(!/odd_abi/.test(log));
    });
    test('a descriptor that says another ABI than its note', () => refused(['abi99_behind_note'], /abi99_behind_note.*\b99\b/));
    test('no note', () => refused(['without_note'], /without_note/, /note/));
    test('wrong magic', () => refused(['magic'], /magic/, /21444142/i));
    test('a struct shorter than its ABI: both sizes', () => refused(['short'], /short/, /bytes/));
    test('a longer struct is served', async () => assert.ok((await load(['longer'])).tools.includes('odd_longer')));
    test('no entry symbol: it is named', () => refused(['no_entry'], /no_entry/, /lastro_plugin_entry/));
    test('an entry that returns nothing', () => refused(['null_entry'], /null_entry/, /lastro_plugin_entry/));
    test('a library that is another plugin: both names', () => refused(['wrong_name'], /wrong_name/, /somebody_else/));
    test('a missing host symbol: the log has it', () => refused(['undefined'], /lastro_host_function_of_the_future/));
    test('init that fails after two of three tools leaves none', () => refused(['failing'], /failing/, /the third of three would not come/));
    test('a service that nobody provides', () => refused(['needy'], /needy/, /service_of_nobody/));
    test('an isolation that this version lacks is refused, not ignored', () => refused([entry('other', testPlugin('other'), { isolation: 'process' })], /isolation/, /process/));
    test('one symbol in two plugins: each reaches its own', async () => {
        await session({ manifest: manifest(['other', 'longer', 'good']) }, async s => {
            await s.initialize();
            for (const n of ['other', 'longer', 'good']) assert.equal((await s.tool(`odd_${n}`)).structuredContent.who, n);
        });
    });
    test('the same file twice under two names is refused for the second', async () => {
        const { tools, log } = await load([entry('good2', testPlugin('good'))]);
        assert.deepEqual(tools, ['odd_good']);
        assert.match(log, /good2/);
    });
});

describe('names of tools', () => {
    test('one name in two plugins: the second is refused, both owners are named, whatever the order', async () => {
        for (const [a, b] of [['same_a', 'same_b'], ['same_b', 'same_a']]) {
            await session({ manifest: manifest([a, b]) }, async s => {
                await s.initialize();
                assert.deepEqual(await names(s), ['odd_same']);
                assert.equal((await s.tool('odd_same')).structuredContent.who, a);
                assert.match(s.stderr, /odd_same/);
                assert.ok(s.stderr.includes(a) && s.stderr.includes(b), s.stderr);
            });
        }
    });
    test('names that differ only in case are refused', async () => {
        await session({ manifest: manifest(['same_a', 'same_case']) }, async s => {
            await s.initialize();
            assert.deepEqual(await names(s), ['odd_same']);
            assert.match(s.stderr, /ODD_same/);
        });
    });
    test('a space, or 200 characters', () => refused(['space_name', 'long_name'], /odd same/, /long_name/));
    test('a contract that is not JSON', () => refused(['bad_contract'], /bad_contract/));
    test('a schema that points to the network is never fetched; the log says so', () => refused(['remote_ref'], /remote_ref/, /169\.254\.169\.254/));
});

describe('what the manifest enables', () => {
    test('a tool that is not enabled is absent everywhere', async () => {
        const file = manifest([{ name: 'fixture', library: testPlugin('fixture'), tools: ['fx_echo', 'fx_count'] }]);
        await session({ manifest: file }, async s => {
            const i = await s.initialize();
            assert.deepEqual((await names(s)).sort(), ['fx_count', 'fx_echo']);
            await s.error('tools/call', { name: 'fx_slow', arguments: { ms: 0 } }, -32602);
            assert.ok(!JSON.stringify(i).includes('fx_slow'));
            const unknown = await s.error('tools/call', { name: 'no_such', arguments: {} }, -32602);
            assert.ok(!JSON.stringify(unknown).includes('fx_slow'));
        });
        const r = await lastro(['call', 'fx_slow', 'ms=0', '--manifest', file]);
        assert.notEqual(r.code, 0);
        const l = await lastro(['list', 'tools', '--manifest', file]);
        assert.ok(l.stdout.includes('fx_echo') && !l.stdout.includes('fx_slow'));
    });
    test('an enabled tool that the plugin does not have is told in the log', async () => {
        await session({ manifest: manifest([{ name: 'fixture', library: testPlugin('fixture'), tools: ['fx_echo', 'fx_misspelt'] }]) }, async s => {
            await s.initialize();
            assert.deepEqual(await names(s), ['fx_echo']);
            assert.match(s.stderr, /fx_misspelt/);
        });
    });
    test('enabled: false loads nothing', async () => {
        assert.deepEqual((await load([entry('other', testPlugin('other'), { enabled: false })])).tools, ['odd_good']);
    });
    test('without sgs, stats is not loaded and the log says which service it misses', async () => {
        await session({ manifest: manifest([entry('stats', path.join(BUILD, 'plugins/stats.so')), 'good']) }, async s => {
            await s.initialize();
            assert.deepEqual(await names(s), ['odd_good']);
            assert.match(s.stderr, /stats.*series/s);
        });
    });
});

describe('plugins that print', () => {
    test('in the shell, standard output holds the result alone', async () => {
        const file = manifest([{ name: 'fixture', library: testPlugin('fixture'), config: { print: true } }]);
        const r = await lastro(['call', 'fx_print', '--json', '--manifest', file]);
        assert.equal(r.code, 0, r.stderr);
        assert.equal(r.json().structuredContent.text, 'printed');
        assert.match(r.stderr, /printf in init/);
    });
});
