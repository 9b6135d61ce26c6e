// SPDX-License-Identifier: MIT
// bcb_variacao through the real host, over plugin sgs and the simulated source: figures, refusals, warnings, provenance.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { BUILD, SHARED, assertValid, call, files, lastro, manifest, needShared, session, sim } from './lib.mjs';

const plugin = name => ({ name, library: path.join(BUILD, 'plugins', `${name}.so`) });
const env = { LASTRO_MANIFEST: manifest([plugin('sgs'), plugin('stats')]) };
const year = y => ({ dataInicial: `${y}-01-01`, dataFinal: `${y}-12-31` });
const said = (r, what) => assert.ok(r.structured.avisos?.some(a => what.test(a)), `no aviso like ${what}: ${JSON.stringify(r.structured?.avisos)}`);

let source;
before(async () => { source = await sim(); });
after(() => source.stop());

async function vary(args, more = {}) {
    const r = await call('bcb_variacao', args, { sim: source, env, ...more });
    assert.equal(r.code, 0, `${JSON.stringify(args)}: ${r.text ?? ''}${r.stderr}`);
    assert.deepEqual(JSON.parse(r.text), r.structured, 'content[0] is the structured result');
    assert.equal(Object.keys(r.structured)[0], 'completo');
    return r;
}
async function refused(args, ...why) {
    const r = await call('bcb_variacao', args, { sim: source, env });
    assert.equal(r.code, 1, r.stdout + r.stderr);
    assert.equal(r.result.isError, true);
    for (const w of why) assert.match(r.text, w);
    return r;
}
/** Checks method and figures; `want` has the members of analise, estatisticas and periodo to compare. */
async function figures(args, metodo, want) {
    const { structured: s } = await vary(args);
    const got = { ...s.periodo, ...s.estatisticas, ...s.analise };
    assert.equal(s.analise.metodo, metodo);
    for (const [k, v] of Object.entries(want)) assert.deepEqual(got[k], v, `${JSON.stringify(args)}: ${k}`);
    return s;
}

describe('figures', () => {
    test('IPCA 2024, F031 IGP-M 2023, Selic of the months of 2024', async () => {
        await figures({ codigo: 433, ...year(2024) }, 'encadeamento', { variacaoPercentual: 4.8313, variacaoFormatada: '+4.83%',
            diferencaAbsoluta: null, valorInicial: 0.42, valorFinal: 0.52, media: 0.3942, amplitude: 0.85, maximo: 0.83, minimo: -0.02,
            dataMinimo: '01/08/2024', totalPeriodos: 12, observacoesEncadeadas: 12, dataInicial: '01/01/2024', dataFinal: '01/12/2024' });
        await figures({ codigo: 189, ...year(2023) }, 'encadeamento', { variacaoPercentual: -3.1783, variacaoFormatada: '-3.18%' });
        await figures({ codigo: 4390, ...year(2024) }, 'encadeamento', { variacaoPercentual: 10.8881, variacaoFormatada: '+10.89%' });
    });
    test('both ways to write a date give the same', async () => {
        const a = await vary({ codigo: 433, ...year(2024) });
        const b = await vary({ codigo: 433, dataInicial: '01/01/2024', dataFinal: '31/12/2024' });
        assert.deepEqual(b.structured.analise, a.structured.analise);
    });
    test('F032 IPCA 01/2024 to 01/2026', () => figures({ codigo: 433, dataInicial: '2024-01-01', dataFinal: '2026-01-01' }, 'encadeamento',
        { variacaoPercentual: 9.6624, totalPeriodos: 25 }));
    test('V067 and V068: CDI of 2023 and 2017 from the daily series', { skip: needShared }, async () => {
        await figures({ codigo: 12, ...year(2023) }, 'encadeamento', { variacaoFormatada: '+13.04%' });
        const s = await figures({ codigo: 12, ...year(2017) }, 'encadeamento', { variacaoFormatada: '+9.93%' });
        assert.match(s.derivacao.nota, /data final de fora/);
    });
    test('F034: Selic of 2016, the daily series and the two-decimal months', { skip: needShared }, () =>
        figures({ codigo: 11, ...year(2016) }, 'encadeamento', { variacaoPercentual: 14.0186, totalPeriodos: 251 }));
    test('V079: savings of 2024 take one row a month, statistics all of them', { skip: needShared }, async () => {
        const s = await figures({ codigo: 25, ...year(2024) }, 'encadeamento', { variacaoFormatada: '+7.03%', totalPeriodos: 336,
            observacoesEncadeadas: 12, cobertura: { inicio: '01/01/2024', fim: '01/01/2025' } });
        assert.match(s.derivacao.nota, /7828/);
    });
    test('TR chains rows where the one before ends', { skip: needShared }, async () => {
        const dir = files({ 'sgs/226.json': readFileSync(path.join(SHARED, 'data/bcb/sgs/body_226_2026.json'), 'utf8') });
        const tr = await sim({ data: dir, clock: '2026-10-02T10:00:00-03:00' });
        try {
            const r = await vary({ codigo: 226, dataInicial: '2026-01-01', dataFinal: '2026-09-30' },
                { sim: tr, env: { ...env, LASTRO_CLOCK: '2026-10-02T10:00:00-03:00' } });
            assert.equal(r.structured.analise.variacaoPercentual, 1.4945);
            assert.equal(r.structured.analise.observacoesEncadeadas, 9);
            assert.deepEqual(r.structured.analise.cobertura, { inicio: '01/01/2026', fim: '01/10/2026' });
        } finally { await tr.stop(); }
    });
    test('a level: change, and digits as published', { skip: needShared }, async () => {
        const r = await vary({ codigo: 24363, dataInicial: '2015-01-01', dataFinal: '2015-03-01' });
        assert.equal(r.structured.analise.metodo, 'nivel');
        assert.equal(r.structured.analise.variacaoPercentual, 7.6494); /* (104.38416 - 96.96675) / 96.96675 */
        assert.equal(r.structured.analise.diferencaAbsoluta, 7.4174);
        assert.equal(r.structured.analise.unidadeDaDiferenca, 'Índice');
        assert.match(r.text, /"minimo":95\.68290,/, 'the source printed 95.68290');
    });
});

describe('F043, F011, F008: what the source sends', () => {
    const rows = list => list.map(([data, valor]) => ({ data, valor }));
    let odd;
    before(async () => {
        odd = await sim({ data: files({
            'sgs/1.json': rows([['02/01/2024', '0.0000'], ['03/01/2024', '4.9000'], ['04/01/2024', '4.8900']]),
            'sgs/20539.json': rows([['01/01/2024', ''], ['01/02/2024', '100'], ['01/03/2024', null], ['01/04/2024', '108']]),
            'sgs/22701.json': rows([['01/01/2024', '-100'], ['01/02/2024', '-50']]),
            'sgs/433.json': rows([['01/01/2024', '0.1'], ['01/02/2024', '0.05']]),
            'sgs/188.json': rows([['01/01/2024', '0.50'], ['01/04/2024', '1.00']]),
            'sgs/24363.json': rows([['01/01/2024', '100.00000'], ['01/02/2024', '99.99951']]),
            'sgs/4513.json': rows([['01/03/2026', '108'], ['01/02/2026', '104'], ['01/01/2026', '100']])
        }) });
    });
    after(() => odd.stop());
    const at = async (codigo, args = { dataInicial: '2024-01-01', dataFinal: '2024-12-31' }) => await vary({ codigo, ...args }, { sim: odd });

    test('a start of zero has no percentage, and says why', async () => {
        const { structured: { analise } } = await at(1);
        assert.equal(analise.variacaoPercentual, null);
        assert.equal(analise.variacaoFormatada, null);
        assert.match(analise.motivo, /zero/);
        assert.equal(analise.diferencaAbsoluta, 4.89);
    });
    test('F011: rows without value are counted, and are neither zero nor ends', async () => {
        const { structured: s } = await at(20539);
        assert.equal(s.analise.variacaoPercentual, 8);
        assert.equal(s.estatisticas.media, 104);
        assert.deepEqual(s.periodo, { dataInicial: '01/02/2024', dataFinal: '01/04/2024', totalPeriodos: 2, observacoesSemValor: 2 });
    });
    test('a negative start divides by its magnitude', async () => {
        const r = await at(22701);
        assert.equal(r.structured.analise.variacaoPercentual, 50);
        said(r, /negativo/);
    });
    test('a tie goes away from zero', async () => assert.equal((await at(433)).structured.analise.variacaoPercentual, 0.1501));
    test('the formatted figure comes from the full value and keeps its sign', async () => {
        const { structured: { analise } } = await at(24363);
        assert.equal(analise.variacaoPercentual, -0.0005);
        assert.equal(analise.variacaoFormatada, '-0.00%');
    });
    test('missing months in a chain are told', async () => said(await at(188), /Faltam 2 meses/));
    test('F008: newest first is put in order', async () => {
        const r = await at(4513, { periodos: 3 });
        assert.equal(r.structured.analise.variacaoPercentual, 8);
        assert.equal(r.structured.periodo.dataFinal, '01/03/2026');
    });
});

describe('what is refused', () => {
    test('F038: accumulated series, before the network, with what to use', async () => {
        const before = (await source.requests()).length;
        await refused({ codigo: 13522, ...year(2024) }, /acumulado em 12 meses/, /\b433\b/, /bcb_serie_ultimos/);
        await refused({ codigo: 4381, ...year(2024) }, /desde janeiro/, /\b4380\b/);
        await refused({ codigo: 4382, ...year(2024) }, /\b4380\b/);
        await refused({ codigo: 5793, ...year(2024) }, /12 meses/);
        assert.equal((await source.requests()).length, before, 'nothing was asked of the source');
    });
    test('a window of one observation', () => refused({ codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-01-31' }, /1 observação/, /periodos/));
    test('F079: a misspelt argument is named', () => refused({ codigo: 433, data_inicial: '2024-01-01' }, /data_inicial/, /dataInicial/));
    test('days that do not exist, and windows that end before they begin', async () => {
        await refused({ codigo: 433, dataInicial: '2024-02-30' }, /2024-02-30/);
        await refused({ codigo: 433, dataInicial: '2024-12-31', dataFinal: '2024-01-01' }, /dataFinal/);
    });
    test('codes that cannot be', async () => {
        await refused({}, /codigo/);
        await refused({ codigo: 0 }, /codigo/);
        await refused({ codigo: 433.5 }, /codigo/);
    });
});

describe('what is said besides the figures', () => {
    test('periodos above 1000 ends where fewer do, also where the series runs ahead', async () => {
        const [few, many] = await Promise.all([1000, 1001].map(async periodos => (await vary({ codigo: 432, periodos })).structured));
        assert.equal(few.periodo.dataFinal, many.periodo.dataFinal);
        assert.deepEqual([few.periodo.totalPeriodos, many.periodo.totalPeriodos], [1000, 1001]);
    });
    test('periodos above 1 wins over dates', async () => {
        const r = await vary({ codigo: 433, periodos: 12, dataInicial: '2020-01-01' });
        assert.equal(r.structured.periodo.totalPeriodos, 12);
        said(r, /dataInicial e dataFinal foram ignoradas/);
        const alone = await vary({ codigo: 433, periodos: 12 });
        assert.ok(!alone.structured.avisos?.some(a => /ignorad/.test(a)));
        assert.deepEqual(alone.structured.analise, r.structured.analise);
    });
    test('periodos of 1 or less, and fractions: what was done', async () => {
        for (const periodos of [1, 0, -3, 0.5]) {
            const r = await vary({ codigo: 433, periodos, ...year(2024) });
            assert.equal(r.structured.analise.variacaoPercentual, 4.8313);
            said(r, /ignorado.*Valeram as datas/);
        }
        const r = await vary({ codigo: 433, periodos: 12.7 });
        assert.equal(r.structured.periodo.totalPeriodos, 12);
        said(r, /lido como 12\b/);
    });
    test('more periods than the series has, and more than 1000', { skip: needShared }, async () => {
        const r = await vary({ codigo: 433, periodos: 5000 });
        assert.ok(r.structured.periodo.totalPeriodos > 500);
        said(r, /5000/);
        const daily = await vary({ codigo: 11, periodos: 1500 });
        assert.equal(daily.structured.periodo.totalPeriodos, 1500);
        assert.equal(daily.structured.janelaAplicada, undefined, 'nobody asked for a window');
        const few = await vary({ codigo: 11, periodos: 900 });
        assert.equal(few.structured.periodo.dataFinal, daily.structured.periodo.dataFinal);
    });
    test('a rate a year is a level in points, with what accumulates', async () => {
        const r = await vary({ codigo: 432, dataInicial: '2024-01-01', dataFinal: '2024-12-31' });
        assert.equal(r.structured.analise.metodo, 'nivel');
        assert.equal(r.structured.analise.unidadeDaDiferenca, 'pontos percentuais');
        assert.equal(r.structured.analise.diferencaAbsoluta, 0.5); /* 11.75 to 12.25 */
        said(r, /pontos percentuais.*\b11\b.*\b4390\b/);
    });
    test('an unknown series that looks like rates is never silently a level', { skip: needShared }, async () => {
        const r = await vary({ codigo: 28655, ...year(2023) });
        const { serie, analise } = r.structured;
        assert.equal(serie.natureza, null);
        assert.equal(analise.metodo, 'nivel');
        assert.equal(analise.metodoSuposto, true);
        assert.equal(analise.alternativa.variacaoFormatada, '-3.18%');
        said(r, /^ATENÇÃO.*28655/);
    });
    test('an unknown series: the level is declared an assumption', { skip: needShared }, async () => {
        const r = await vary({ codigo: 28763, ...year(2024) });
        assert.equal(r.structured.analise.metodoSuposto, true);
        assert.equal(r.structured.analise.alternativa, undefined);
        said(r, /SUPÕE/);
    });
    test('provenance: one block of the source, marked as derived by this engine', async () => {
        const { structured: { provenance: p, attribution, derivacao } } = await vary({ codigo: 433, ...year(2024) });
        assert.match(p.source_url, /bcdata\.sgs\.433/);
        assert.match(p.data_vintage, /01\/01\/2024.*01\/12\/2024/);
        assert.equal(p.derived, true);
        assert.match(p.derivation_note, /lastro\/stats/);
        assert.ok(attribution.length >= 1);
        assert.match(derivacao.motor, /^lastro\/stats \d/);
        assert.match(derivacao.nota, /12 taxas/);
    });
    test('--offline answers from the snapshot and says so', async () => {
        const r = await call('bcb_variacao', { codigo: 433, ...year(2024) }, { offline: true, env });
        assert.equal(r.code, 0, r.text);
        assert.equal(r.structured.analise.variacaoPercentual, 4.8313);
        assert.match(JSON.stringify(r.structured), /instantâneo|snapshot/i);
    });
});

describe('the surface', () => {
    test('results of every kind pass the listed schema', async () => {
        const list = await lastro(['list', 'tools', '--json'], { env });
        const tools = list.json();
        const tool = (tools.tools ?? tools).find(t => t.name === 'bcb_variacao');
        assert.ok(tool, list.stdout.slice(0, 500));
        for (const args of [{ codigo: 433, ...year(2024) }, { codigo: 432, periodos: 5 }, { codigo: 1, ...year(2023) }])
            await assertValid(tool.outputSchema, (await vary(args)).structured, JSON.stringify(args));
    });
    test('without plugin sgs it is not loaded, and the log says what is missing', async () => {
        await session({ manifest: manifest([plugin('stats')]) }, async s => {
            await s.initialize();
            const r = await s.request('tools/list');
            assert.deepEqual((r.result?.tools ?? []).map(t => t.name), []);
            await s.close();
            assert.match(s.stderr, /stats/);
            assert.match(s.stderr, /series/);
        });
    });
});
