// SPDX-License-Identifier: MIT
// `lastro serve` under test, and requests to it over node:http: nothing between the test and the bytes but Node.
import assert from 'node:assert/strict';
import http from 'node:http';
import { spawn } from 'node:child_process';
import { LASTRO, META, SLACK, assertSane, cleanEnv } from './lib.mjs';

/** Starts the server → {url, socket, pid, stderr(), kill(signal), ended, stop()}. url: of the endpoint; socket: of unix:PATH. */
export async function serve({ manifest, args = [], env = {}, listen = '127.0.0.1:0', command = [LASTRO], options = {} } = {}) {
    const line = [...command.slice(1), 'serve', ...(listen ? ['--listen', listen] : []), ...(manifest ? ['--manifest', manifest] : []), ...args];
    const child = spawn(command[0], line, { env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let err = '', out = '';
    child.stderr.on('data', d => { err += d; });
    child.stdout?.on('data', d => { out += d; });
    const ended = new Promise(r => child.on('close', (code, signal) => r({ code, signal })));
    const kill = signal => child.kill(signal);
    const atExit = () => kill('SIGKILL');
    process.on('exit', atExit);
    ended.then(() => process.off('exit', atExit));
    const where = await new Promise((resolve, reject) => {
        const timer = setTimeout(() => { kill('SIGKILL'); reject(new Error(`serve did not start: ${err}`)); }, 10000 * SLACK);
        child.on('error', reject);
        ended.then(e => { clearTimeout(timer); reject(new Error(`serve ended (${e.code ?? e.signal}): ${err}`)); });
        child.stderr.on('data', () => {
            const m = /^lastro: listening on (http:\/\/\S+|unix:[^,\n]+)/m.exec(err);
            if (m) { clearTimeout(timer); resolve(m[1]); }
        });
    });
    const unix = where.startsWith('unix:');
    return {
        url: new URL(unix ? 'http://localhost/mcp' : where), socket: unix ? where.slice(5) : undefined, pid: child.pid, kill, ended,
        stderr: () => err,
        /** SIGTERM; checks that it ended well and said nothing on stdout. */
        async stop(ms = 10000 * SLACK) {
            kill('SIGTERM');
            let timer;
            const end = await Promise.race([ended, new Promise(r => { timer = setTimeout(r, ms); })]);
            clearTimeout(timer);
            if (!end) kill('SIGKILL');
            assertSane(err);
            assert.deepEqual(end, { code: 0, signal: null }, err.slice(-1500));
            assert.equal(out, '', 'serve wrote to standard output');
        }
    };
}

/**
 * One request → {status, headers, text, messages, left}: at its end, or when it was left. messages: JSON-RPC ones, of a JSON
 * body or of events; on(message, leave): each as it comes; head(answer, leave): its head came. leaveMs: the client leaves
 * then. timeout: in ms.
 */
export function send(at, { method = 'POST', path, headers = {}, body, agent, leaveMs, on, head, timeout = 15000 * SLACK } = {}) {
    return new Promise((resolve, reject) => {
        const bytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
        const a = { messages: [], events: [], text: '', left: false };
        let buffer = '', leaving;
        const to = at.socket ? { socketPath: at.socket } : { host: at.url.hostname.replace(/^\[|\]$/g, ''), port: at.url.port };
        const r = http.request({ ...to, agent: agent ?? new http.Agent(), method, path: path ?? at.url.pathname, headers: {
            accept: 'application/json, text/event-stream',
            ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }), ...headers } });
        const end = (fn, v) => { clearTimeout(timer); clearTimeout(leaving); fn(v); };
        const leave = () => { a.left = true; r.destroy(); end(resolve, a); };
        const timer = setTimeout(() => { r.destroy(); end(reject, new Error(`${method} ${path ?? ''}: no whole answer within ${timeout} ms: ${a.text || buffer}`)); }, timeout);
        if (leaveMs !== undefined) leaving = setTimeout(leave, leaveMs);
        const take = m => { a.messages.push(m); try { on?.(m, leave); } catch (e) { r.destroy(); end(reject, e); } };
        r.on('error', e => a.left || end(reject, e));
        r.on('response', res => {
            a.status = res.statusCode; a.headers = res.headers;
            head?.(a, leave);
            const type = res.headers['content-type'] ?? '';
            res.setEncoding('utf8');
            res.on('data', d => {
                a.text += d; buffer += d;
                for (let at; /^text\/event-stream/.test(type) && (at = buffer.indexOf('\n\n')) >= 0; buffer = buffer.slice(at + 2)) {
                    const event = { event: 'message' };
                    for (const l of buffer.slice(0, at).split('\n')) {
                        const [, field, value] = /^([^:]*):? ?(.*)$/.exec(l);
                        event[field] = field === 'data' && event.data !== undefined ? `${event.data}\n${value}` : value;
                    }
                    a.events.push(event);
                    if (event.event === 'message' && event.data) take(JSON.parse(event.data));
                    else if (event.data) try { on?.(event, leave); } catch (e) { r.destroy(); end(reject, e); }
                }
            });
            res.on('error', e => a.left || end(reject, e));
            res.on('end', () => {
                if (/^application\/json/.test(type) && a.text)
                    try { for (const m of [JSON.parse(a.text)].flat()) take(m); } catch (e) { return end(reject, e); }
                end(resolve, a);
            });
        });
        r.end(bytes);
    });
}

let next = 1;
/** A request of the 2026 era with all its headers; resolves as send does, with .answer the one response. */
export async function modernRequest(at, method, params = {}, { meta, headers, capabilities = {}, ...more } = {}) {
    const id = next++, name = params.name ?? params.uri ?? params.taskId;
    const a = await send(at, { ...more, headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name && { 'mcp-name': name }), ...headers },
        body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: { [META + 'protocolVersion']: '2026-07-28', [META + 'clientCapabilities']: capabilities, ...meta } } } });
    a.answer = a.messages.find(m => m.id === id && !('method' in m));
    return a;
}
