// The dashboard as Grafana would read it. Its queries are parsed by promtool; Grafana itself does not run here.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import Ajv from 'ajv'
import { stringify } from 'yaml'
import { dashboardModel } from '../../telemetry/dashboard/dashboard.ts'
import { catalogue } from '../../telemetry/metrics/catalogue.ts'
import { unknownNames } from './catalogue-names.ts'
import { namedIn } from './expressions.ts'
import { runPromtool } from './promtool.ts'

type Place = { x: number; y: number; w: number; h: number }
type Target = { expr: string; legendFormat?: string; refId: string }
type PanelModel = {
  id: number
  type: string
  title: string
  gridPos: Place
  targets?: Target[]
  fieldConfig?: { defaults: { thresholds?: object } }
}
type Model = { panels: PanelModel[]; templating: { list: { name: string; definition?: string }[] } }

const model = JSON.parse(JSON.stringify(dashboardModel())) as Model
const panels = model.panels.filter(({ type }) => type !== 'row')
const targets = panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, ...target })))

/** The metric that a histogram's series belong to. */
const baseName = (name: string) => name.replace(/_(bucket|sum|count)$/, '')

/** An expression with the values that Grafana would fill in. */
function filled(expr: string): string {
  return expr.replaceAll('$__rate_interval', '2m').replaceAll('$__range', '6h').replaceAll(/\$\w+/g, '.*')
}

test('it has what Grafana requires', () => {
  const place = {
    type: 'object',
    required: ['x', 'y', 'w', 'h'],
    additionalProperties: { type: 'integer', minimum: 0, maximum: 1000 },
  }
  const target = { type: 'object', required: ['refId', 'expr', 'datasource'] }
  const panel = {
    type: 'object',
    required: ['id', 'type', 'title', 'gridPos'],
    properties: {
      id: { type: 'integer', minimum: 1 },
      type: { enum: ['row', 'stat', 'timeseries'] },
      title: { type: 'string', minLength: 1 },
      gridPos: place,
      targets: { type: 'array', minItems: 1, items: target },
    },
    anyOf: [
      { properties: { type: { const: 'row' } }, required: ['collapsed', 'panels'] },
      { required: ['datasource', 'targets', 'fieldConfig', 'options', 'description'] },
    ],
  }
  const schema = {
    type: 'object',
    required: ['uid', 'title', 'schemaVersion', 'panels', 'templating', 'time'],
    properties: {
      uid: { type: 'string', maxLength: 40 },
      schemaVersion: { type: 'integer' },
      panels: { type: 'array', items: panel },
    },
  }
  const validate = new Ajv.default({ strict: false }).compile(schema)
  assert.ok(validate(model), JSON.stringify(validate.errors))
})

test('no two panels have one id or overlap, and all are within the grid', () => {
  assert.is(new Set(model.panels.map(({ id }) => id)).size, model.panels.length)
  const cells = new Map<string, string>()
  for (const { title, gridPos } of model.panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.is(cells.get(`${x} ${y}`), undefined, `${title} overlaps`)
        cells.set(`${x} ${y}`, title)
      }
  }
})

test('a title is used once in its row, and no row is empty', () => {
  const heads = model.panels.flatMap(({ type }, at) => (type === 'row' ? [at] : []))
  for (const [n, at] of heads.entries()) {
    const titles = model.panels.slice(at + 1, heads[n + 1]).map(({ title }) => title)
    assert.ok(titles.length > 0)
    assert.is(new Set(titles).size, titles.length, titles.join())
  }
})

test('each query names only metrics and labels of the catalogue, and each legend a label of its query', () => {
  for (const { title, expr, legendFormat = '' } of targets) {
    assert.equal(unknownNames(filled(expr)), [], title)
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      assert.ok(namedIn(expr).labels.includes(label), `${title}: ${label}`)
  }
})

test('each query is filtered by every variable of the dashboard', () => {
  const variables = model.templating.list.map(({ name }) => name)
  assert.equal(variables, ['datasource', 'cluster', 'namespace', 'job', 'instance'])
  for (const { title, expr } of targets)
    for (const name of variables.slice(1)) assert.match(expr, `${name}=~"$${name}"`, title)
  for (const { definition = '' } of model.templating.list.slice(1))
    assert.equal(unknownNames(definition.replace(/^label_values\((.*), \w+\)$/, '$1').replaceAll(/\$\w+/g, '.*')), [])
})

test('each metric of the catalogue is on it, but for those that other dashboards read', () => {
  const shown = new Set(targets.flatMap(({ expr }) => namedIn(filled(expr)).metrics.map(baseName)))
  const others = [
    'workqueue_adds_total',
    'workqueue_work_duration_seconds',
    'workqueue_unfinished_work_seconds',
    'leader_election_master_status',
    'process_open_fds',
  ]
  assert.equal(
    Object.keys(catalogue).filter((name) => !shown.has(name)),
    Object.keys(catalogue).filter((name) => others.includes(name)),
  )
})

test('a stat is red by our threshold, never by the one of Grafana', () => {
  for (const { type, title, fieldConfig } of panels)
    if (type === 'stat') assert.ok(fieldConfig?.defaults.thresholds, title)
})

test('promtool parses each query', async () => {
  const rules = targets.map(({ expr }, n) => ({ record: `query:${n}`, expr: filled(expr) }))
  const { code, output } = await runPromtool(['check', 'rules'], stringify({ groups: [{ name: 'dashboard', rules }] }))
  assert.is(code, 0, output)
  assert.match(output, `${targets.length} rules found`)
})

test.run()
