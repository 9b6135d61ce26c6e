// SPDX-License-Identifier: MIT
// What a run of the conformance suite comes to, read from the files it left:
//   verdict.mjs FOLDER REVISION SUITE VERBOSE [SCENARIO…]
// A line for each check that did not pass, then "REVISION: N passed, N failed, N skipped (…)". A warning counts as failed, a
// skipped check only where the scenario is required, and a scenario that left nothing as one failed check: a suite that broke
// must not read as one that passed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [folder, revision, suite, verbose, ...only] = process.argv.slice(2);
const version = JSON.parse(readFileSync(path.join(suite, 'package.json'))).version;
/** Scenarios that the pinned suite runs, at the least: fewer were lost. */
const expected = { '2025-11-25': 33, '2026-07-28': 50, '2025-06-18': 27, '2025-03-26': 1, '0.1': 32 }[revision];

/** The scenarios that the revision requires of a server; null: no such set. The file is a flat list of YAML. */
function required() {
    const file = path.join(suite, 'requirements', `${revision}.yaml`);
    if (!existsSync(file)) return null;
    const names = [];
    let section = '';
    for (const line of readFileSync(file, 'utf8').split('\n')) {
        section = /^(\w+):\s*$/.exec(line)?.[1] ?? section;
        const item = /^\s+-\s+(\S+)/.exec(line);
        if (section === 'server' && item) names.push(item[1]);
    }
    return names;
}

/** What ran: name → its checks. What threw or ran out of time left none; the log names it. */
function results(must) {
    const all = new Map();
    for (const dir of readdirSync(path.join(folder, 'results'))) {
        const file = path.join(folder, 'results', dir, 'checks.json');
        if (existsSync(file)) all.set(dir.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''), JSON.parse(readFileSync(file)));
    }
    const log = readFileSync(path.join(folder, 'suite.log'), 'utf8');
    const started = [...log.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(m => m[1]);
    for (const name of [...started, ...only, ...(only.length ? [] : must ?? [])]) if (!all.has(name)) all.set(name, []);
    return all;
}

const must = required(), ran = results(must);
const isScored = name => only.length > 0 || must === null || must.includes(name);
const count = { scored: 0, unscored: 0, failed: 0, skipped: 0 };
const report = (mark, scenario, check) => {
    console.log(`${mark} ${revision} ${scenario}: ${check.id}${isScored(scenario) ? '' : ' (not scored)'}`);
    if (verbose && check.errorMessage) console.log(`       ${check.errorMessage.replace(/\s+/g, ' ').slice(0, 500)}`);
};
for (const [scenario, checks] of ran) {
    if (checks.length === 0) checks.push({ id: 'no-verdict', status: 'FAILURE', errorMessage: 'it threw, ran out of time or never ran: suite.log says more' });
    for (const check of checks) {
        const lost = check.status === 'FAILURE' || check.status === 'WARNING' || (check.status === 'SKIPPED' && isScored(scenario));
        if (check.status === 'SUCCESS') count[isScored(scenario) ? 'scored' : 'unscored']++;
        else if (lost) { count.failed++; report('FAIL', scenario, check); }
        else if (check.status === 'SKIPPED') { count.skipped++; report('skip', scenario, check); }
    }
}
if (!only.length && ran.size < expected) {
    count.failed++;
    console.log(`FAIL ${revision}: ${ran.size} scenarios ran, the suite has ${expected}`);
}
console.log(`${revision}: ${count.scored + count.unscored} passed, ${count.failed} failed, ${count.skipped} skipped ` +
    `(${must === null ? '' : `${count.scored} required and ${count.unscored} unscored checks, `}${ran.size} scenarios, suite ${version})`);
