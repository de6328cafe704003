// Starts a simulated Equinix Metal API as a process of its own, on 127.0.0.1, with its state in memory. Call it as
// `node sandbox/clouds/equinix-metal/main.ts --project <uuid> --token <text>`; `--help` lists the options.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { runAsProcess, withProxy } from '../run-as-process.ts'
import { readPairs, cloudOptions, cloudUsage, readTokens, readWholeNumber } from '../command-line.ts'
import { equinixMetalHosts, startEquinixMetal } from './server.ts'

const usage = cloudUsage('sandbox/clouds/equinix-metal/main.ts', {
  project: 'UUID of a project; may be repeated; without it there is one project with a new id',
  device: 'a device in the first project, in metro PLACE or da; may be repeated',
})

async function start() {
  const { values } = parseArgs({ options: cloudOptions })
  const latencyMs = readWholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project : [randomUUID()]
  const { url, controlUrl, control, close } = await startEquinixMetal({
    port: readWholeNumber('port', values.port),
    projects: projects.map((id) => ({ id })),
    tokens: readTokens(values, projects),
    devices: values.device.map(readDevice),
    quota: readWholeNumber('quota', values.quota),
    unknowns: readPairs(values.unknown),
  })
  control.latency.set({ ms: latencyMs })
  return withProxy({ ready: { url, controlUrl, projects }, close }, values['authority-file'], equinixMetalHosts(url))
}

function readDevice(text: string): { hostname: string; metro: string } {
  const [hostname = '', metro = 'da'] = text.split('@')
  return { hostname, metro }
}

if (process.argv.includes('--help')) console.log(usage)
else await runAsProcess(start)
