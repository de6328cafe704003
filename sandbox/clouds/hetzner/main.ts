// Starts a simulated Hetzner Cloud API as a process of its own, on 127.0.0.1, with its state in memory. Call it as
// `node sandbox/clouds/hetzner/main.ts --token <text>`; `--help` lists the options.
import { parseArgs } from 'node:util'
import { cloudOptions, cloudUsage, readPairs, readTokens, readWholeNumber } from '../command-line.ts'
import { runAsProcess, withProxy } from '../run-as-process.ts'
import { hetznerHosts, startHetzner } from './server.ts'

const usage = cloudUsage('sandbox/clouds/hetzner/main.ts', {
  project: 'number of a project; may be repeated; without it there is project 1; the API shows none',
  device: 'a server in the first project, in location PLACE or fsn1; may be repeated',
  more: '  --action-ms N             how long assigning takes; one to three seconds without it\n',
})

async function start() {
  const { values } = parseArgs({ options: { ...cloudOptions, 'action-ms': { type: 'string' } } })
  const latencyMs = readWholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project.map((id) => readWholeNumber('project', id)) : [1]
  const { url, controlUrl, control, close } = await startHetzner({
    port: readWholeNumber('port', values.port),
    tokens: readTokens(values, projects),
    servers: values.device.map(readServer),
    quota: readWholeNumber('quota', values.quota),
    ...(values['action-ms'] !== undefined && { actionMs: readWholeNumber('action-ms', values['action-ms']) }),
    unknowns: readPairs(values.unknown),
  })
  control.latency.set({ ms: latencyMs })
  return withProxy({ ready: { url, controlUrl, projects }, close }, values['authority-file'], hetznerHosts(url))
}

function readServer(text: string): { hostname: string; location: string } {
  const [hostname = '', location = 'fsn1'] = text.split('@')
  return { hostname, location }
}

if (process.argv.includes('--help')) console.log(usage)
else await runAsProcess(start)
