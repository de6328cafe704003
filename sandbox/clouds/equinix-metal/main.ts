// node sandbox/clouds/equinix-metal/main.ts --port 0 --project <uuid> --token <token>
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { runAsProcess } from '../run-as-process.ts'
import { readPairs, cloudOptions, cloudUsage, tokensOf, wholeNumber } from '../command-line.ts'
import { startEquinixMetal } from './server.ts'

const usage = cloudUsage('sandbox/clouds/equinix-metal/main.ts', {
  project: 'a project, by its UUID; may be repeated; one with a new id when none is given',
  device: 'a device of the first project, in metro da unless said otherwise; may be repeated',
})

async function start() {
  const { values } = parseArgs({ options: cloudOptions })
  const latencyMs = wholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project : [randomUUID()]
  const { url, controlUrl, door, close } = await startEquinixMetal({
    port: wholeNumber('port', values.port),
    projects: projects.map((id) => ({ id })),
    tokens: tokensOf(values, projects),
    devices: values.device.map(readDevice),
    quota: wholeNumber('quota', values.quota),
    unknowns: readPairs(values.unknown),
  })
  door.latency.set({ ms: latencyMs })
  return { ready: { url, controlUrl, projects }, close }
}

function readDevice(text: string): { hostname: string; metro: string } {
  const [hostname = '', metro = 'da'] = text.split('@')
  return { hostname, metro }
}

if (process.argv.includes('--help')) console.log(usage)
else await runAsProcess(start)
