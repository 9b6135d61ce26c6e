// SPDX-License-Identifier: MIT
// Shared by v1.mjs and v2.mjs: argument parsing, SDK lookup, JSON report.
//
// The SDK packages are not in this tree: `scripts/setup clients` puts them into $LASTRO_CACHE (default ~/.cache/lastro).
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const HOME = process.env.LASTRO_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(process.env.HOME ?? '/tmp', '.cache'), 'lastro');

export function usage(prog, extra = '') {
    return `usage: node ${prog} (--http URL | --sse URL | --stdio CMD ARG...)   [--stdio must come last]
  --call NAME        call this tool (repeatable)   --args JSON  the last named call's arguments (default {})
  --read URI         resources/read this URI   --prompt NAME    prompts/get   --prompt-args JSON
  --elicit JSON      answer elicitations with {"action":"accept","content":JSON}
  --sample TEXT      answer sampling requests with TEXT
  --root URI         answer roots/list with this root
  --timeout MS       per request (default 20000)
  --brief            names only in the listings
${extra}exit status: 0 all went well and any structuredContent matched its outputSchema;
             1 connect, list or call failed (the JSON says which); 2 usage`;
}

export function parseArgs(argv, prog, extra) {
    const o = { calls: [], promptArgs: undefined, timeout: 20000, era: 'auto' };
    const fail = m => { process.stderr.write(`${m}\n${usage(prog, extra)}\n`); process.exit(2); };
    const json = (s, f) => { try { return JSON.parse(s); } catch { fail(`${f}: not JSON: ${s}`); } };
    for (let i = 0; i < argv.length; i++) {
        const a = argv[i];
        const val = () => (i + 1 < argv.length ? argv[++i] : fail(`${a} needs a value`));
        switch (a) {
            case '--http': o.http = val(); break;
            case '--sse': o.sse = val(); break;
            case '--stdio': o.stdio = argv.slice(i + 1); i = argv.length; break;
            case '--call': o.calls.push({ name: val(), args: {} }); break;
            case '--args': if (!o.calls.length) fail('--args comes after --call'); o.calls.at(-1).args = json(val(), a); break;
            case '--read': o.read = val(); break;
            case '--prompt': o.prompt = val(); break;
            case '--prompt-args': o.promptArgs = json(val(), a); break;
            case '--elicit': o.elicit = json(val(), a); break;
            case '--sample': o.sample = val(); break;
            case '--root': o.root = val(); break;
            case '--timeout': o.timeout = Number(val()); break;
            case '--era': o.era = val(); break;
            case '--brief': o.brief = true; break;
            case '-h': case '--help': process.stdout.write(usage(prog, extra) + '\n'); process.exit(0); break;
            default: fail(`unknown option ${a}`);
        }
    }
    if ([o.http, o.sse, o.stdio].filter(Boolean).length !== 1) fail('exactly one of --http, --sse, --stdio');
    if (o.stdio && o.stdio.length === 0) fail('--stdio needs a command');
    return o;
}

/** Import a subpath of a package out of $LASTRO_CACHE/<dir>/node_modules. */
export function loader(dir) {
    const req = createRequire(path.join(HOME, dir, 'package.json'));
    return {
        load: async spec => await import(pathToFileURL(req.resolve(spec)).href),
        version: pkg => {
            try {
                return JSON.parse(readFileSync(path.join(HOME, dir, 'node_modules', pkg, 'package.json'), 'utf8')).version;
            } catch { return undefined; }
        }
    };
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

const names = { tools: 'name', resources: 'uri', resourceTemplates: 'uriTemplate', prompts: 'name' };

/** The part that is the same for both SDKs. `c` is a thin adapter over the SDK client. */
export async function exercise(o, out, c) {
    const caps = out.capabilities ?? {};
    const step = async (key, on, fn) => {
        if (!on) return;
        try { out[key] = await fn(); } catch (e) { (out.errors ??= {})[key] = describeError(e); }
    };
    await step('tools', !!caps.tools, () => pages(c.listTools, 'tools'));
    await step('resources', !!caps.resources, () => pages(c.listResources, 'resources'));
    await step('resourceTemplates', !!caps.resources, () => pages(c.listResourceTemplates, 'resourceTemplates'));
    await step('prompts', !!caps.prompts, () => pages(c.listPrompts, 'prompts'));
    for (const { name, args } of o.calls) {
        const tool = (out.tools ?? []).find(t => t.name === name);
        const call = { name, arguments: args, outputSchema: tool?.outputSchema !== undefined };
        const t0 = performance.now();
        try {
            call.result = await c.callTool({ name, arguments: args });
            // callTool() throws when the tool declares an outputSchema and the result's structuredContent is missing or
            // does not match it, so arriving here means it passed.
            call.structuredContent = tool?.outputSchema === undefined
                ? (call.result.structuredContent === undefined ? 'none' : 'present-without-schema')
                : call.result.isError ? 'not-checked-isError' : 'valid';
        } catch (e) {
            call.error = describeError(e);
            if (/structured content|output schema/i.test(String(e?.message))) call.structuredContent = 'INVALID';
            ((out.errors ??= {}).calls ??= []).push({ name, ...call.error });
        }
        call.ms = Math.round((performance.now() - t0) * 100) / 100;
        (out.calls ??= []).push(call);
    }
    await step('read', o.read !== undefined, () => c.readResource({ uri: o.read }));
    await step('prompt', o.prompt !== undefined,
        () => c.getPrompt({ name: o.prompt, ...(o.promptArgs && { arguments: o.promptArgs }) }));
    if (o.brief)
        for (const [k, f] of Object.entries(names)) if (Array.isArray(out[k])) out[k] = out[k].map(x => x[f]);
}

export function finish(out) {
    out.ok = out.errors === undefined;
    process.stdout.write(JSON.stringify(out, null, 2) + '\n', () => process.exit(out.ok ? 0 : 1));
}
