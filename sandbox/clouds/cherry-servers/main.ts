// node sandbox/clouds/cherry-servers/main.ts --port 0 --project 218450 --token <token>
import { parseArgs } from 'node:util'
import { runAsProcess } from '../run-as-process.ts'
import { readPairs, cloudOptions, cloudUsage, tokensOf, wholeNumber } from '../command-line.ts'
import { startCherryServers } from './server.ts'

const usage = cloudUsage('sandbox/clouds/cherry-servers/main.ts', {
  project: 'a project, by its number; may be repeated; 218450 when none is given',
  device: 'a server of the first project, in region LT-Siauliai unless said otherwise; may be repeated',
  more: '  --call-limit N            calls that a client may send in a second; the vendor names 4\n',
})

async function start() {
  const { values } = parseArgs({ options: { ...cloudOptions, 'call-limit': { type: 'string' } } })
  const latencyMs = wholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project.map((id) => wholeNumber('project', id)) : [218_450]
  const { url, controlUrl, door, close } = await startCherryServers({
    port: wholeNumber('port', values.port),
    projects: projects.map((id) => ({ id })),
    tokens: tokensOf(values, projects),
    servers: values.device.map(readServer),
    quota: wholeNumber('quota', values.quota),
    ...(values['call-limit'] !== undefined && {
      callLimit: { calls: wholeNumber('call-limit', values['call-limit']), perMs: 1000 },
    }),
    unknowns: readPairs(values.unknown),
  })
  door.latency.set({ ms: latencyMs })
  return { ready: { url, controlUrl, projects }, close }
}

function readServer(text: string): { hostname: string; region: string } {
  const [hostname = '', region = 'LT-Siauliai'] = text.split('@')
  return { hostname, region }
}

if (process.argv.includes('--help')) console.log(usage)
else await runAsProcess(start)
