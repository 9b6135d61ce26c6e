// SPDX-License-Identifier: MIT
// A real client on the TypeScript SDK v2 (@modelcontextprotocol/client).
//   --era legacy   the SDK's DEFAULT: `initialize` only, offers 2025-11-25
//   --era auto     server/discover probe first, falls back to initialize (our default here)
//   --era modern   pinned to 2026-07-28, no fallback
import { parseArgs, loader, exercise, finish, describeError } from './common.mjs';

const o = parseArgs(process.argv.slice(2), 'v2.mjs', '  --era legacy|auto|modern   (default auto)\n');
const mode = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } }[o.era];
if (mode === undefined) { process.stderr.write('--era: legacy, auto or modern\n'); process.exit(2); }
const sdk = loader('sdk2');
const [{ Client, StreamableHTTPClientTransport, SSEClientTransport }, { StdioClientTransport }] = await Promise.all([
    sdk.load('@modelcontextprotocol/client'), sdk.load('@modelcontextprotocol/client/stdio')]);

const out = { client: `@modelcontextprotocol/client@${sdk.version('@modelcontextprotocol/client')}`,
    mode: o.era, transport: o.http ? 'http' : o.sse ? 'sse' : 'stdio' };
const client = new Client({ name: 'bench-v2', version: '1.0.0' }, {
    versionNegotiation: { mode },
    capabilities: {
        ...(o.elicit !== undefined && { elicitation: {} }),
        ...(o.sample !== undefined && { sampling: {} }),
        ...(o.root !== undefined && { roots: {} }) } });
const asked = [];
if (o.elicit !== undefined)
    client.setRequestHandler('elicitation/create', async r => { asked.push(r.method); return { action: 'accept', content: o.elicit }; });
if (o.sample !== undefined)
    client.setRequestHandler('sampling/createMessage', async r => { asked.push(r.method);
        return { role: 'assistant', model: 'bench', stopReason: 'endTurn', content: { type: 'text', text: o.sample } }; });
if (o.root !== undefined)
    client.setRequestHandler('roots/list', async r => { asked.push(r.method); return { roots: [{ uri: o.root }] }; });
const notes = [];
client.fallbackNotificationHandler = async n => { notes.push(n); };

const transport = o.stdio ? new StdioClientTransport({ command: o.stdio[0], args: o.stdio.slice(1), env: { ...process.env }, stderr: 'inherit' })
    : o.http ? new StreamableHTTPClientTransport(new URL(o.http)) : new SSEClientTransport(new URL(o.sse));
const opt = { timeout: o.timeout };
try {
    const t0 = performance.now();
    await client.connect(transport, opt);
    out.connectMs = Math.round((performance.now() - t0) * 100) / 100;
    out.era = client.getProtocolEra();
    out.protocolVersion = client.getNegotiatedProtocolVersion();
    if (transport.sessionId !== undefined) out.sessionId = transport.sessionId;
    out.serverInfo = client.getServerVersion();
    out.capabilities = client.getServerCapabilities();
    out.instructions = client.getInstructions();
    await exercise(o, out, {
        listTools: p => client.listTools(p, opt), listResources: p => client.listResources(p, opt),
        listResourceTemplates: p => client.listResourceTemplates(p, opt), listPrompts: p => client.listPrompts(p, opt),
        callTool: p => client.callTool(p, opt), readResource: p => client.readResource(p, opt),
        getPrompt: p => client.getPrompt(p, opt) });
    if (transport.terminateSession && transport.sessionId) await transport.terminateSession().catch(e => { out.terminate = describeError(e); });
} catch (e) {
    (out.errors ??= {}).connect = describeError(e);
}
if (asked.length) out.answered = asked;
if (notes.length) out.notifications = notes;
await Promise.race([client.close().catch(() => {}), new Promise(r => setTimeout(r, 3000))]);
finish(out);
