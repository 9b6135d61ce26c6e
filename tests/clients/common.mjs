// SPDX-License-Identifier: MIT
// Shared by v1.mjs and v2.mjs: SDK lookup, what a client under test answers, and both as a program with a JSON report.
//
// The SDK packages are not in this tree: `scripts/setup clients` puts them into $LASTRO_CACHE (default ~/.cache/lastro).
//
// Each of the two exports connect(options), which gives the same kind of client whatever the SDK:
//   options  stdio: [CMD, ARG…] | http: URL | sse: URL; era (v2: legacy, auto, modern); env; headers; timeout
//            elicit: content of accepted forms; page: action on URLs; sample: text; roots: [URI…] (what is not given is not
//            declared as a capability)
//   client   era, protocolVersion, sessionId, serverInfo, capabilities, instructions, asked[] (requests that it answered),
//            notes[] (notifications), stderr() (of a server on stdio), list*, callTool, readResource, getPrompt, complete,
//            hear(level), watch({uris, tools, prompts, resources}) → stop(), close()
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const HOME = process.env.LASTRO_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(process.env.HOME ?? '/tmp', '.cache'), 'lastro');

/** Import a subpath of a package out of $LASTRO_CACHE/<dir>/node_modules. */
export function loader(dir) {
    const req = createRequire(path.join(HOME, dir, 'package.json'));
    return {
        load: async spec => await import(pathToFileURL(req.resolve(spec)).href),
        version: pkg => JSON.parse(readFileSync(path.join(HOME, dir, 'node_modules', pkg, 'package.json'), 'utf8')).version
    };
}

/** What the client says it can be asked, and how it answers: method → handler of its params. */
export function abilities(o) {
    const capabilities = {}, answers = {};
    if (o.elicit !== undefined || o.page !== undefined) {
        capabilities.elicitation = { ...(o.elicit !== undefined && { form: {} }), ...(o.page !== undefined && { url: {} }) };
        answers['elicitation/create'] = p => p.mode === 'url' ? { action: o.page } : { action: 'accept', content: o.elicit };
    }
    if (o.sample !== undefined) {
        capabilities.sampling = {};
        answers['sampling/createMessage'] = () => ({ role: 'assistant', model: 'test', stopReason: 'endTurn', content: { type: 'text', text: o.sample } });
    }
    if (o.roots !== undefined) {
        capabilities.roots = {};
        answers['roots/list'] = () => ({ roots: o.roots.map(uri => ({ uri })) });
    }
    return { capabilities, answers };
}

/** The transport of either SDK's classes, and what a server on stdio said on its standard error. */
export function transport(o, { Stdio, Http, Sse }) {
    const init = o.headers && { requestInit: { headers: o.headers } };
    if (o.http) return { it: new Http(new URL(o.http), init), stderr: () => '' };
    if (o.sse) return { it: new Sse(new URL(o.sse), init), stderr: () => '' };
    let text = '';
    const it = new Stdio({ command: o.stdio[0], args: o.stdio.slice(1), env: o.env ?? { ...process.env }, stderr: 'pipe' });
    it.stderr?.on('data', d => { text += d; });
    return { it, stderr: () => text };
}

export const describeError = e => ({
    name: e?.name, message: e?.message ?? String(e),
    ...(e?.code !== undefined && { code: e.code }),
    ...(e?.data !== undefined && { data: e.data }),
    ...(e?.cause !== undefined && { cause: String(e.cause?.message ?? e.cause) })
});

/** Page through a list method until nextCursor runs out. */
export async function pages(fn, key) {
    const all = []; let cursor; let n = 0;
    do {
        const r = await fn(cursor === undefined ? undefined : { cursor });
        all.push(...r[key]); cursor = r.nextCursor; n++;
    } while (cursor !== undefined && n < 1000);
    return all;
}

/** Everything that the server lists. */
export async function lists(c) {
    const caps = c.capabilities ?? {}, all = {};
    if (caps.tools) all.tools = await pages(c.listTools, 'tools');
    if (caps.resources) {
        all.resources = await pages(c.listResources, 'resources');
        all.resourceTemplates = await pages(c.listResourceTemplates, 'resourceTemplates');
    }
    if (caps.prompts) all.prompts = await pages(c.listPrompts, 'prompts');
    return all;
}

// ---- as a program

const usage = (prog, extra) => `usage: node ${prog} (--http URL | --sse URL | --stdio CMD ARG...)   [--stdio must come last]
  --call NAME        call this tool (repeatable)   --args JSON  the last named call's arguments (default {})
  --read URI         resources/read this URI   --prompt NAME    prompts/get   --prompt-args JSON
  --elicit JSON      answer forms with this content    --page ACTION    answer URLs with accept, decline or cancel
  --sample TEXT      answer sampling requests with TEXT
  --root URI         answer roots/list with this root
  --level LEVEL      of the log messages to hear
  --timeout MS       per request (default 20000)
  --brief            names only in the listings
${extra}A report as JSON on standard output. Exit status: 0 all went well and any structuredContent matched its outputSchema;
1 something failed (the report says what); 2 usage\n`;

function parseArgs(argv, prog, extra) {
    const o = { calls: [], timeout: 20000, era: 'auto' };
    const fail = m => { process.stderr.write(`${m}\n${usage(prog, extra)}`); process.exit(2); };
    const json = (s, f) => { try { return JSON.parse(s); } catch { return fail(`${f}: not JSON: ${s}`); } };
    for (let i = 0; i < argv.length; i++) {
        const a = argv[i];
        const val = () => (i + 1 < argv.length ? argv[++i] : fail(`${a} needs a value`));
        switch (a) {
            case '--stdio': o.stdio = argv.slice(i + 1); i = argv.length; break;
            case '--call': o.calls.push({ name: val(), args: {} }); break;
            case '--args': if (!o.calls.length) fail('--args comes after --call'); o.calls.at(-1).args = json(val(), a); break;
            case '--prompt-args': o.promptArgs = json(val(), a); break;
            case '--elicit': o.elicit = json(val(), a); break;
            case '--root': o.roots = [val()]; break;
            case '--timeout': o.timeout = Number(val()); break;
            case '--brief': o.brief = true; break;
            case '--http': case '--sse': case '--read': case '--prompt': case '--page': case '--sample': case '--level': case '--era':
                o[a.slice(2)] = val(); break;
            case '-h': case '--help': process.stdout.write(usage(prog, extra)); process.exit(0); break;
            default: fail(`unknown option ${a}`);
        }
    }
    if ([o.http, o.sse, o.stdio].filter(Boolean).length !== 1) fail('exactly one of --http, --sse, --stdio');
    if (o.stdio && o.stdio.length === 0) fail('--stdio needs a command');
    return o;
}

const names = { tools: 'name', resources: 'uri', resourceTemplates: 'uriTemplate', prompts: 'name' };

async function exercise(o, out, c) {
    const step = async (key, on, fn) => {
        if (!on) return;
        try { out[key] = await fn(); } catch (e) { (out.errors ??= {})[key] = describeError(e); }
    };
    await step('lists', true, () => lists(c));
    await step('level', o.level !== undefined, () => c.hear(o.level));
    for (const { name, args } of o.calls) {
        const tool = (out.lists?.tools ?? []).find(t => t.name === name);
        const call = { name, arguments: args };
        try {
            call.result = await c.callTool({ name, arguments: args });
            // callTool() throws when the result's structuredContent does not match the tool's outputSchema
            call.structuredContent = tool?.outputSchema === undefined ? 'no-schema' : call.result.isError ? 'not-checked' : 'valid';
        } catch (e) {
            call.error = describeError(e);
            ((out.errors ??= {}).calls ??= []).push({ name, ...call.error });
        }
        (out.calls ??= []).push(call);
    }
    await step('read', o.read !== undefined, () => c.readResource({ uri: o.read }));
    await step('prompt', o.prompt !== undefined, () => c.getPrompt({ name: o.prompt, ...(o.promptArgs && { arguments: o.promptArgs }) }));
    if (o.brief) for (const [k, f] of Object.entries(names)) if (out.lists?.[k]) out.lists[k] = out.lists[k].map(x => x[f]);
}

export async function main(connect, prog, extra = '') {
    const o = parseArgs(process.argv.slice(2), prog, extra), out = {};
    try {
        const c = await connect(o);
        for (const k of ['sdk', 'era', 'protocolVersion', 'sessionId', 'serverInfo', 'capabilities', 'instructions']) out[k] = c[k];
        await exercise(o, out, c);
        out.asked = c.asked.map(r => r.method);
        out.notifications = c.notes;
        await c.close();
    } catch (e) {
        (out.errors ??= {}).connect = describeError(e);
    }
    out.ok = out.errors === undefined;
    process.stdout.write(JSON.stringify(out, null, 2) + '\n', () => process.exit(out.ok ? 0 : 1));
}
