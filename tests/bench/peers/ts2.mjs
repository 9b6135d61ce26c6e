// SPDX-License-Identifier: MIT
// The peer: the smallest server on the TypeScript SDK v2, one tool with input and output schema, over stdio.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = z.object({ text: z.string().max(1000) });
await serveStdio(() => {
    const server = new McpServer({ name: 'ts-sdk-v2', version: '2' });
    server.registerTool('echo', { description: 'Returns the text', inputSchema: text, outputSchema: text },
        async ({ text: t }) => ({ content: [{ type: 'text', text: JSON.stringify({ text: t }) }], structuredContent: { text: t } }));
    return server;
});
