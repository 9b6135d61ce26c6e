#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks bcb-sim from outside: check.sh [PROGRAM]. Runs over fixture/ and, where it is there, over the
# recordings in ../shared/data/bcb beside the project; the same assertions must hold for both.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sim=${1:-$here/../../build/bcb-sim}
recorded=${BCB_SIM_RECORDED:-$here/../../../shared/data/bcb}
top=$(mktemp -d)
pid=
trap 'rm -rf "$top"' EXIT

ok() { echo "ok - $1"; }
not_ok() { echo "not ok - $1"; [ $# -lt 2 ] || printf '    %s\n' "${@:2}"; }
same() { if [ "$2" == "$3" ]; then ok "$1"; else not_ok "$1" "wanted: $3" "got:    ${2:0:400}"; fi; }
has() { if [[ "$2" == *"$3"* ]]; then ok "$1"; else not_ok "$1" "wanted in it: $3" "got: ${2:0:400}"; fi; }
hasnt() { if [[ "$2" != *"$3"* ]]; then ok "$1"; else not_ok "$1" "not wanted in it: $3"; fi; }
between() { if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then ok "$1"; else not_ok "$1" "$2 is not in $3..$4"; fi; }

start() { # options…: starts the simulator, sets base
    "$sim" --port 0 "$@" >"$work/out" 2>"$work/err" &
    pid=$!
    for _ in $(seq 200); do
        [ -s "$work/out" ] && break
        sleep 0.02
    done
    base=$(sed -n 's/^bcb-sim listening on //p' "$work/out")
    [ -n "$base" ] || { not_ok "starts with $*" "$(cat "$work/err")"; exit 1; }
}
stop() { # also where a sanitizer's report would show
    kill "$pid"
    wait "$pid"
    code=$? pid=
    same "ends well and says nothing" "$code $(cat "$work/err")" '0 '
}
get() { curl -sg --max-time 10 "$base$1" "${@:2}"; }
status() { curl -sg --max-time 10 -o /dev/null -w '%{http_code}' "$base$1" "${@:2}"; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
faults() { curl -s --data-binary "$1" "$base/__sim/faults" >"$work/faults"; }

sgs=/dados/serie/bcdata.sgs
focus=/olinda/servico/Expectativas/versao/v1/odata
ptax=/olinda/servico/PTAX/versao/v1/odata

check_sgs() {
    same "last three of 433, text as recorded; the running month is not out yet" "$(get "$sgs.433/dados/ultimos/3?formato=json")" \
        '[{"data":"01/05/2026","valor":"0.58"},{"data":"01/06/2026","valor":"0.16"},{"data":"01/07/2026","valor":"0.07"}]'
    same "1178 comes newest first from ultimos" "$(get "$sgs.1178/dados/ultimos/2?formato=json")" \
        '[{"data":"21/08/2026","valor":"13.90"},{"data":"20/08/2026","valor":"13.90"}]'
    same "and oldest first from a window" "$(get "$sgs.1178/dados?formato=json&dataInicial=20/08/2026&dataFinal=21/08/2026")" \
        '[{"data":"20/08/2026","valor":"13.90"},{"data":"21/08/2026","valor":"13.90"}]'
    has "4390 has the running month" "$(get "$sgs.4390/dados/ultimos/1")" '"01/08/2026"'
    same "a window from a holiday brings the day before (F007)" \
        "$(get "$sgs.12/dados?formato=json&dataInicial=01%2F05%2F2018&dataFinal=03%2F05%2F2018")" \
        '[{"data":"30/04/2018","valor":"0.024583"},{"data":"02/05/2018","valor":"0.024583"},{"data":"03/05/2018","valor":"0.024583"}]'
    hasnt "one from a business day does not" "$(get "$sgs.12/dados?dataInicial=02/05/2018&dataFinal=03/05/2018")" '30/04'
    same "a weekday past the last figure is an empty window" "$(status "$sgs.12/dados?dataInicial=24/08/2026&dataFinal=25/08/2026")" 404
    same "daily: ten years to the day pass" "$(status "$sgs.1/dados?dataInicial=05/01/2014&dataFinal=05/01/2024")" 200
    same "daily: and a day more does not" "$(status "$sgs.1/dados?dataInicial=05/01/2014&dataFinal=06/01/2024")" 406
    same "monthly has no such limit" "$(status "$sgs.433/dados?dataInicial=01/01/1980&dataFinal=01/01/2026")" 200
    same "monthly without dates is whole" "$(status "$sgs.433/dados?formato=json")" 200
    body=$(get "$sgs.12/dados?formato=json")
    has "daily without dates: 406 body with the code" "$body" 'bcdata.sgs.12/dados'
    has "406 body with the days of the clock" "$body" 'dataInicial=21/08/2016&dataFinal=21/08/2026'
    same "daily without a beginning: 406" "$(status "$sgs.1/dados?dataFinal=05/01/2024")" 406
    same "daily without an end counts to today" "$(status "$sgs.1/dados?dataInicial=22/08/2015")" 406
    same "and passes when that is near" "$(status "$sgs.1/dados?dataInicial=03/08/2026")" 200
    same "ultimos/20" "$(status "$sgs.433/dados/ultimos/20")" 200
    same "ultimos/21, monthly" "$(status "$sgs.433/dados/ultimos/21")" 400
    same "ultimos/21, daily" "$(status "$sgs.1/dados/ultimos/21")" 400
    same "ISO date: 400 and its body" "$(get "$sgs.1/dados?dataInicial=2024-01-31")" \
        '{"erro":{"statusCode":400,"detail":"br.gov.bcb.pec.sgs.comum.excecoes.SGSNegocioException: Invalid initial date"}}'
    same "30 February: 400" "$(status "$sgs.1/dados?dataInicial=30/02/2024")" 400
    same "empty window: 404 and its body" "$(get "$sgs.433/dados?dataInicial=01/01/1950&dataFinal=01/01/1960")" \
        '{"erro":{"statusCode":404,"detail":"br.gov.bcb.pec.sgs.comum.excecoes.SGSNegocioException: Value(s) not found"}}'
    same "no metadata service" "$(get "$sgs.433/metadados" -w ' %{http_code}')" 'endpoint not found! 404'
    has "json by its type" "$(get "$sgs.433/dados/ultimos/1" -o /dev/null -w '%{content_type}')" application/json
    t=$(now_ms)
    has "unknown code: a page, 200" "$(get "$sgs.99999/dados/ultimos/1" -w '%{http_code} %{content_type}')" '200 text/html'
    between "after its delay" $(($(now_ms) - t)) 300 2000
    same "432 goes past the clock" "$(get "$sgs.432/dados/ultimos/1")" '[{"data":"04/11/2026","valor":"13.75"}]'
    same "226 repeats a day with another dataFim" "$(get "$sgs.226/dados?dataInicial=01/03/2026&dataFinal=01/03/2026")" \
        '[{"data":"01/03/2026","dataFim":"29/03/2026","valor":"0.1697"},{"data":"01/03/2026","dataFim":"30/03/2026","valor":"0.1697"},{"data":"01/03/2026","dataFim":"31/03/2026","valor":"0.1716"},{"data":"01/03/2026","dataFim":"01/04/2026","valor":"0.1735"}]'
    has "25 has dataFim" "$(get "$sgs.25/dados?dataInicial=01/01/2024&dataFinal=02/01/2024")" \
        '{"data":"01/01/2024","dataFim":"01/02/2024","valor":'
    has "csv: decimal comma" "$(get "$sgs.433/dados?formato=csv&dataInicial=01/07/2026")" '"01/07/2026";"0,07"'
}

check_olinda() {
    has "numbers keep their zeros" \
        "$(get "$focus/ExpectativasMercadoInflacao12Meses?\$format=json&\$count=true&\$filter=Indicador%20eq%20'IPCA'%20and%20Data%20eq%20'2026-06-05'%20and%20Suavizada%20eq%20'N'")" \
        '"value":[{"Indicador":"IPCA","Data":"2026-06-05","Suavizada":"N","Media":4.2600,'
    same "select and top" "$(get "$focus/ExpectativasMercadoInflacao12Meses?\$filter=Data%20ge%20'2026-06-05'%20and%20Data%20le%20'2026-06-05'%20and%20Suavizada%20eq%20'S'&\$select=Data,Mediana&\$top=1" | sed 's/.*"value"/"value"/')" \
        '"value":[{"Data":"2026-06-05","Mediana":4.0421}]}'
    has "accents in a filter (F028)" "$(get "$focus/ExpectativasMercadoAnuais?\$filter=Indicador%20eq%20'C%C3%A2mbio'%20and%20Data%20eq%20'2025-11-21'&\$top=1")" '"Indicador":"Câmbio"'
    hasnt "no survey from after the clock" "$(get "$focus/ExpectativasMercadoAnuais?\$filter=Data%20ge%20'2026-08-22'")" '"Data"'
    has "Top 5 of Selic in lower case" "$(get "$focus/ExpectativasMercadoTop5Selic?\$filter=indicador%20eq%20'Selic'&\$top=1")" '"mediana":14.2500'
    has "a number in a filter" "$(get "$focus/ExpectativasMercadoInflacao12Meses?\$filter=baseCalculo%20eq%200&\$top=1")" '"baseCalculo":0'
    has "order" "$(get "$ptax/CotacaoMoedaPeriodo(moeda=@m,dataInicial=@a,dataFinalCotacao=@b)?@m='USD'&@a='01-01-2024'&@b='01-05-2024'&\$orderby=dataHoraCotacao%20desc&\$top=1")" '"2024-01-05 '
    body=$(get "$focus/ExpectativasMercadoInflacao12Meses?\$filter=Naoexiste%20eq%20'x'" -w '%{http_code}')
    same "unknown property: 400 in a comment" "$body" "/*{
  \"codigo\" : 400,
  \"mensagem\" : \"The property 'Naoexiste', used in a query expression, is not defined in type 'br.gov.bcb.olinda.servico.Expectativas.ExpectativaMercadoInflacao12Meses'.\"
}*/400"
    same "broken filter: 400" "$(status "$focus/ExpectativasMercadoAnuais?\$filter=Indicador%20eq")" 400
    same "unknown resource: 404" "$(status "$focus/ExpectativasMercadoInstituicoes?\$top=1")" 404
    t=$(now_ms)
    get "$focus/ExpectativasMercadoAnuais?\$format=json" >/dev/null
    between "a survey without filter is slow (F029)" $(($(now_ms) - t)) 250 2000
    has "month first (F017)" "$(get "$ptax/CotacaoMoedaDia(moeda=@moeda,dataCotacao=@dataCotacao)?@moeda='USD'&@dataCotacao='01-03-2024'&\$format=json")" \
        '"value":[{"cotacaoCompra":4.92060,"cotacaoVenda":4.92120,"dataHoraCotacao":"2024-01-03 13:14:41.153"}]'
    has "dollar, encoded as clients do" "$(get "$ptax/CotacaoDolarDia(dataCotacao=@dataCotacao)?%40dataCotacao=%2705-05-2023%27&%24format=json")" '"cotacaoVenda":4.96960'
    has "an ISO date is empty" "$(get "$ptax/CotacaoDolarDia(dataCotacao=@dataCotacao)?@dataCotacao='2023-05-05'" -w '%{http_code}')" '"value":[]}200'
    has "a Saturday is empty" "$(get "$ptax/CotacaoDolarDia(dataCotacao=@dataCotacao)?@dataCotacao='01-06-2024'" -w '%{http_code}')" '"value":[]}200'
    has "currencies" "$(get "$ptax/Moedas?\$format=json")" '{"simbolo":"EUR","nomeFormatado":"Euro","tipoMoeda":"B"}'
    has "data sets" "$(get /api/3/action/package_list)" '"433-indice-nacional-de-precos-ao-consumidor-amplo-ipca"'
    has "data sets from names" "$(get /api/3/action/package_list)" '"1-taxa-de-cambio---livre---dolar-americano-venda---diario"'
    has "recorded search" "$(get "/api/3/action/package_search?fq=codigo_sgs:20786")" '20786-'
    has "other search" "$(get "/api/3/action/package_search?q=nothing")" '"count":0'
}

# the same request some times, one after the other
statuses() { curl -s --max-time 10 -o /dev/null -w '%{http_code} ' "$base$1?_=[1-$2]"; }
types() { curl -s --max-time 10 -o /dev/null -w '%{content_type}\n' "$base$1?_=[1-$2]" | cut -c1-9 | tr '\n' ' '; }

check_faults() {
    one=$sgs.433/dados/ultimos/1
    faults '{"rules":[{"match":{"code":433},"schedule":{"first":2},"effect":{"html":true,"delay_ms":0}}]}'
    same "page, page, then data" "$(types $one 3)" 'text/html text/html applicati '
    same "another code is spared" "$(types $sgs.1/dados/ultimos/1 1)" 'applicati '
    faults '[{"match":{"path_prefix":"/dados"},"schedule":{"every":3},"effect":{"status":502}}]'
    same "every third is 502" "$(statuses $one 6)" '200 200 502 200 200 502 '
    faults '[{"schedule":{"after":1,"first":2},"effect":{"status":503,"retry_after":7}}]'
    same "after one, two" "$(statuses $one 4)" '200 503 503 200 '
    faults '[{"effect":{"status":429,"retry_after":7}}]'
    has "retry-after" "$(get $one -D -)" 'Retry-After: 7'
    faults '[{"schedule":{"rate":0.5,"seed":7},"effect":{"status":502}}]'
    first=$(statuses $one 12)
    faults '[{"schedule":{"rate":0.5,"seed":7},"effect":{"status":502}}]'
    same "a rate repeats with its seed" "$(statuses $one 12)" "$first"
    has "and strikes" "$first" 502
    has "but not always" "$first" 200
    faults '[{"schedule":{"for_ms":300},"effect":{"status":502}}]'
    same "a storm of some time" "$(status $one)" 502
    sleep 0.35
    same "is over" "$(status $one)" 200
    faults '[{"effect":{"delay_ms":300}}]'
    t=$(now_ms)
    get $one >/dev/null
    between "delay" $(($(now_ms) - t)) 300 1500
    faults '[{"effect":{"slow":100}}]'
    t=$(now_ms)
    same "slow, but whole" "$(get $one)" '[{"data":"01/07/2026","valor":"0.07"}]'
    between "at its speed" $(($(now_ms) - t)) 250 1500
    faults '[{"effect":{"cut":20}}]'
    cut=$(get $one)
    same "cut: curl sees a part" "$? $cut" '18 [{"data":"01/07/2026'
    faults '[{"effect":{"drop":true}}]'
    get $one
    same "drop: no answer" "$?" 52
    faults '[{"effect":{"body":"[{\"data\":\"02/01/1991\",\"valor\":\"\"}]"}}]'
    same "body" "$(get $one)" '[{"data":"02/01/1991","valor":""}]'
    faults '[{"match":{"query_contains":"x=1"},"effect":{"redirect":"/dados/serie/bcdata.sgs.433/dados/ultimos/1"}}]'
    same "redirect" "$(get "$sgs.1/dados/ultimos/1?x=1" -L)" '[{"data":"01/07/2026","valor":"0.07"}]'
    faults '[{"effect":{"empty_value":true}}]'
    same "empty values, series" "$(get $one)" '[{"data":"01/07/2026","valor":""}]'
    has "empty values, survey" "$(get "$focus/ExpectativasMercadoTop5Selic?\$top=3")" '"value":[]}'
    faults '[{"effect":{"gzip":true}}]'
    has "gzip" "$(get $one --compressed -D - | tr -d '\r')" 'Content-Encoding: gzip'
    same "gzip, unpacked" "$(get $one --compressed)" '[{"data":"01/07/2026","valor":"0.07"}]'
    hasnt "no gzip for who did not ask" "$(get $one -D -)" 'gzip'
    faults '[{"effect":{"delay_ms":100}},{"schedule":{"first":1},"effect":{"status":502}}]'
    same "two rules at once" "$(statuses $one 2)" '502 200 '
    faults '[{"effect":{"htlm":true}}]'
    has "a wrong rule is refused" "$(cat "$work/faults")" 'rule 0:'
    same "and the old ones stay" "$(status $one)" 200
    faults '{"html_delay_ms":0}'
    t=$(now_ms)
    get $sgs.99999/dados/ultimos/1 >/dev/null
    between "the page's delay can be set" $(($(now_ms) - t)) 0 250
}

check_many() {
    faults '[{"match":{"query_contains":"slow"},"effect":{"delay_ms":1500}}]'
    curl -s -X POST "$base/__sim/reset" >/dev/null
    urls=()
    for i in $(seq 40); do urls+=("$base$sgs.433/dados/ultimos/1?slow=$i"); done
    t=$(now_ms)
    curl -sg --parallel --parallel-immediate --parallel-max 40 "${urls[@]}" >/dev/null 2>&1 &
    many=$!
    sleep 0.2
    t1=$(now_ms)
    get $sgs.433/dados/ultimos/1 >/dev/null
    between "a delay holds up no other request" $(($(now_ms) - t1)) 0 1200
    wait $many
    between "40 delays at once" $(($(now_ms) - t)) 1500 4500
    log=$(get /__sim/requests)
    has "requests are counted" "$log" '{"total":41,'
    has "by path" "$log" '"by_path":{"/dados/serie/bcdata.sgs.433/dados/ultimos/1":41}'
    has "and listed" "$log" '"query":"slow=17","status":200,"ms_since_start":'
    peak=$(sed 's/.*"max_in_flight":\([0-9]*\).*/\1/' <<<"$log")
    between "most in flight" "$peak" 30 41
    curl -s -X POST "$base/__sim/reset" >/dev/null
    has "reset" "$(get /__sim/requests)" '{"total":0,"by_path":{},"log":[],"in_flight":0,"max_in_flight":0}'
    faults '[{"effect":{"delay_ms":60000}}]'
    get $sgs.433/dados/ultimos/1 >/dev/null &
    waiting=$!
    sleep 0.1
    t=$(now_ms)
    stop
    wait $waiting
    between "SIGTERM ends it while a request waits" $(($(now_ms) - t)) 0 1500
}

check_start() {
    start --data "$here/fixture" --seed 5 --clock 2026-08-21 --html-delay 100
    has "synthetic and marked" "$(get $sgs.7777/dados/ultimos/2 -D -)" 'X-Synthetic: 1'
    same "the same again" "$(get $sgs.7777/dados/ultimos/20)" "$(get $sgs.7777/dados/ultimos/20)"
    hasnt "recorded ones are not marked" "$(get $sgs.433/dados/ultimos/2 -D -)" 'X-Synthetic'
    has "99999 stays unknown" "$(get $sgs.99999/dados/ultimos/1 -D -)" 'text/html'
    stop
    start --data "$here/fixture/snapshot" --clock 2026-08-21 --html-delay 100
    same "snapshot form" "$(get $sgs.433/dados/ultimos/1)" '[{"data":"01/07/2026","valor":"0.07"}]'
    has "snapshot form with dataFim" "$(get $sgs.226/dados?dataInicial=28/02/2026 -g)" '"dataFim":"28/03/2026"'
    has "built-in page" "$(get $sgs.1/dados/ultimos/1)" 'Requisição inválida!'
    has "data sets from snapshot names" "$(get /api/3/action/package_list)" '"433-indice-nacional-de-precos-ao-consumidor-amplo-ipca"'
    stop
    start --data "$here/fixture" --clock 2024-01-05T23:59:59-03:00
    has "the clock hides what is later" "$(get $sgs.1/dados/ultimos/1)" '"05/01/2024"'
    stop
    start --data "$here/fixture" --clock 2024-01-05T02:59:59Z
    has "the day is Brasilia's" "$(get $sgs.1/dados/ultimos/1)" '"04/01/2024"'
    stop
    start --data "$here/fixture" --clock 2026-08-21 --exact-windows
    hasnt "exact windows" "$(get "$sgs.12/dados?dataInicial=01/05/2018&dataFinal=03/05/2018")" '30/04'
    stop
    start --data "$here/fixture" --clock 2026-08-21 --obs-delay-us 20000 --html-delay 150
    has "a window too long for the source is the page" "$(get "$sgs.433/dados?dataInicial=01/01/2025")" '<html'
    has "a short one is data" "$(get "$sgs.433/dados?dataInicial=01/04/2026")" '"valor"'
    stop
    "$sim" --data "$work/none" >/dev/null 2>&1
    same "no such folder: exit 2" $? 2
    "$sim" --data "$here/fixture" --clock yesterday >/dev/null 2>&1
    same "no such clock: exit 2" $? 2
}

check_folder() { # folder
    echo "# data: ${1#"$here"/}"
    start --data "$1" --clock 2026-08-21T10:00:00-03:00 --html-delay 300 --unfiltered-delay 250
    same "one line on stdout" "$(wc -l <"$work/out")" 1
    check_sgs
    check_olinda
    check_faults
    check_many
}

# The parts have their own simulators and run side by side.
part() { # name command…
    (
        work=$top/$1
        mkdir "$work"
        trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null' EXIT
        "${@:2}"
        echo "# $1: done"
    ) >"$top/$1.log" 2>&1 &
    parts+=("$1:$!")
}
parts=()
part fixture check_folder "$here/fixture"
[ ! -d "$recorded" ] || part recorded check_folder "$recorded"
part start check_start
for p in "${parts[@]}"; do
    wait "${p#*:}"
    cat "$top/${p%:*}.log"
    grep -q "^# ${p%:*}: done" "$top/${p%:*}.log" || { echo "not ok - part ${p%:*} did not finish" | tee -a "$top/${p%:*}.log"; }
done
passed=$(cat "$top"/*.log | grep -c '^ok - ')
failed=$(cat "$top"/*.log | grep -c '^not ok - ')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
