// Starts a simulated Cherry Servers API as a process of its own, on 127.0.0.1, with its state in memory. Call it as
// `node sandbox/clouds/cherry-servers/main.ts --project 218450 --token <text>`; `--help` lists the options.
import { parseArgs } from 'node:util'
import { runAsProcess, withProxy } from '../run-as-process.ts'
import { readPairs, cloudOptions, cloudUsage, readTokens, readWholeNumber } from '../command-line.ts'
import { cherryServersHosts, startCherryServers } from './server.ts'

const usage = cloudUsage('sandbox/clouds/cherry-servers/main.ts', {
  project: 'number of a project; may be repeated; without it there is project 218450',
  device: 'a server in the first project, in region PLACE or LT-Siauliai; may be repeated',
  more: '  --call-limit N            how many calls a client may send in a second; the vendor documents 4\n',
})

async function start() {
  const { values } = parseArgs({ options: { ...cloudOptions, 'call-limit': { type: 'string' } } })
  const latencyMs = readWholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project.map((id) => readWholeNumber('project', id)) : [218_450]
  const { url, controlUrl, control, close } = await startCherryServers({
    port: readWholeNumber('port', values.port),
    projects: projects.map((id) => ({ id })),
    tokens: readTokens(values, projects),
    servers: values.device.map(readServer),
    quota: readWholeNumber('quota', values.quota),
    ...(values['call-limit'] !== undefined && {
      callLimit: { calls: readWholeNumber('call-limit', values['call-limit']), perMs: 1000 },
    }),
    unknowns: readPairs(values.unknown),
  })
  control.latency.set({ ms: latencyMs })
  return withProxy({ ready: { url, controlUrl, projects }, close }, values['authority-file'], cherryServersHosts(url))
}

function readServer(text: string): { hostname: string; region: string } {
  const [hostname = '', region = 'LT-Siauliai'] = text.split('@')
  return { hostname, region }
}

if (process.argv.includes('--help')) console.log(usage)
else await runAsProcess(start)
