// node sandbox/clouds/equinix-metal/main.ts --port 0 --project <uuid> --token <token>
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { asProcess } from '../as-process.ts'
import type { Token } from './access.ts'
import { startEquinixMetal } from './server.ts'
import type { Unknowns } from './unknowns.ts'

const usage = `Usage: node sandbox/clouds/equinix-metal/main.ts [options]

  --port N                  port on 127.0.0.1; 0, the default, takes a free one
  --project UUID            a project; may be repeated; one with a new id when none is given
  --token TEXT              a token that may do everything in every project; may be repeated
  --read-only-token TEXT    a token whose writes are answered with 403
  --foreign-token TEXT      a token that is known, but without rights to any project
  --device NAME[@METRO]     a device of the first project, in metro da unless said otherwise; may be repeated
  --quota N                 public addresses that a project may hold (256)
  --latency MS              delays every call
  --unknown NAME=ANSWER     how to behave where the real one is not known; GET /control/unknowns lists them

Prints one JSON line with its URLs when it serves, and stops on SIGTERM.`

const options = {
  help: { type: 'boolean', default: false },
  port: { type: 'string', default: '0' },
  project: { type: 'string', multiple: true, default: [] as string[] },
  token: { type: 'string', multiple: true, default: [] as string[] },
  'read-only-token': { type: 'string', multiple: true, default: [] as string[] },
  'foreign-token': { type: 'string', multiple: true, default: [] as string[] },
  device: { type: 'string', multiple: true, default: [] as string[] },
  quota: { type: 'string', default: '256' },
  latency: { type: 'string', default: '0' },
  unknown: { type: 'string', multiple: true, default: [] as string[] },
} as const

async function start() {
  const { values } = parseArgs({ options })
  const latencyMs = wholeNumber('latency', values.latency)
  const projects = values.project.length > 0 ? values.project : [randomUUID()]
  const { url, controlUrl, door, close } = await startEquinixMetal({
    port: wholeNumber('port', values.port),
    projects: projects.map((id) => ({ id })),
    tokens: tokensOf(values, projects),
    devices: values.device.map(readDevice),
    quota: wholeNumber('quota', values.quota),
    unknowns: Object.fromEntries(values.unknown.map((pair) => pair.split('='))) as Partial<Unknowns>,
  })
  door.latency.set({ ms: latencyMs })
  return { say: { url, controlUrl, projects }, close }
}

function tokensOf(
  values: Record<'token' | 'read-only-token' | 'foreign-token', string[]>,
  projects: string[],
): Token[] {
  return [
    ...values.token.map((token, n) => ({ token, label: label('full', n), projects })),
    ...values['read-only-token'].map((token, n) => ({ token, label: label('read-only', n), projects, readOnly: true })),
    ...values['foreign-token'].map((token, n) => ({ token, label: label('foreign', n), projects: [] })),
  ]
}

function readDevice(text: string): { hostname: string; metro: string } {
  const [hostname = '', metro = 'da'] = text.split('@')
  return { hostname, metro }
}

const label = (kind: string, n: number) => (n === 0 ? kind : `${kind}-${n + 1}`)

function wholeNumber(option: string, text: string): number {
  const number = Number(text)
  if (text === '' || !Number.isInteger(number) || number < 0)
    throw new Error(`--${option} ${text}: expected a whole number`)
  return number
}

if (process.argv.includes('--help')) console.log(usage)
else await asProcess(start)
