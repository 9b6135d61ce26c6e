// SPDX-License-Identifier: MIT
// The end-to-end tests' harness: node:test alone, no packages. LASTRO_BUILD names the build folder (default ../../build),
// LASTRO_SHARED the recorded data (default ../../../shared); without it bcb-sim serves the committed snapshot.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const BUILD = path.resolve(process.env.LASTRO_BUILD || path.join(ROOT, 'build'));
export const LASTRO = path.join(BUILD, 'lastro');
export const SHARED = [process.env.LASTRO_SHARED, path.join(ROOT, '../shared')].find(d => d && existsSync(path.join(d, 'data'))) || null;
export const SIM_DATA = SHARED ? path.join(SHARED, 'data/bcb') : path.join(ROOT, 'catalog/snapshot');
export const CLOCK = '2026-08-21T10:00:00-03:00';
export const META = 'io.modelcontextprotocol/';
/** Sanitizers slow everything down: bounds of time that tests assert are multiplied by this. */
export const SLACK = /asan|tsan|debug/.test(path.basename(BUILD)) ? 8 : 1;
/** A value for the `skip` option: why there is nothing to test with, or false. */
export const needShared = SHARED ? false : 'no recorded data (../shared)';

export const sleep = ms => new Promise(r => setTimeout(r, ms));

/** Waits until fn() gives something true; says what it waited for when it does not come. */
export async function until(fn, what, ms = 5000 * SLACK) {
    const end = Date.now() + ms;
    for (;;) {
        const v = await fn();
        if (v) return v;
        if (Date.now() > end) assert.fail(`waited ${ms} ms for ${what}`);
        await sleep(5);
    }
}

const scratch = [];
process.on('exit', () => { for (const d of scratch) rmSync(d, { recursive: true, force: true }); });
/** A folder of this test run's own, removed at its end. */
export function tempDir() {
    const d = mkdtempSync(path.join(tmpdir(), 'lastro-e2e-'));
    chmodSync(d, 0o755);
    scratch.push(d);
    return d;
}

/** Writes {name: text or JSON} into a new folder; returns the folder. */
export function files(map) {
    const d = tempDir();
    for (const [name, what] of Object.entries(map)) {
        mkdirSync(path.dirname(path.join(d, name)), { recursive: true });
        writeFileSync(path.join(d, name), typeof what === 'string' || Buffer.isBuffer(what) ? what : JSON.stringify(what));
    }
    return d;
}

export const testPlugin = name => path.join(BUILD, 'test-plugins', `${name}.so`);

/** A manifest file that loads these plugins (names of test plugins, or whole entries). Returns its path. */
export function manifest(plugins, more = {}) {
    return path.join(files({ 'manifest.json': {
        manifest: 1, name: 'lastro-test', title: 'Lastro under test', version: '0.0.1', publisher: 'dev.example.lastro',
        plugins: plugins.map(p => typeof p === 'string' ? { name: p, library: testPlugin(p) } : p), ...more } }), 'manifest.json');
}

/** The environment of every program under test: nothing of the caller's LASTRO_*, a fixed clock, no proxy. */
export function cleanEnv(extra = {}) {
    const env = { ...process.env };
    for (const k of Object.keys(env)) if (/^LASTRO_|_proxy$/i.test(k)) delete env[k];
    return { ...env, LASTRO_CLOCK: CLOCK, ...extra };
}

const sanitizer = /(==\d+==ERROR|AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:)[^\n]*/;
/** No sanitizer spoke on this stderr. */
export function assertSane(stderr) {
    const m = sanitizer.exec(stderr);
    assert.equal(m, null, m ? `sanitizer: ${stderr.slice(m.index, m.index + 3000)}` : '');
}

/** Runs the program to its end: lastro(['call', …], {env, timeout, input}) → {code, signal, stdout, stderr, json()}. */
export function lastro(args, { env = {}, timeout = 60000, input, cwd } = {}) {
    return new Promise((resolve, reject) => {
        const child = spawn(LASTRO, args, { env: cleanEnv(env), cwd, stdio: ['pipe', 'pipe', 'pipe'] });
        const out = [], err = [];
        let late = false;
        const timer = setTimeout(() => { late = true; child.kill('SIGKILL'); }, timeout);
        child.stdout.on('data', d => out.push(d));
        child.stderr.on('data', d => err.push(d));
        child.stdin.on('error', () => {});
        child.on('error', e => { clearTimeout(timer); reject(e); });
        child.on('close', (code, signal) => {
            clearTimeout(timer);
            const stdout = Buffer.concat(out).toString(), stderr = Buffer.concat(err).toString();
            if (late) return reject(new Error(`lastro ${args.join(' ')}: no end within ${timeout} ms\n${stderr}`));
            try { assertSane(stderr); } catch (e) { return reject(e); }
            resolve({ code, signal, stdout, stderr, json() {
                try { return JSON.parse(stdout); }
                catch (e) { assert.fail(`stdout is not JSON (${e.message}): ${stdout.slice(0, 500)}\nstderr: ${stderr.slice(0, 500)}`); }
            } });
        });
        child.stdin.end(input ?? '');
    });
}

/** Environment that sends every source to a bcb-sim. */
export const sources = url => Object.fromEntries(['SGS', 'FOCUS', 'PTAX', 'CKAN'].map(n => [`LASTRO_SOURCE_${n}`, url]));

/** `lastro call TOOL --args … --json`: {code, result, structured, text, stderr}. opts.sim, or opts.offline, and lastro()'s. */
export async function call(tool, args = {}, { sim, offline, env = {}, ...rest } = {}) {
    const r = await lastro([...(offline ? ['--offline'] : []), 'call', tool, '--args', JSON.stringify(args), '--json'],
        { ...rest, env: { ...(sim ? sources(sim.url) : {}), ...env } });
    const result = r.stdout.trim() === '' ? null : r.json();
    return { ...r, result, structured: result?.structuredContent, text: result?.content?.[0]?.text };
}

/** Starts bcb-sim → {url, requests(), reset(), faults(rules), stop()}. faults: the rules' object, in force from the start. */
export async function sim({ data = SIM_DATA, clock = CLOCK, faults, seed, args = [] } = {}) {
    const child = spawn(path.join(BUILD, 'bcb-sim'), ['--port', '0', '--data', data, '--clock', clock, '--html-delay', '50',
        ...(seed === undefined ? [] : ['--seed', String(seed)]), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let err = '', out = '';
    child.stderr.on('data', d => { err += d; });
    const url = await new Promise((resolve, reject) => {
        const timer = setTimeout(() => { child.kill('SIGKILL'); reject(new Error(`bcb-sim did not start: ${err}`)); }, 10000 * SLACK);
        child.on('error', reject);
        child.on('exit', code => reject(new Error(`bcb-sim ended (${code}): ${err}`)));
        child.stdout.on('data', d => {
            out += d;
            const m = /^bcb-sim listening on (http:\/\/127\.0\.0\.1:\d+)$/m.exec(out);
            if (m) { clearTimeout(timer); resolve(m[1]); }
        });
    });
    const ask = async (method, at, body) => {
        const r = await fetch(url + at, { method, body: body === undefined ? undefined : JSON.stringify(body) });
        const text = await r.text();
        assert.ok(r.ok, `bcb-sim ${method} ${at}: ${r.status} ${text}`);
        try { return JSON.parse(text); } catch { return text; }
    };
    const it = {
        url, pid: child.pid,
        requests: () => ask('GET', '/__sim/requests'),
        reset: () => ask('POST', '/__sim/reset', {}),
        faults: rules => ask('POST', '/__sim/faults', rules ?? { rules: [] }),
        stop: () => new Promise(r => {
            if (child.exitCode !== null || child.signalCode !== null) return r();
            child.removeAllListeners('exit');
            const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
            child.on('exit', () => { clearTimeout(timer); r(); });
            child.kill('SIGTERM');
        })
    };
    process.on('exit', () => child.kill('SIGKILL'));
    if (faults) await it.faults(faults);
    return it;
}

/** The params._meta of a request of the 2026-07-28 era. */
export const modern = (meta = {}) => ({ [META + 'protocolVersion']: '2026-07-28', [META + 'clientInfo']: { name: 'e2e', version: '1' },
    [META + 'clientCapabilities']: {}, ...meta });

/** A stdio session. Every line the server writes must be one JSON-RPC message; anything else fails at once. */
export class Stdio {
    #child; #buffer = Buffer.alloc(0); #next = 1; #waiting = []; #ended;
    messages = [];           // all, in order, as {…}
    lines = [];              // their text
    stderr = '';
    impure = null;           // the first line that was no JSON-RPC message

    constructor({ args = [], manifest: file, env = {}, command = LASTRO, cwd } = {}) {
        this.#child = spawn(command, [...args, ...(file ? ['--manifest', file] : [])], { env: cleanEnv(env), cwd, stdio: ['pipe', 'pipe', 'pipe'] });
        this.#child.stdin.on('error', () => {});
        this.#child.stderr.on('data', d => { this.stderr += d; });
        this.#child.stdout.on('data', d => this.#take(d));
        this.#ended = new Promise(r => this.#child.on('close', (code, signal) => r({ code, signal })));
        process.on('exit', () => this.#child.kill('SIGKILL'));
    }
    get pid() { return this.#child.pid; }
    get running() { return this.#child.exitCode === null && this.#child.signalCode === null; }
    get stdout() { return this.#child.stdout; }

    #take(data) {
        this.#buffer = Buffer.concat([this.#buffer, data]);
        for (let at; (at = this.#buffer.indexOf(10)) >= 0; this.#buffer = this.#buffer.subarray(at + 1)) {
            const bytes = this.#buffer.subarray(0, at);
            const text = bytes.toString();
            this.lines.push(text);
            try {
                assert.ok(Buffer.from(text).equals(bytes), 'not UTF-8');
                assert.ok(!text.includes('\r'), 'a CR on the wire');
                const line = JSON.parse(text);
                for (const m of Array.isArray(line) ? line : [line]) { // an array: the answer to a batch
                    assert.equal(m.jsonrpc, '2.0');
                    assert.ok('method' in m || ('result' in m) !== ('error' in m), 'neither request, notification nor response');
                    this.messages.push(m);
                }
            } catch (e) {
                this.impure ??= `${e.message}: ${text.slice(0, 300)}`;
            }
        }
        for (const w of [...this.#waiting]) w();
    }

    /** Raw bytes, as they are. */
    raw(bytes) { this.#child.stdin.write(bytes); return this; }
    /** One line: a text as it is, anything else as JSON. */
    send(message) { return this.raw((typeof message === 'string' ? message : JSON.stringify(message)) + '\n'); }
    notify(method, params) { return this.send({ jsonrpc: '2.0', method, ...(params && { params }) }); }

    /** The first message from index `from` that fits; waits for it. */
    async receive(fits, what = 'a message', ms = 5000 * SLACK, from = 0) {
        const look = () => this.messages.slice(from).find(fits);
        const found = look();
        if (found) return found;
        return await new Promise((resolve, reject) => {
            const done = (fn, v) => { clearTimeout(timer); this.#waiting = this.#waiting.filter(w => w !== check); fn(v); };
            const check = () => {
                if (this.impure) return done(reject, new Error(`stdout: ${this.impure}`));
                const m = look();
                if (m) done(resolve, m);
            };
            const timer = setTimeout(() => done(reject, new Error(
                `no ${what} within ${ms} ms; got ${this.lines.slice(-5).map(l => l.slice(0, 200)).join(' | ') || 'nothing'}; stderr: ${this.stderr.slice(-1500)}`)), ms);
            this.#ended.then(e => { check(); done(reject, new Error(`the server ended (${e.code ?? e.signal}) before ${what}; stderr: ${this.stderr.slice(-1500)}`)); });
            this.#waiting.push(check);
            check();
        });
    }
    reply(id, ms) { return this.receive(m => !('method' in m) && m.id === id, `reply to ${JSON.stringify(id)}`, ms); }

    /** Sends a request with a new id, waits, and returns the whole response. */
    async request(method, params, ms) {
        const id = this.#next++;
        this.send({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) });
        return await this.reply(id, ms);
    }
    async result(method, params, ms) {
        const r = await this.request(method, params, ms);
        assert.ok(r.result, `${method}: ${JSON.stringify(r.error)}`);
        return r.result;
    }
    async error(method, params, code) {
        const r = await this.request(method, params);
        assert.ok(r.error, `${method} should fail: ${JSON.stringify(r.result)?.slice(0, 300)}`);
        if (code !== undefined) assert.equal(r.error.code, code, JSON.stringify(r.error));
        assert.equal(typeof r.error.message, 'string');
        return r.error;
    }
    /** A tool call of the 2026 era, or of the negotiated one. */
    tool(name, args = {}, { era, ms } = {}) {
        return this.result('tools/call', { name, arguments: args, ...(era === 'modern' && { _meta: modern() }) }, ms);
    }
    async initialize(version = '2025-11-25', capabilities = {}) {
        const r = await this.result('initialize', { protocolVersion: version, capabilities, clientInfo: { name: 'e2e', version: '1' } });
        this.notify('notifications/initialized');
        return r;
    }
    /** Answers one line, whatever its id: sends it and returns the next message. */
    async next(line, ms) {
        const from = this.messages.length;
        this.send(line);
        return await this.receive(() => true, `answer to ${String(line).slice(0, 80)}`, ms, from);
    }
    /** Nothing comes out: after `line` the reply to a ping is the next message. */
    async silent(line) {
        const from = this.messages.length;
        if (Buffer.isBuffer(line)) this.raw(line); else this.send(line);
        const id = `quiet-${this.#next++}`;
        this.send({ jsonrpc: '2.0', id, method: 'ping' });
        await this.reply(id);
        assert.deepEqual(this.messages.slice(from).map(m => m.id), [id], `something answered ${line}`);
    }

    closeInput() { this.#child.stdin.end(); return this; }
    kill(signal) { this.#child.kill(signal); return this; }
    async ended(ms = 5000 * SLACK) {
        let timer;
        const late = new Promise((_, no) => { timer = setTimeout(() => { this.#child.kill('SIGKILL'); no(new Error(`no end within ${ms} ms; stderr: ${this.stderr.slice(-1500)}`)); }, ms); });
        try { return await Promise.race([this.#ended, late]); } finally { clearTimeout(timer); }
    }
    /** Ends the input, waits for exit 0 and checks everything that was written. */
    async close() {
        this.closeInput();
        const end = await this.ended();
        this.check();
        assert.deepEqual(end, { code: 0, signal: null }, this.stderr.slice(-1500));
    }
    /** Only protocol on stdout, whole lines, no sanitizer on stderr. */
    check() {
        assert.equal(this.impure, null, `stdout: ${this.impure}`);
        assert.equal(this.#buffer.toString(), '', 'stdout ends in half a line');
        assertSane(this.stderr);
    }
}

/** Runs fn with a session and closes it, also when fn fails (then without hiding the failure). */
export async function session(options, fn) {
    const s = new Stdio(options);
    try { await fn(s); }
    catch (e) { s.kill('SIGKILL'); throw e; }
    if (s.running) await s.close(); else s.check();
}

/** Checks values against a schema with the program's own validator. */
export async function assertValid(schema, value, what) {
    const d = files({ 'schema.json': schema, 'value.json': value });
    const r = await lastro(['schema', 'check', path.join(d, 'schema.json'), path.join(d, 'value.json')]);
    assert.equal(r.code, 0, `${what} breaks its schema: ${r.stdout}${r.stderr}`);
}

/** CPU time a process has used, in ms. */
export function cpuMs(pid) {
    const ticks = Number(spawnSync('getconf', ['CLK_TCK']).stdout) || 100;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const f = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(f[11]) + Number(f[12])) * 1000 / ticks;
}
