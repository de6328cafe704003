// The alerts as data: their names, texts, metrics and where their links lead.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { headingAnchor, alertsReference } from '../../docs/pages/alerts.ts'
import { ruleGroup, runbooks, alertGroups } from '../../telemetry/alerts/rules.ts'
import { catalogue as doctorChecks } from '../../commands/doctor/catalogue.ts'
import { unknownNames } from './catalogue-names.ts'
import { namedIn } from './expressions.ts'

const docs = join(import.meta.dirname, '..', '..', 'docs')
const alerts = alertGroups.flatMap((group) => group.alerts)

/** The anchors of a page. */
function anchorsIn(page: string): string[] {
  const headings = page.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, heading = '']) => headingAnchor(heading))
}

test('names are unique and begin with ours', () => {
  assert.is(new Set(alerts.map(({ name }) => name)).size, alerts.length)
  for (const { name } of alerts) assert.match(name, /^EIPAdmission[A-Z]\w+$/)
})

test('each text is a sentence, and only the description has values', () => {
  for (const { name, summary, symptom, action, description } of alerts) {
    for (const text of [summary, symptom, action, description]) assert.match(text, /^(\S.*)[.]$/s, `${name}: ${text}`)
    assert.not.match(summary + symptom + action, /\{\{/, name)
  }
})

test('an action names a command, a setting or a place to look', () => {
  for (const { name, action } of alerts) assert.match(action, /`[^`]+`/, name)
})

test('a check of doctor that an action names exists', () => {
  const ids = doctorChecks.map(({ id }) => id)
  for (const { name, action } of alerts)
    for (const [, id = ''] of action.matchAll(/`doctor`[^.]*?: `([a-z-]+)`/g))
      assert.ok(ids.includes(id), `${name}: ${id}`)
})

test('a description names only labels that the expression keeps', () => {
  for (const { name, expr, description } of alerts) {
    const used = [...description.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label)
    // A series that is not aggregated keeps all labels of the target.
    const kept = [...namedIn(expr).labels, ...(/\b(by|absent)\b/.test(expr) ? [] : ['namespace', 'instance'])]
    assert.equal(
      used.filter((label) => !kept.includes(label ?? '')),
      [],
      name,
    )
  }
})

test('what keeps an alert quiet is an alert for the same installation', () => {
  for (const { name, expr, quietWhile = [] } of alerts) {
    if (quietWhile.length > 0) assert.match(expr, /by \(cluster, namespace/, name)
    for (const cause of quietWhile) {
      const found = alerts.find((one) => one.name === cause)
      assert.ok(found, `${name}: no alert ${cause}`)
      assert.match(found.expr, /by \(cluster, namespace/, cause)
      // Else this one would call in its place when another cause keeps that quiet.
      for (const further of found.quietWhile ?? [])
        assert.ok(quietWhile.includes(further), `${name}: ${further} is missing`)
    }
  }
})

test('each expression names only metrics and labels of the catalogue', () => {
  for (const { name, expr } of alerts) assert.equal(unknownNames(expr), [], name)
})

test('what no process shows is noticed', () => {
  assert.equal(unknownNames('sum(eip_admission_adresses{phase="Bound"})'), [
    'no metric eip_admission_adresses',
    'no label phase',
  ])
  assert.equal(unknownNames('eip_admission_leader{phase=~"a"} offset 5m > 0'), ['no label phase'])
  assert.equal(unknownNames('rate(eip_admission_review_duration_seconds[5m])'), [
    'no metric eip_admission_review_duration_seconds',
  ])
  assert.equal(unknownNames('vector(1)'), ['no metric at all'])
})

test('each runbook is a heading of the reference page, which the docs have', () => {
  const page = readFileSync(join(docs, 'reference', 'alerts.md'), 'utf8')
  assert.is(page, alertsReference(alertGroups))
  const anchors = anchorsIn(page)
  const text = JSON.stringify(ruleGroup(alertGroups, { runbooks, literal: (template) => template }))
  const links = [...text.matchAll(/"runbook_url":"([^"#]+)#([^"]+)"/g)]
  assert.is(links.length, alerts.length)
  for (const [, address, anchor = ''] of links) {
    assert.match(address ?? '', /\/docs\/reference\/alerts\.md$/)
    assert.ok(anchors.includes(anchor), anchor)
  }
})

test('each alert sends the reader to a heading that exists', () => {
  for (const { name, guide } of alerts) {
    const anchors = anchorsIn(readFileSync(join(docs, guide.file), 'utf8'))
    assert.ok(anchors.includes(headingAnchor(guide.heading)), `${name}: ${guide.file} has no "${guide.heading}"`)
  }
})

test.run()
