// SPDX-License-Identifier: MIT
// A real client on the TypeScript SDK v1 (@modelcontextprotocol/sdk): always opens with `initialize`, offering 2025-11-25.
// common.mjs says what connect takes and gives, and what the options of the program are.
import { fileURLToPath } from 'node:url';
import { abilities, loader, main, transport } from './common.mjs';

const PACKAGE = '@modelcontextprotocol/sdk';

export async function connect(o) {
    const sdk = loader('sdk1');
    const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }, { SSEClientTransport }, types] = await Promise.all([
        sdk.load(`${PACKAGE}/client/index.js`), sdk.load(`${PACKAGE}/client/stdio.js`), sdk.load(`${PACKAGE}/client/streamableHttp.js`),
        sdk.load(`${PACKAGE}/client/sse.js`), sdk.load(`${PACKAGE}/types.js`)]);
    const schemas = { 'elicitation/create': types.ElicitRequestSchema, 'sampling/createMessage': types.CreateMessageRequestSchema,
        'roots/list': types.ListRootsRequestSchema };
    const { capabilities, answers } = abilities(o);
    const client = new Client({ name: 'lastro-tests-v1', version: '1.0.0' }, { capabilities });
    const asked = [], notes = [];
    for (const [method, answer] of Object.entries(answers))
        client.setRequestHandler(schemas[method], async r => { asked.push(r); return answer(r.params ?? {}); });
    client.fallbackNotificationHandler = async n => { notes.push(n); };

    const { it, stderr } = transport(o, { Stdio: StdioClientTransport, Http: StreamableHTTPClientTransport, Sse: SSEClientTransport });
    // The stdio transport does not keep the negotiated version; the client announces it here.
    let protocolVersion;
    const setVersion = it.setProtocolVersion?.bind(it);
    it.setProtocolVersion = v => { protocolVersion = v; setVersion?.(v); };
    const opt = { timeout: o.timeout ?? 20000 };
    await client.connect(it, opt);
    return {
        sdk: `${PACKAGE}@${sdk.version(PACKAGE)}`, era: 'legacy', protocolVersion, sessionId: it.sessionId, asked, notes, stderr,
        serverInfo: client.getServerVersion(), capabilities: client.getServerCapabilities(), instructions: client.getInstructions(),
        listTools: p => client.listTools(p, opt), listResources: p => client.listResources(p, opt),
        listResourceTemplates: p => client.listResourceTemplates(p, opt), listPrompts: p => client.listPrompts(p, opt),
        callTool: (p, more) => client.callTool(p, undefined, { ...opt, ...more }),
        readResource: (p, more) => client.readResource(p, { ...opt, ...more }),
        getPrompt: (p, more) => client.getPrompt(p, { ...opt, ...more }), complete: p => client.complete(p, opt),
        hear: level => client.setLoggingLevel(level, opt),
        // the lists' changes come unasked
        watch: async ({ uris = [] }) => {
            for (const uri of uris) await client.subscribeResource({ uri }, opt);
            return async () => { for (const uri of uris) await client.unsubscribeResource({ uri }, opt); };
        },
        close: async () => {
            if (it.sessionId) await it.terminateSession();
            await client.close();
        }
    };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(connect, 'v1.mjs');
