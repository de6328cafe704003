import type { Panel, Row } from './panel.ts'
import { rows } from './rows.ts'

const columns = 24
const datasource = { type: 'prometheus', uid: '${datasource}' }
const heights = { stat: 4, timeseries: 8 }

type Place = { x: number; y: number; w: number; h: number }

/** The dashboard as Grafana imports it. */
export function dashboardModel(): object {
  return {
    uid: 'eip-admission',
    title: 'eip-admission',
    description: 'Addresses of LoadBalancer Services: who waits, what the provider answers, and how the processes are.',
    tags: ['eip-admission', 'kubernetes'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: variables() },
    annotations: { list: [] },
    panels: placed(rows).map((panel, n) => ({ id: n + 1, ...panel })),
  }
}

function variables(): object[] {
  const labelled = (name: string, selector: string) => {
    const query = `label_values(eip_admission_build_info${selector}, ${name})`
    return {
      type: 'query',
      name,
      label: name,
      datasource,
      query: { query, refId: name },
      definition: query,
      refresh: 2,
      sort: 1,
      multi: true,
      includeAll: true,
      // Without the Prometheus operator the label may be missing, and this also matches an empty one.
      allValue: '.*',
      current: { selected: true, text: ['All'], value: ['$__all'] },
    }
  }
  return [
    { type: 'datasource', name: 'datasource', label: 'data source', query: 'prometheus', refresh: 1 },
    labelled('cluster', ''),
    labelled('namespace', '{cluster=~"$cluster"}'),
    labelled('job', '{cluster=~"$cluster", namespace=~"$namespace"}'),
    labelled('instance', '{cluster=~"$cluster", namespace=~"$namespace", job=~"$job"}'),
  ]
}

/** The panels with their places: from left to right, on a new line if one does not fit. */
function placed(all: Row[]): object[] {
  let y = 0
  return all.flatMap(({ title, panels }) => {
    const header = { type: 'row', title, collapsed: false, panels: [], gridPos: { x: 0, y, w: columns, h: 1 } }
    y += 1
    let [x, lineHeight] = [0, 0]
    const shown = panels.map((panel) => {
      const h = heights[panel.kind]
      if (x + panel.width > columns || (lineHeight !== 0 && h !== lineHeight)) [x, y] = [0, y + lineHeight]
      const place = { x, y, w: panel.width, h }
      x += panel.width
      lineHeight = h
      return panelModel(panel, place)
    })
    y += lineHeight
    return [header, ...shown]
  })
}

function panelModel({ kind, title, description, unit, queries, bad }: Panel, gridPos: Place): object {
  const isStat = kind === 'stat'
  const looks = isStat ? { thresholds: thresholds(bad) } : { custom: { fillOpacity: 10 } }
  return {
    type: kind,
    title,
    description,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, ...looks }, overrides: [] },
    options: isStat
      ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: hasNames(queries) ? 'name' : 'value' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expr, legend }, n) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + n),
      datasource,
      expr,
      ...(legend !== '' && { legendFormat: legend }),
      ...(isStat && { instant: true }),
    })),
  }
}

/** The thresholds of a panel. Without any, Grafana would show values above 80 in red. */
function thresholds(bad: Panel['bad']): object {
  const steps = (color: string, ...above: { color: string; value: number }[]) => {
    return { mode: 'absolute', steps: [{ color, value: null }, ...above] }
  }
  if (bad === undefined) return steps('text')
  return 'from' in bad
    ? steps('green', { color: 'red', value: bad.from })
    : steps('red', { color: 'green', value: bad.below })
}

function hasNames(queries: Panel['queries']): boolean {
  return queries.some(({ legend }) => legend !== '')
}
