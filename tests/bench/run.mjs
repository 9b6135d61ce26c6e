// SPDX-License-Identifier: MIT
// Interleaved rounds (A B C, A B C, …) of stdiobench over the servers; prints a table and writes the raw figures.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { HOME } from '../clients/common.mjs';

const build = process.env.LASTRO_BUILD || path.resolve(import.meta.dirname, '../../build');
const rounds = Number(process.argv[2] ?? 5), cold = Number(process.argv[3] ?? 10);
const sdk2 = path.join(HOME, 'sdk2');
const servers = [
    { name: 'Lastro, all plugins', command: [path.join(build, 'lastro')] },
    { name: 'TypeScript SDK v2, one tool', command: [process.execPath, path.join(sdk2, 'ts2.mjs')], needs: path.join(sdk2, '.done') },
    { name: 'limit (C, no JSON, no tool)', command: [path.join(build, 'bench/limit_stdio')] }
].filter(s => !s.needs || existsSync(s.needs) || console.log(`skipped: ${s.name} (scripts/setup clients brings it)`));

const runs = Object.fromEntries(servers.map(s => [s.name, []]));
for (let r = 0; r < rounds; r++)
    for (const s of servers)
        runs[s.name].push(JSON.parse(execFileSync(path.join(build, 'bench/stdiobench'), ['--cold', String(cold), '--', ...s.command], { encoding: 'utf8' })));

const spread = (values, digits) => {
    const v = values.toSorted((a, b) => a - b), mid = v.length >> 1;
    const median = v.length % 2 ? v[mid] : (v[mid - 1] + v[mid]) / 2;
    return { min: v[0], median, max: v.at(-1), text: `${median.toFixed(digits)} (${v[0].toFixed(digits)}–${v.at(-1).toFixed(digits)})` };
};
const table = servers.map(s => {
    const all = runs[s.name];
    return { name: s.name, cold_ms: spread(all.flatMap(r => r.cold_ms), 2), rss_mb: spread(all.map(r => r.rss_kb / 1024), 1),
        pss_mb: spread(all.map(r => r.pss_kb / 1024), 1), ping_us: spread(all.map(r => r.ping_us), 0), list_bytes: all[0].list_bytes };
});
console.log(`${rounds} interleaved rounds of ${cold} starts each; median (min–max); ${cpus().length} × ${cpus()[0].model.trim()}, Node ${process.versions.node}\n`);
console.log('| server | fork to answer of initialize, ms | idle RSS, MB | idle PSS, MB | ping, µs | tools/list, bytes |\n|---|---|---|---|---|---|');
for (const t of table) console.log(`| ${t.name} | ${t.cold_ms.text} | ${t.rss_mb.text} | ${t.pss_mb.text} | ${t.ping_us.text} | ${t.list_bytes} |`);
const out = path.join(build, 'bench-results');
mkdirSync(out, { recursive: true });
writeFileSync(path.join(out, 'stdio.json'), JSON.stringify({ date: new Date().toISOString(), rounds, cold, load: loadavg(), table, runs }, null, 1) + '\n');
