// SPDX-License-Identifier: MIT
// Plugin sgs against the simulated source: figures, limits, requests made, words of failure, snapshot, provenance.
// F… are the field cases of the specification. Every result is checked against the schema that tools/list shows.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { assertValid, BUILD, call, files, lastro, needShared, session, sim, SLACK, sources } from './lib.mjs';

const MANIFEST = path.join(BUILD, 'manifest.json');
const BASE = 'https://api.bcb.gov.br';
let source, schemas;
const seen = {}; // tool → its structured results

before(async () => {
    source = await sim();
    await session({ manifest: MANIFEST }, async s => {
        await s.initialize();
        schemas = Object.fromEntries((await s.result('tools/list')).tools.map(t => [t.name, t.outputSchema]));
    });
});
after(() => source?.stop());

/** A call that must succeed → the structured result; its text is the same document. */
async function ok(tool, args, opts = {}) {
    const r = await call(tool, args, { sim: source, ...opts });
    assert.ok(r.result, r.stderr);
    assert.ok(!r.result.isError, r.text);
    assert.deepEqual(JSON.parse(r.text), r.structured);
    (seen[tool] ??= []).push(r.structured);
    return r.structured;
}
/** A call that must fail → its text. */
async function bad(tool, args, opts = {}) {
    const r = await call(tool, args, { sim: source, ...opts });
    assert.ok(r.result?.isError, `${tool} ${JSON.stringify(args)} should fail: ${r.text?.slice(0, 300)}`);
    assert.equal(r.structured, undefined);
    return r.text;
}
/** How often fn made the source answer, and which queries. */
async function counted(fn, at = source) {
    await at.reset();
    const value = await fn();
    const { total, log } = await at.requests();
    return { value, total, log };
}
const dates = r => r.dados.map(d => d.data);
const iso = d => d.split('/').reverse().join('-');
const said = (r, what) => assert.match((r.avisos ?? []).join('\n'), what);
const unsaid = (r, what) => assert.doesNotMatch((r.avisos ?? []).join('\n'), what);
function ascending(r) {
    const days = dates(r).map(iso);
    assert.deepEqual(days, [...days].sort());
    assert.equal(new Set(days).size, days.length, 'a date twice');
}
/** What an address of the provenance brings from the simulated source, oldest first. */
async function replay(url) {
    assert.ok(url.startsWith(BASE + '/'), url);
    const r = await fetch(source.url + url.slice(BASE.length));
    assert.equal(r.status, 200, url);
    return (await r.json()).sort((a, b) => iso(a.data) < iso(b.data) ? -1 : 1);
}
/** The answer's rows are what the address gives, to the digit (rows of before the window aside: F007). */
async function reproduces(r, raw) {
    const rows = (await replay(r.provenance.source_url)).filter(o => iso(o.data) >= iso(r.dados[0].data));
    assert.deepEqual(rows.map(o => [o.data, Number(o.valor)]), r.dados.map(d => [d.data, d.valor]));
    if (raw) for (const o of rows) assert.ok(raw.includes(`"data":"${o.data}","valor":${o.valor}`), `${o.data} ${o.valor} lost digits`);
}

describe('windows', { skip: needShared }, () => {
    test('series 1 over ten years: four slices, 2,508 points, no hole, none twice (F002)', async () => {
        const { value: r, total } = await counted(() => ok('bcb_serie_valores', { codigo: 1, dataInicial: '01/01/2015', dataFinal: '31/12/2024' }));
        assert.equal(r.totalRegistros, 2508);
        assert.equal(r.dados.length, 2508);
        assert.equal(total, 4);
        assert.deepEqual(r.chunking, { janelas: 4, fatiaAnos: 3 });
        assert.equal(r.completo, true);
        ascending(r);
        assert.equal(r.provenance.data_vintage, '02/01/2015–31/12/2024');
        assert.equal(r.provenance.retrieval.requests, 4);
        const parts = r.provenance.field_sources;
        assert.deepEqual(parts.map(f => f.fields), Array(4).fill(['dados']));
        assert.equal(r.provenance.source_url, parts[0].source_url);
        const rows = new Map();
        for (const f of parts) for (const o of await replay(f.source_url)) rows.set(o.data, Number(o.valor));
        rows.delete('31/12/2014');
        assert.deepEqual(r.dados.map(d => [d.data, d.valor]), [...rows].sort((a, b) => iso(a[0]) < iso(b[0]) ? -1 : 1));
        assert.match(r.provenance.notices.join(' '), /4 fatias.*field_sources/);
    });
    test('three years of series 1 are 755 business days, in one request', async () => {
        const { value: r, total } = await counted(() => ok('bcb_serie_valores', { codigo: 1, dataInicial: '2019-01-01', dataFinal: '2021-12-31' }));
        assert.equal(r.totalRegistros, 755);
        assert.equal(total, 1);
        assert.equal(r.chunking, undefined);
        await reproduces(r);
    });
    test('a seam on 29 February loses nothing', async () => {
        const whole = await ok('bcb_serie_valores', { codigo: 1, dataInicial: '2016-02-29', dataFinal: '2024-02-29' });
        assert.equal(whole.dados[0].data, '29/02/2016');
        assert.equal(whole.dados.at(-1).data, '29/02/2024');
        let parts = 0;
        for (let y = 2016; y < 2024; y++)
            parts += (await ok('bcb_serie_valores', { codigo: 1, dataInicial: y === 2016 ? '2016-02-29' : `${y}-03-01`, dataFinal: y === 2023 ? '2024-02-29' : new Date(Date.UTC(y + 1, 2, 0)).toISOString().slice(0, 10) })).totalRegistros;
        assert.equal(whole.totalRegistros, parts);
        ascending(whole);
    });
    test('slices before the series begins answer 404: what exists is given', async () => {
        const { value: r, log } = await counted(() => ok('bcb_serie_valores', { codigo: 10813, dataInicial: '2008-01-01', dataFinal: '2016-12-31' }));
        assert.deepEqual(log.map(l => l.status).sort(), [200, 404, 404]);
        assert.equal(r.totalRegistros, 501);
        assert.equal(r.periodoInicial, '02/01/2015');
        assert.equal(r.completo, true);
    });
    test('a start of 1900 does not ask for a century that is not there (F002)', async () => {
        const { value: r, total } = await counted(() => ok('bcb_serie_valores', { codigo: 432, dataInicial: '01/01/1900', dataFinal: '06/05/2025' }));
        assert.equal(r.periodoInicial, '05/03/1999');
        assert.equal(r.totalRegistros, 9560);
        assert.ok(total <= 10, `${total} requests`);
        said(r, /começa em 05\/03\/1999/);
    });
    test('a window from a holiday keeps only its own days (F007)', async () => {
        const r = await ok('bcb_serie_valores', { codigo: 12, dataInicial: '01/05/2018', dataFinal: '03/05/2018' });
        assert.deepEqual(r.dados, [{ data: '02/05/2018', valor: 0.024583 }, { data: '03/05/2018', valor: 0.024583 }]);
        const none = await ok('bcb_serie_valores', { codigo: 12, dataInicial: '2018-05-01', dataFinal: '2018-05-01' });
        assert.equal(none.totalRegistros, 0);
        assert.deepEqual(none.dados, []);
        assert.equal(none.periodoInicial, undefined);
        assert.match(none.observacao, /período é que está vazio/);
    });
    test('a daily series without dates: ten years, said which (F001)', async () => {
        const { value: r, log } = await counted(() => ok('bcb_serie_valores', { codigo: 11 }));
        assert.deepEqual(log.map(l => l.status), [200, 200, 200, 200]);
        assert.equal(r.janelaAplicada.dataInicial, '21/08/2016');
        assert.equal(r.janelaAplicada.dataFinal, '21/08/2026');
        assert.match(r.janelaAplicada.motivo, /406.*10 anos/);
        assert.equal(r.periodoInicial, '22/08/2016');
        const until = await ok('bcb_serie_valores', { codigo: 11, dataFinal: '31/12/2010' });
        assert.equal(until.janelaAplicada.dataInicial, '31/12/2000');
        assert.equal(until.periodoFinal, '31/12/2010');
        const from = await ok('bcb_serie_valores', { codigo: 11, dataInicial: '2026-08-01' });
        assert.equal(from.janelaAplicada.dataFinal, '21/08/2026');
    });
    test('a monthly series is never cut: 46 years in one request', async () => {
        const { value: r, total } = await counted(() => ok('bcb_serie_valores', { codigo: 433 }));
        assert.equal(total, 1);
        assert.equal(r.totalRegistros, 559);
        assert.equal(r.janelaAplicada, undefined);
        await reproduces(r);
    });
    test('a series outside the catalogue is probed, then read (F047)', async () => {
        const { value: r, total } = await counted(() => ok('bcb_serie_valores', { codigo: 196, dataInicial: '2013-01-01', dataFinal: '2024-12-31' }));
        assert.equal(total, 2);
        assert.equal(r.totalRegistros, 144);
        assert.equal(r.serie.nome, 'Série 196');
        assert.equal(r.serie.categoria, 'Desconhecida');
        assert.equal(r.serie.periodicidade, 'Mensal');
        assert.equal(r.serie.periodicidadeInferida, true);
        assert.equal(r.serie.natureza, null);
        await reproduces(r);
    });
    test('a start in mid period says which point is left out', async () => {
        const r = await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-15', dataFinal: '2024-03-15' });
        assert.deepEqual(dates(r), ['01/02/2024', '01/03/2024']);
        said(r, /15\/01\/2024.*01\/01\/2024 ficou de fora/);
        unsaid(await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-03-15' }), /de fora/);
    });
    test('digits stay as published (F043)', async () => {
        const r = await call('bcb_serie_valores', { codigo: 11, dataInicial: '2024-01-01', dataFinal: '2024-01-31' }, { sim: source });
        await reproduces(r.structured, r.text);
        const ipca = await call('bcb_serie_valores', { codigo: 433, dataInicial: '1980-05-01', dataFinal: '1980-05-01' }, { sim: source });
        assert.match(ipca.text, /"data":"01\/05\/1980","valor":5\.70/);
    });
    test('dates that repeat with another dataFim are all kept (TR)', async () => {
        const r = await ok('bcb_serie_valores', { codigo: 226, dataInicial: '2026-03-01', dataFinal: '2026-03-01' });
        assert.equal(r.totalRegistros, 4);
        assert.equal(new Set(r.dados.map(d => d.dataFim)).size, 4);
    });
});

describe('arguments are checked before the network', () => {
    const cases = [
        [{ codigo: 433, dataInicial: '2023-02-29' }, /dataInicial "2023-02-29" não existe/],
        [{ codigo: 433, dataFinal: '2024-04-31' }, /dataFinal "2024-04-31" não existe/],
        [{ codigo: 433, dataInicial: '2024-01-32' }, /"2024-01-32"/],
        [{ codigo: 433, dataInicial: '2024-13-01' }, /"2024-13-01" tem mês que não existe/],
        [{ codigo: 433, dataInicial: '2024-2-5' }, /"2024-2-5".*aaaa-mm-dd.*dd\/mm\/aaaa/],
        [{ codigo: 433, dataInicial: '' }, /dataInicial/],
        [{ codigo: 433, dataInicial: '2024-12-01', dataFinal: '01/01/2024' }, /01\/12\/2024.*depois de.*01\/01\/2024/],
        [{ codigo: 0 }, /codigo/], [{ codigo: -1 }, /codigo/], [{ codigo: 433.5 }, /codigo.*433\.5/s],
        [{ codigo: '433' }, /codigo.*433/s], [{}, /codigo/], [{ codigo: null }, /codigo/],
        [{ codigo: 433, data_inicial: '2024-01-01' }, /data_inicial.*dataInicial/s],
        [{ codigo: 433, frequencia: 'semanal' }, /frequencia/],
        [{ codigo: 7326, frequencia: 'mensal' }, null],
        [{ codigo: 13522, frequencia: 'anual', agregacao: 'acumulada' }, /acumulada.*13522/s],
        [{ codigo: 25, frequencia: 'anual', agregacao: 'acumulada' }, /acumulada.*bcb_variacao/s]
    ];
    for (const [args, text] of cases.filter(c => c[1]))
        test(JSON.stringify(args), async () => {
            const { value, total } = await counted(() => bad('bcb_serie_valores', args));
            assert.match(value, text);
            assert.equal(total, 0);
        });
    test('ultimos and metadados refuse too', async () => {
        const { total } = await counted(async () => {
            await bad('bcb_serie_ultimos', { codigo: 433, quantidade: 0 });
            await bad('bcb_serie_ultimos', { codigo: 433, quantidade: 1001 });
            await bad('bcb_serie_ultimos', { codigo: 433, quantidade: 2.5 });
            await bad('bcb_serie_metadados', { codigo: 'ipca' });
        });
        assert.equal(total, 0);
    });
    test('a leap day and 433.0 are fine', async () => {
        await ok('bcb_serie_valores', { codigo: 1, dataInicial: '2024-02-29', dataFinal: '29/02/2024' });
        const r = await lastro(['call', 'bcb_serie_ultimos', '--args', '{"codigo":433.0}', '--json'], { env: sources(source.url) });
        assert.equal(r.json().structuredContent.serie.codigo, 433);
    });
});

describe('newest values', { skip: needShared }, () => {
    test('ascending, although the source sends some newest first (F008)', async () => {
        const r = await ok('bcb_serie_ultimos', { codigo: 4513, quantidade: 3 });
        assert.deepEqual(dates(r), ['01/06/2025', '01/07/2025', '01/08/2025']);
        assert.equal(r.dados.at(-1).valor, 64.21);
        await reproduces(r);
        said(r, /01\/08\/2025.*velho para o ritmo/);
    });
    test('ten by default, and fresh ones raise no warning (F019)', async () => {
        const { value: r, log } = await counted(() => ok('bcb_serie_ultimos', { codigo: 1 }));
        assert.equal(r.totalRegistros, 10);
        assert.equal(r.dados.at(-1).data, '21/08/2026');
        assert.equal(r.avisos, undefined);
        assert.match(log[0].path, /ultimos\/10$/);
    });
    test('240 of a monthly series: one request, exactly 240', async () => {
        const { value: r, total } = await counted(() => ok('bcb_serie_ultimos', { codigo: 433, quantidade: 240 }));
        assert.equal(total, 1);
        assert.equal(r.totalRegistros, 240);
        assert.equal(r.dados.at(-1).data, '01/07/2026');
        await reproduces(r);
    });
    test('1000 of a daily series: slices, exactly 1000', async () => {
        const r = await ok('bcb_serie_ultimos', { codigo: 1, quantidade: 1000 });
        assert.equal(r.totalRegistros, 1000);
        assert.equal(r.dados.at(-1).data, '21/08/2026');
        assert.ok(r.chunking.janelas >= 2);
        ascending(r);
    });
    test('more than 20 of a series outside the catalogue', async () => {
        const { value: r, total, log } = await counted(() => ok('bcb_serie_ultimos', { codigo: 196, quantidade: 30 }));
        assert.equal(total, 2);
        assert.ok(log.every(l => l.status === 200));
        assert.equal(r.totalRegistros, 30);
        await reproduces(r);
    });
    test('fewer than asked is said', async () => {
        const r = await ok('bcb_serie_ultimos', { codigo: 7326, quantidade: 100 });
        assert.equal(r.totalRegistros, 15);
        said(r, /Pedidos 100 pontos; a fonte só tem 15/);
    });
    test('fewer than asked of a daily series with long gaps: what lies before is not denied', async () => {
        const day = n => new Date(Date.UTC(1995, 0, 2 + n)).toISOString().slice(0, 10).split('-').reverse().join('/');
        const observations = [];
        for (let n = 0; n < 300; n++) observations.push([day(n), '1']);
        for (let n = 11400; n < 11540; n++) observations.push([day(n), '2']);
        const own = await sim({ data: files({ '7000.json': { code: 7000, name: 'x', observations } }) });
        try {
            const r = await ok('bcb_serie_ultimos', { codigo: 7000, quantidade: 200 }, { sim: own });
            assert.equal(r.totalRegistros, 140);
            assert.equal(r.completo, false);
            assert.match(r.aviso, /^INCOMPLETO: pedidos 200.*não foi lido/);
            unsaid(r, /só tem/);
        } finally { await own.stop(); }
    });
    test('days to come of the target rate are explained', async () => {
        const r = await ok('bcb_serie_ultimos', { codigo: 432, quantidade: 30 });
        assert.equal(r.totalRegistros, 30);
        assert.ok(iso(r.dados.at(-1).data) > '2026-08-21');
        said(r, /data futura.*Copom/);
        ascending(r);
    });
    test('the running month is marked', async () => {
        const r = await ok('bcb_serie_ultimos', { codigo: 4390, quantidade: 2 });
        assert.equal(r.dados[0].parcial, undefined);
        assert.deepEqual([r.dados[1].data, r.dados[1].parcial], ['01/08/2026', true]);
        said(r, /01\/08\/2026 é parcial/);
        const later = await ok('bcb_serie_ultimos', { codigo: 433, quantidade: 2 });
        unsaid(later, /parcial/);
    });
    test('a day without value stays, null and counted (F011)', async () => {
        const own = await sim({ faults: { rules: [{ match: { code: 433 }, effect: { empty_value: true } }] } });
        try {
            const last = await ok('bcb_serie_ultimos', { codigo: 433, quantidade: 3 }, { sim: own });
            assert.deepEqual(last.dados.map(d => d.valor), [null, null, null]);
            said(last, /3 de 3 datas vieram da fonte sem valor/);
            const w = await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-12-31' }, { sim: own });
            assert.equal(w.semValor, 12);
            assert.equal(w.totalRegistros, 12);
            const a = await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-12-31', frequencia: 'anual', agregacao: 'media' }, { sim: own });
            assert.deepEqual(a.dados.map(d => [d.valor, d.observacoes]), [[null, 0]]);
            assert.equal(a.harmonizacao.observacoesSemValor, 12);
        } finally { await own.stop(); }
    });
});

describe('coarser periods', { skip: needShared }, () => {
    const yearly = (agregacao, more = {}) => ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-12-31', frequencia: 'anual', agregacao, ...more });
    test('of the IPCA of 2024, and marked as derived', async () => {
        for (const [how, value] of [['ultimo', 0.52], ['primeiro', 0.42], ['media', 0.3942], ['soma', 4.73], ['acumulada', 4.8313]]) {
            const r = await yearly(how);
            assert.deepEqual(r.dados, [{ data: '01/01/2024', valor: value, observacoes: 12 }], how);
            assert.equal(r.harmonizacao.derived, true);
            assert.equal(r.harmonizacao.observacoesOriginais, 12);
            assert.equal(r.provenance.derived, true);
            assert.ok(r.provenance.derivation_note.length > 20);
            if (how === 'soma') said(r, /porcentagens não se somam/);
        }
    });
    test('IGP-M of 2023 is -3.18 %, the Selic of 2024 from 4390 is 10.89 %', async () => {
        const args = { dataInicial: '2023-01-01', dataFinal: '2024-12-31', frequencia: 'anual', agregacao: 'acumulada' };
        const igpm = await ok('bcb_serie_valores', { codigo: 189, ...args });
        assert.equal(igpm.dados[0].valor, -3.1783);
        const selic = await ok('bcb_serie_valores', { codigo: 4390, ...args });
        assert.equal(selic.dados[1].valor.toFixed(2), '10.89');
    });
    test('monthly means of the dollar are series 3698', async () => {
        const mine = await ok('bcb_serie_valores', { codigo: 1, dataInicial: '2020-01-01', dataFinal: '2024-12-31', frequencia: 'mensal', agregacao: 'media' });
        const theirs = await ok('bcb_serie_valores', { codigo: 3698, dataInicial: '2020-01-01', dataFinal: '2024-12-31' });
        assert.deepEqual(mine.dados.map(d => [d.data, d.valor]), theirs.dados.map(d => [d.data, d.valor]));
        assert.ok(mine.dados.every(d => !d.periodoIncompleto));
    });
    test('means and sums of large figures keep the digits: no long double is wide enough', async () => {
        const args = { codigo: 1207, dataInicial: '2012-01-01', dataFinal: '2022-12-31' };
        const plain = await ok('bcb_serie_valores', args);
        assert.equal(plain.dados.at(-1).valor, 9915316432886.13);
        for (const agregacao of ['media', 'soma']) {
            const r = await ok('bcb_serie_valores', { ...args, frequencia: 'anual', agregacao });
            assert.deepEqual(r.dados.map(d => d.valor), plain.dados.map(d => d.valor), agregacao);
        }
    });
    test('a result too large for four certain decimals is null, and that is said', async () => {
        const r = await ok('bcb_serie_valores', { codigo: 20704, dataInicial: '2024-01-01', dataFinal: '2024-12-31', frequencia: 'anual', agregacao: 'acumulada' });
        assert.deepEqual(r.dados.map(d => [d.valor, d.observacoes]), [[null, 12]]);
        said(r, /1 ponto\(s\) o resultado é grande demais/);
    });
    test('periods that are not whole are marked', async () => {
        const r = await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2025-03-01', frequencia: 'trimestral', agregacao: 'acumulada' });
        assert.deepEqual(r.dados.map(d => !!d.periodoIncompleto), [true, false, false, false, false, false, true]);
        assert.equal(r.harmonizacao.periodosIncompletos, 2);
        said(r, /2 ponto\(s\).*trimestre inteiro/);
    });
    test('agregacao alone is said to be ignored', async () => {
        said(await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2026-01-01', agregacao: 'media' }), /agregacao foi ignorada/);
    });
    test('never finer than the series, also where only the data tell', async () => {
        assert.match(await bad('bcb_serie_valores', { codigo: 1207, frequencia: 'mensal' }), /Anual.*mais fina/s);
    });
});

describe('metadata and catalogue', { skip: needShared }, () => {
    test('of a known series: unit, nature, start, last value, two blocks of provenance', async () => {
        const { value: r, total, log } = await counted(() => ok('bcb_serie_metadados', { codigo: 1 }));
        assert.equal(total, 1);
        assert.match(log[0].path, /ultimos\/20$/);
        assert.equal(r.unidade, 'Taxa unidade monetária corrente/dólar americano');
        assert.equal(r.natureza, 'nivel');
        assert.equal(r.inicio, '28/11/1984');
        assert.deepEqual(r.ultimoValor, { data: '21/08/2026', valor: 5.1625 });
        assert.equal(r.provenance.length, 2);
        assert.equal(r.provenance[1].retrieval, null);
        assert.ok((await replay(r.urlConsulta)).length > 700, 'urlConsulta answers');
        assert.equal((await replay(r.urlUltimos10)).length, 10);
    });
    test('of a series outside the catalogue', async () => {
        const r = await ok('bcb_serie_metadados', { codigo: 196 });
        assert.equal(r.categoria, 'Não categorizada');
        assert.equal(r.periodicidadeInferida, true);
        assert.equal(r.unidade, null);
        assert.equal(r.provenance.length, 1);
        assert.ok((await replay(r.urlConsulta)).length > 100);
    });
    test('the often confused ones are named right (F044)', async () => {
        for (const [codigo, name] of [[432, /Meta Selic/], [1178, /anualizada base 252/], [4513, /Dívida Líquida/], [4390, /acumulada no mês/]])
            assert.match((await ok('bcb_serie_ultimos', { codigo, quantidade: 1 })).serie.nome, name);
    });
    test('the catalogue, whole and by theme, without the network', async () => {
        const { value: all, total } = await counted(() => ok('bcb_series_populares', {}));
        assert.equal(total, 0);
        assert.equal(all.totalSeries, 135);
        assert.equal(all.categorias, 10);
        assert.equal(Object.values(all.series).flat().length, 135);
        const some = await ok('bcb_series_populares', { categoria: 'INFLACAO' });
        assert.ok(Array.isArray(some.series));
        assert.equal(some.totalSeries, some.series.length);
        assert.ok(some.series.every(s => s.categoria === 'Inflação'));
        const none = await ok('bcb_series_populares', { categoria: 'índices de mercado' });
        assert.deepEqual([none.totalSeries, none.series], [0, []]);
        assert.match(none.observacao, /Juros.*Poupança/);
    });
});

describe('a source in trouble', { skip: needShared, concurrency: 3 }, () => {
    const troubled = (name, rules, fn, more = {}) => test(name, async () => {
        const own = await sim({ faults: { rules }, ...more });
        try { await fn(own); } finally { await own.stop(); }
    });
    troubled('a page once, data the second time (F004)', [{ match: { code: 7478 }, schedule: { first: 1 }, effect: { html: true, delay_ms: 0 } }], async own => {
        const r = await ok('bcb_serie_ultimos', { codigo: 7478, quantidade: 1 }, { sim: own });
        assert.equal(r.provenance.retrieval.unstable, true);
        assert.deepEqual(r.provenance.retrieval.anomalies, [{ kind: 'malformed_body', count: 1 }]);
    });
    troubled('a page twice, then data: the series exists (F005)', [{ match: { code: 196 }, schedule: { first: 2 }, effect: { html: true, delay_ms: 0 } }], async own => {
        assert.equal((await ok('bcb_serie_ultimos', { codigo: 196, quantidade: 2 }, { sim: own })).totalRegistros, 2);
    });
    troubled('an answer cut in the middle is not taken for one', [{ match: { code: 7478 }, schedule: { first: 1 }, effect: { body: '[{"data":"01/05/2026","valor":"0.5', content_type: 'application/json' } }], async own => {
        assert.equal((await ok('bcb_serie_ultimos', { codigo: 7478, quantidade: 3 }, { sim: own })).totalRegistros, 3);
    });
    troubled('junk instead of a number is an error, and is named (F013)', [{ match: { code: 7478 }, effect: { body: '[{"data":"01/05/2026","valor":"12,3,4"}]', content_type: 'application/json' } }], async own => {
        assert.match(await bad('bcb_serie_ultimos', { codigo: 7478 }, { sim: own }), /valor ilegível: "12,3,4"/);
    });
    troubled('a comma is a decimal mark (F013)', [{ match: { code: 7478 }, effect: { body: '[{"data":"01/05/2026","valor":"1.234,56"},{"data":"01/06/2026","valor":",5"},{"data":"01/07/2026","valor":"1.7240"}]', content_type: 'application/json' } }], async own => {
        const r = await call('bcb_serie_ultimos', { codigo: 7478 }, { sim: own });
        assert.deepEqual(r.structured.dados.map(d => d.valor), [1234.56, 0.5, 1.724]);
        assert.match(r.text, /1\.7240/);
    });
    troubled('a wrong code fails in seconds, names both causes, and once known fails at once', [], async own => {
        await session({ manifest: MANIFEST, env: sources(own.url) }, async s => {
            await s.initialize();
            const began = Date.now();
            const r = await s.tool('bcb_serie_valores', { codigo: 99999, dataInicial: '2000-01-01', dataFinal: '2024-12-31' }, { ms: 30000 * SLACK });
            assert.ok(r.isError);
            assert.ok(Date.now() - began < 15000 * SLACK, `${Date.now() - began} ms`);
            assert.match(r.content[0].text, /código não existe.*instável/s);
            await own.reset();
            const again = await s.tool('bcb_serie_ultimos', { codigo: 99999 });
            assert.match(again.content[0].text, /código não existe.*instável.*menos de 1 minuto/s);
            assert.equal((await own.requests()).total, 0);
        });
    });
    troubled('the same when the source holds its page for 30 s', [], async own => {
        const began = Date.now();
        assert.match(await bad('bcb_serie_metadados', { codigo: 99999 }, { sim: own }), /2 tentativas.*código não existe.*instável/s);
        assert.ok(Date.now() - began < 16000 * SLACK, `${Date.now() - began} ms`);
    }, { args: ['--html-delay', '30200'] });
    troubled('no value in a window of a known series is not an unknown code (F010)', [], async own => {
        const text = await bad('bcb_serie_valores', { codigo: 433, dataInicial: '1970-01-01', dataFinal: '1975-12-31' }, { sim: own });
        assert.match(text, /a série existe.*01\/01\/1970.*começa em 01\/01\/1980/s);
    });
    troubled('a slice that fails fails the whole: nothing is left out in silence', [{ match: { query_contains: 'dataInicial=01%2F01%2F2018' }, effect: { status: 500 } }], async own => {
        assert.match(await bad('bcb_serie_valores', { codigo: 10813, dataInicial: '2015-01-01', dataFinal: '2024-12-31' }, { sim: own }), /01\/01\/2018 e 31\/12\/2020|HTTP 500/);
    });
    troubled('429 is waited out', [{ match: { code: 7478 }, schedule: { first: 1 }, effect: { status: 429, retry_after: 1 } }], async own => {
        const r = await ok('bcb_serie_ultimos', { codigo: 7478 }, { sim: own });
        assert.deepEqual(r.provenance.retrieval.anomalies.map(a => a.kind), ['rate_limited']);
    });
    test('a daily series that nobody knew: the 406 is read and the window cut, never repeated (F001)', async () => {
        const days = [];
        for (let d = Date.UTC(2006, 0, 2); d <= Date.UTC(2026, 7, 21); d += 86400000)
            if (new Date(d).getUTCDay() % 6) days.push([new Date(d).toISOString().slice(0, 10).split('-').reverse().join('/'), '1.50']);
        const own = await sim({ data: files({ '77777.json': { code: 77777, name: 'x', observations: days } }),
            faults: { rules: [{ match: { path_contains: 'ultimos' }, effect: { body: '[{"data":"21/08/2026","valor":"1.50"}]', content_type: 'application/json' } }] } });
        try {
            const { value: r, log } = await counted(() => ok('bcb_serie_valores', { codigo: 77777 }, { sim: own }), own);
            assert.deepEqual(log.map(l => l.status), [200, 406, 200, 200, 200, 200]);
            assert.equal(r.serie.periodicidade, 'Diária');
            assert.equal(r.janelaAplicada.dataInicial, '21/08/2016');
            assert.equal(r.totalRegistros, days.filter(d => iso(d[0]) >= '2016-08-21').length);
            assert.deepEqual(r.provenance.retrieval.anomalies, [{ kind: 'http_4xx', count: 1 }]);
            ascending(r);
        } finally { await own.stop(); }
    });
    test('a series that ended, as zeros, is not today\'s value (F046)', async () => {
        const months = Array.from({ length: 40 }, (_, i) => [`01/${String(i % 12 + 1).padStart(2, '0')}/${2012 + Math.floor(i / 12)}`, i < 20 ? '0.35' : '0.00']);
        const own = await sim({ data: files({ '10845.json': { code: 10845, name: 'x', observations: months } }) });
        try {
            const r = await ok('bcb_serie_ultimos', { codigo: 10845 , quantidade: 15 }, { sim: own });
            said(r, /01\/04\/2015.*velho/);
            said(r, /15 pontos são todos zero/);
        } finally { await own.stop(); }
    });
    troubled('out of reach: the snapshot, said to be one and of when (F010)', [{ effect: { status: 502 } }], async own => {
        const r = await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-12-31' }, { sim: own });
        assert.equal(r.totalRegistros, 12);
        assert.equal(r.completo, true);
        said(r, /respondeu sem entregar dado.*instantâneo.*11\/08\/2026/);
        assert.equal(r.provenance.retrieved_at, '2026-08-11T00:00:00-03:00');
        assert.match(r.provenance.notices.join(' '), /instantâneo/);
        assert.equal(r.provenance.revision, undefined);
        assert.match(await bad('bcb_serie_valores', { codigo: 13522, dataInicial: '2024-01-01', dataFinal: '2024-12-31' }, { sim: own }), /HTTP 502/);
    });
    troubled('more rows than asked: the newest, with an address that brings just them', [{ effect: { body: '[{"data":"01/05/2026","valor":"1"},{"data":"01/06/2026","valor":"2"},{"data":"01/07/2026","valor":"3"}]' } }], async own => {
        const r = await ok('bcb_serie_ultimos', { codigo: 433, quantidade: 2 }, { sim: own });
        assert.deepEqual(r.dados.map(d => d.valor), [2, 3]);
        assert.match(r.provenance.source_url, /dataInicial=01%2F06%2F2026&dataFinal=01%2F07%2F2026/);
    });
    troubled('an empty body is not called a page', [{ effect: { body: '', content_type: 'application/json' } }], async own => {
        assert.match(await bad('bcb_serie_valores', { codigo: 13522, dataInicial: '2024-01-01', dataFinal: '2024-12-31' }, { sim: own }), /mandou um corpo vazio/);
    });
    troubled('and not when the manifest does not allow it', [{ effect: { status: 502 } }], async own => {
        const file = path.join(files({ 'manifest.json': { manifest: 1, name: 't', title: 't', version: '0.0.1', publisher: 'dev.example.t', plugins: [
            { name: 'sgs', library: path.join(BUILD, 'plugins/sgs.so'), config: { snapshot: { whenUnreachable: false } } }] } }), 'manifest.json');
        const r = await lastro(['--manifest', file, 'call', 'bcb_serie_valores', '--args', '{"codigo":433,"dataInicial":"2024-01-01"}', '--json'], { env: sources(own.url) });
        assert.match(r.json().content[0].text, /IPCA.*HTTP 502/);
    });
});

describe('without network', () => {
    test('a whole window of the snapshot, digits and address included', async () => {
        const r = await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-01', dataFinal: '2024-12-31' }, { offline: true });
        said(r, /--offline.*instantâneo.*11\/08\/2026/);
        assert.match(r.observacao, /instantâneo/);
        await reproduces(r);
    });
    test('more than ten years of a daily series: each slice has its address, and they repeat the rows', async () => {
        const r = await ok('bcb_serie_valores', { codigo: 1, dataInicial: '2015-01-02', dataFinal: '2026-08-21' }, { offline: true });
        const p = r.provenance, slices = p.field_sources.map(f => new URL(f.source_url).searchParams);
        const iso = d => d.split('/').reverse().join('-');
        assert.equal(p.source_url, p.field_sources[0].source_url);
        assert.equal(iso(slices[0].get('dataInicial')), '2015-01-02');
        assert.equal(iso(slices.at(-1).get('dataFinal')), '2026-08-21');
        for (let i = 1; i < slices.length; i++)
            assert.equal(Date.parse(iso(slices[i].get('dataInicial'))) - Date.parse(iso(slices[i - 1].get('dataFinal'))), 86400000);
        assert.ok(p.field_sources.every(f => f.retrieved_at === p.retrieved_at && f.source_url.includes('%2F')));
        assert.match(p.notices.join(' '), /fatias/);
    });
    test('a start in mid period says which point is left out, as with the network', async () => {
        said(await ok('bcb_serie_valores', { codigo: 433, dataInicial: '2024-01-15', dataFinal: '2024-12-31' }, { offline: true }), /01\/01\/2024 ficou de fora/);
    });
    test('a window that the snapshot does not cover says so first', async () => {
        for (const args of [{ codigo: 433, dataInicial: '2010-01-01', dataFinal: '2024-12-31' }, { codigo: 1, dataInicial: '2026-01-01' }]) {
            const r = await ok('bcb_serie_valores', args, { offline: true, env: { LASTRO_CLOCK: '2026-09-30T10:00:00-03:00' } });
            assert.deepEqual(Object.keys(r).slice(0, 2), ['completo', 'aviso']);
            assert.equal(r.completo, false);
            assert.match(r.aviso, /^INCOMPLETO: instantâneo/);
        }
    });
    test('a window outside it is refused, and so is a series without one', async () => {
        assert.match(await bad('bcb_serie_valores', { codigo: 1, dataInicial: '2000-01-01', dataFinal: '2001-01-01' }, { offline: true }), /02\/01\/2015 a 21\/08\/2026.*nada do período/);
        assert.match(await bad('bcb_serie_ultimos', { codigo: 12 }, { offline: true }), /sem rede.*1, 188, 189, 432, 433, 4390/);
        assert.match(await bad('bcb_serie_ultimos', { codigo: 99999 }, { offline: true }), /sem rede/);
    });
    test('newest values of the snapshot are not passed off as today\'s', async () => {
        const r = await ok('bcb_serie_ultimos', { codigo: 433, quantidade: 2 }, { offline: true, env: { LASTRO_CLOCK: '2026-11-30T10:00:00-03:00' } });
        assert.deepEqual(dates(r), ['01/06/2026', '01/07/2026']);
        assert.equal(r.completo, false);
        const selic = await ok('bcb_serie_ultimos', { codigo: 4390, quantidade: 1 }, { offline: true });
        assert.equal(selic.dados[0].parcial, undefined);
    });
    test('what the catalogue knows is still told', async () => {
        const r = await ok('bcb_serie_metadados', { codigo: 12 }, { offline: true });
        assert.equal(r.completo, false);
        assert.match(r.aviso, /^INCOMPLETO: o último valor/);
        assert.equal(r.unidade, 'Percentual ao dia');
        assert.equal(r.ultimoValor, undefined);
        assert.equal((await ok('bcb_serie_metadados', { codigo: 433 }, { offline: true })).ultimoValor.valor, 0.07);
        assert.equal((await ok('bcb_series_populares', { categoria: 'juros' }, { offline: true })).totalSeries, 14);
    });
});

test('every result of this file fits the schema that tools/list shows (F080)', { skip: needShared }, async () => {
    for (const tool of ['bcb_serie_valores', 'bcb_serie_ultimos', 'bcb_serie_metadados', 'bcb_series_populares']) {
        assert.ok(seen[tool]?.length >= 3, `${tool}: ${seen[tool]?.length} results`);
        await assertValid({ type: 'array', items: schemas[tool] }, seen[tool], tool);
    }
});
