// Starts a simulated phoenixNAP API as a process of its own, on 127.0.0.1, with its state in memory. Call it as
// `node sandbox/clouds/phoenixnap/main.ts --token <client secret>`; `--help` lists the options.
import { parseArgs } from 'node:util'
import { cloudOptions, cloudUsage, readPairs, readTokens, readWholeNumber } from '../command-line.ts'
import { runAsProcess, withProxy } from '../run-as-process.ts'
import { phoenixnapHosts, startPhoenixnap } from './server.ts'

const usage = cloudUsage('sandbox/clouds/phoenixnap/main.ts', {
  project: 'client id of an account; may be repeated; without it there is one that the first line names',
  device: 'a server in the first account, in location PLACE or PHX; may be repeated',
  more: `  --change-ms N             how long the changes of blocks and peer groups take; 0 without it
  --token-seconds N         how long an access token is valid; 300 without it

A token is the secret of a client: an access token is granted for it.
`,
})

async function start() {
  const { values } = parseArgs({
    options: { ...cloudOptions, 'change-ms': { type: 'string' }, 'token-seconds': { type: 'string' } },
  })
  const latencyMs = readWholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project : ['11111111-1111-4111-8111-111111111111']
  const { url, controlUrl, control, close } = await startPhoenixnap({
    port: readWholeNumber('port', values.port),
    tokens: readTokens(values, projects),
    servers: values.device.map(readServer),
    quota: readWholeNumber('quota', values.quota),
    changeMs: readWholeNumber('change-ms', values['change-ms'] ?? '0'),
    tokenSeconds: readWholeNumber('token-seconds', values['token-seconds'] ?? '300'),
    unknowns: readPairs(values.unknown),
  })
  control.latency.set({ ms: latencyMs })
  return withProxy({ ready: { url, controlUrl, projects }, close }, values['authority-file'], phoenixnapHosts(url))
}

function readServer(text: string): { hostname: string; location: string } {
  const [hostname = '', location = 'PHX'] = text.split('@')
  return { hostname, location }
}

if (process.argv.includes('--help')) console.log(usage)
else await runAsProcess(start)
