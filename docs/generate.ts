// Writes the files that are made from the code: pages of the reference, the chart and the manifests. With --check it
// reports those that are out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { elasticIPReference } from './pages/elastic-ip.ts'
import { manifestFiles } from '../manifests/generate/files.ts'
import { alertGroups } from '../telemetry/alerts/rules.ts'
import { alertsReference } from './pages/alerts.ts'
import manifest from '../package.json' with { type: 'json' }
import { commandsReference } from './pages/commands.ts'
import { doctorReference } from './pages/doctor.ts'
import { eventsReference } from './pages/events.ts'
import { metricsReference } from './pages/metrics.ts'
import { annotationsReference } from './pages/annotations.ts'
import { dialectFacts } from '../commands/settings/chart-facts.ts'
import { settingsReference } from './pages/settings.ts'
import { webhookIdentities } from '../webhooks/webhook.ts'

const pages = [
  { file: 'docs/reference/settings.md', text: settingsReference() },
  { file: 'docs/reference/annotations.md', text: annotationsReference() },
  { file: 'docs/reference/metrics.md', text: metricsReference() },
  { file: 'docs/reference/alerts.md', text: alertsReference(alertGroups) },
  { file: 'docs/reference/doctor.md', text: doctorReference() },
  { file: 'docs/reference/elastic-ip.md', text: elasticIPReference() },
  { file: 'docs/reference/events.md', text: eventsReference() },
  { file: 'docs/reference/commands.md', text: commandsReference() },
  ...manifestFiles({
    version: manifest.version,
    license: { name: manifest.license, text: readFileSync(new URL('../LICENSE', import.meta.url), 'utf8') },
    webhooks: webhookIdentities,
    dialects: dialectFacts(),
  }),
]

for (const { file, text } of pages) {
  const path = join(import.meta.dirname, '..', file)
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${file} is out of date: run make generate`)
    process.exitCode = 1
  }
}
