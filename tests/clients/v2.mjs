// SPDX-License-Identifier: MIT
// A real client on the TypeScript SDK v2 (@modelcontextprotocol/client), in one of its eras:
//   legacy   the SDK's default: `initialize` only, offers 2025-11-25
//   auto     server/discover first, falls back to initialize (our default here)
//   modern   pinned to 2026-07-28, no fallback
// common.mjs says what connect takes and gives, and what the options of the program are.
import { fileURLToPath } from 'node:url';
import { abilities, loader, main, transport } from './common.mjs';

const PACKAGE = '@modelcontextprotocol/client';
const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } };

export async function connect(o) {
    const mode = modes[o.era ?? 'auto'];
    if (mode === undefined) throw new Error(`era must be legacy, auto or modern, not ${o.era}`);
    const sdk = loader('sdk2');
    const [{ Client, StreamableHTTPClientTransport, SSEClientTransport, LOG_LEVEL_META_KEY }, { StdioClientTransport }] =
        await Promise.all([sdk.load(PACKAGE), sdk.load(`${PACKAGE}/stdio`)]);
    const { capabilities, answers } = abilities(o);
    const client = new Client({ name: 'lastro-tests-v2', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities });
    const asked = [], notes = [];
    for (const [method, answer] of Object.entries(answers))
        client.setRequestHandler(method, async r => { asked.push(r); return answer(r.params ?? {}); });
    client.fallbackNotificationHandler = async n => { notes.push(n); };

    const { it, stderr } = transport(o, { Stdio: StdioClientTransport, Http: StreamableHTTPClientTransport, Sse: SSEClientTransport });
    const opt = { timeout: o.timeout ?? 20000 };
    await client.connect(it, opt);
    const era = client.getProtocolEra();
    let level; // of the modern era: each request says it
    const leveled = p => level === undefined ? p : { ...p, _meta: { ...p._meta, [LOG_LEVEL_META_KEY]: level } };
    return {
        sdk: `${PACKAGE}@${sdk.version(PACKAGE)}`, era, protocolVersion: client.getNegotiatedProtocolVersion(), sessionId: it.sessionId,
        asked, notes, stderr, serverInfo: client.getServerVersion(), capabilities: client.getServerCapabilities(),
        instructions: client.getInstructions(),
        listTools: p => client.listTools(p, opt), listResources: p => client.listResources(p, opt),
        listResourceTemplates: p => client.listResourceTemplates(p, opt), listPrompts: p => client.listPrompts(p, opt),
        callTool: (p, more) => client.callTool(leveled(p), { ...opt, ...more }),
        readResource: (p, more) => client.readResource(p, { ...opt, ...more }),
        getPrompt: (p, more) => client.getPrompt(p, { ...opt, ...more }), complete: p => client.complete(p, opt),
        hear: async l => { if (era === 'modern') level = l; else await client.setLoggingLevel(l, opt); },
        // in the legacy era the lists' changes come unasked
        watch: async ({ uris = [], tools, prompts, resources }) => {
            if (era === 'modern') {
                const s = await client.listen({ ...(tools && { toolsListChanged: true }), ...(prompts && { promptsListChanged: true }),
                    ...(resources && { resourcesListChanged: true }), ...(uris.length && { resourceSubscriptions: uris }) }, opt);
                return () => s.close();
            }
            for (const uri of uris) await client.subscribeResource({ uri }, opt);
            return async () => { for (const uri of uris) await client.unsubscribeResource({ uri }, opt); };
        },
        close: async () => {
            if (it.sessionId) await it.terminateSession();
            await client.close();
        }
    };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(connect, 'v2.mjs', '  --era legacy|auto|modern   (default auto)\n');
