// SPDX-License-Identifier: MIT
// A real client on the TypeScript SDK v1 (@modelcontextprotocol/sdk): always opens with
// `initialize`, offering 2025-11-25. See common.mjs for the options.
import { parseArgs, loader, exercise, finish, describeError } from './common.mjs';

const o = parseArgs(process.argv.slice(2), 'v1.mjs');
const sdk = loader('sdk1');
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }, { SSEClientTransport }, types] = await Promise.all([
    sdk.load('@modelcontextprotocol/sdk/client/index.js'),
    sdk.load('@modelcontextprotocol/sdk/client/stdio.js'),
    sdk.load('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    sdk.load('@modelcontextprotocol/sdk/client/sse.js'),
    sdk.load('@modelcontextprotocol/sdk/types.js')
]);

const out = { client: `@modelcontextprotocol/sdk@${sdk.version('@modelcontextprotocol/sdk')}`,
    transport: o.http ? 'http' : o.sse ? 'sse' : 'stdio' };
const client = new Client({ name: 'bench-v1', version: '1.0.0' }, { capabilities: {
    ...(o.elicit !== undefined && { elicitation: {} }),
    ...(o.sample !== undefined && { sampling: {} }),
    ...(o.root !== undefined && { roots: {} }) } });
const asked = [];
if (o.elicit !== undefined)
    client.setRequestHandler(types.ElicitRequestSchema, async r => { asked.push(r.method); return { action: 'accept', content: o.elicit }; });
if (o.sample !== undefined)
    client.setRequestHandler(types.CreateMessageRequestSchema, async r => { asked.push(r.method);
        return { role: 'assistant', model: 'bench', stopReason: 'endTurn', content: { type: 'text', text: o.sample } }; });
if (o.root !== undefined)
    client.setRequestHandler(types.ListRootsRequestSchema, async r => { asked.push(r.method); return { roots: [{ uri: o.root }] }; });
const notes = [];
client.fallbackNotificationHandler = async n => { notes.push(n); };

const transport = o.stdio ? new StdioClientTransport({ command: o.stdio[0], args: o.stdio.slice(1), env: { ...process.env }, stderr: 'inherit' })
    : o.http ? new StreamableHTTPClientTransport(new URL(o.http)) : new SSEClientTransport(new URL(o.sse));
// The stdio transport does not keep the negotiated version; the client announces it here.
let negotiated;
const setVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = v => { negotiated = v; setVersion?.(v); };
const opt = { timeout: o.timeout };
try {
    const t0 = performance.now();
    await client.connect(transport, opt);
    out.connectMs = Math.round((performance.now() - t0) * 100) / 100;
    out.era = 'legacy';
    out.protocolVersion = negotiated;
    if (transport.sessionId !== undefined) out.sessionId = transport.sessionId;
    out.serverInfo = client.getServerVersion();
    out.capabilities = client.getServerCapabilities();
    out.instructions = client.getInstructions();
    await exercise(o, out, {
        listTools: p => client.listTools(p, opt), listResources: p => client.listResources(p, opt),
        listResourceTemplates: p => client.listResourceTemplates(p, opt), listPrompts: p => client.listPrompts(p, opt),
        callTool: p => client.callTool(p, undefined, opt), readResource: p => client.readResource(p, opt),
        getPrompt: p => client.getPrompt(p, opt) });
    if (transport.terminateSession && transport.sessionId) await transport.terminateSession().catch(e => { out.terminate = describeError(e); });
} catch (e) {
    (out.errors ??= {}).connect = describeError(e);
}
if (asked.length) out.answered = asked;
if (notes.length) out.notifications = notes;
await Promise.race([client.close().catch(() => {}), new Promise(r => setTimeout(r, 3000))]);
finish(out);
