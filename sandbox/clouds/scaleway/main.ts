// Starts a simulated Scaleway API as a process of its own, on 127.0.0.1, with its state in memory. Call it as
// `node sandbox/clouds/scaleway/main.ts --token <text>`; `--help` lists the options.
import { parseArgs } from 'node:util'
import { cloudOptions, cloudUsage, readPairs, readTokens, readWholeNumber } from '../command-line.ts'
import { runAsProcess, withProxy } from '../run-as-process.ts'
import { scalewayHosts, startScaleway } from './server.ts'

const usage = cloudUsage('sandbox/clouds/scaleway/main.ts', {
  project: 'id of a project; may be repeated; without it there is one that the first line names',
  device: 'a server in the first project, in zone PLACE or fr-par-1; may be repeated',
  more: '  --change-ms N             how long a server takes to attach or detach an address; 0 without it\n',
})

async function start() {
  const { values } = parseArgs({ options: { ...cloudOptions, 'change-ms': { type: 'string' } } })
  const latencyMs = readWholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project : ['11111111-1111-4111-8111-111111111111']
  const { url, controlUrl, control, close } = await startScaleway({
    port: readWholeNumber('port', values.port),
    tokens: readTokens(values, projects),
    servers: values.device.map(readServer),
    quota: readWholeNumber('quota', values.quota),
    changeMs: readWholeNumber('change-ms', values['change-ms'] ?? '0'),
    unknowns: readPairs(values.unknown),
  })
  control.latency.set({ ms: latencyMs })
  return withProxy({ ready: { url, controlUrl, projects }, close }, values['authority-file'], scalewayHosts(url))
}

function readServer(text: string): { hostname: string; zone: string } {
  const [hostname = '', zone = 'fr-par-1'] = text.split('@')
  return { hostname, zone }
}

if (process.argv.includes('--help')) console.log(usage)
else await runAsProcess(start)
