import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { CloudControl } from './control.ts'
import type { RunningCloud } from './simulated-cloud.ts'
import { type VendorHosts, startVendorProxy } from './vendor-proxy.ts'

const repeated = { type: 'string', multiple: true, default: [] as string[] } as const

/** The command-line options that every simulated cloud has. */
const cloudOptions = {
  help: { type: 'boolean', default: false },
  port: { type: 'string', default: '0' },
  project: repeated,
  token: repeated,
  'read-only-token': repeated,
  'foreign-token': repeated,
  device: repeated,
  quota: { type: 'string', default: '256' },
  latency: { type: 'string', default: '0' },
  unknown: repeated,
  'authority-file': { type: 'string' },
} as const

/** A simulated cloud as a program of its own. */
type Program<Id> = {
  path: string
  /** The vendor's help for two of the options, and lines for its own options. */
  help: { project: string; device: string; more?: string }
  readProject: (text: string) => Id
  /** The project that there is if none is given. */
  defaultProject: Id
  /** The names of the vendor's own options, which are whole numbers. */
  numbers?: readonly string[]
  hosts: (url: string) => VendorHosts
  start: (given: Given<Id>, numbers: Record<string, number>) => Promise<RunningCloud<CloudControl>>
}

type Given<Id> = {
  port: number
  projects: Id[]
  tokens: ReturnType<typeof readTokens<Id>>
  devices: { hostname: string; place?: string | undefined }[]
  quota: number
  unknowns: Record<string, string>
}

/**
 * Runs a simulated cloud on 127.0.0.1, with its state in memory, until SIGTERM or SIGINT. Prints its URLs as one line
 * of JSON when it listens.
 */
export async function runCloud<Id>(program: Program<Id>): Promise<void> {
  if (process.argv.includes('--help')) return console.log(usage(program))
  try {
    const { ready, close } = await start(program)
    console.log(JSON.stringify(ready))
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
    await close()
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

async function start<Id>(program: Program<Id>) {
  const { readProject, defaultProject, numbers = [], hosts } = program
  const own = Object.fromEntries(numbers.map((name) => [name, { type: 'string' } as const]))
  const { values } = parseArgs({ options: { ...own, ...cloudOptions } })
  const projects = values.project.length > 0 ? values.project.map(readProject) : [defaultProject]
  const given = {
    port: readWholeNumber('port', values.port),
    projects,
    tokens: readTokens(values, projects),
    devices: values.device.map(readDevice),
    quota: readWholeNumber('quota', values.quota),
    unknowns: Object.fromEntries(values.unknown.map((pair) => pair.split('='))) as Record<string, string>,
  }
  const latencyMs = readWholeNumber('latency', values.latency)
  const ofVendor = Object.entries<unknown>(values).filter(([name]) => numbers.includes(name))
  const { url, controlUrl, control, close } = await program.start(
    given,
    Object.fromEntries(ofVendor.map(([name, text]) => [name, readWholeNumber(name, String(text))])),
  )
  control.latency.set({ ms: latencyMs })
  return withProxy({ ready: { url, controlUrl, projects }, close }, values['authority-file'], hosts(url))
}

type Started = { ready: object; close: () => Promise<void> }

/** Adds the proxy for the vendor's host names if a file for its authority is named. */
async function withProxy({ ready, close }: Started, file: string | undefined, hosts: VendorHosts): Promise<Started> {
  if (file === undefined) return { ready, close }
  const proxy = await startVendorProxy(hosts)
  writeFileSync(file, proxy.authority)
  return {
    ready: { ...ready, proxyUrl: proxy.url },
    async close() {
      await proxy.close()
      await close()
    },
  }
}

function usage<Id>({ path, help: { project, device, more = '' } }: Program<Id>): string {
  return `Usage: node ${path} [options]

  --port N                  port on 127.0.0.1; the default 0 chooses a free one
  --project ID              ${project}
  --token TEXT              a token with all rights in every project; may be repeated
  --read-only-token TEXT    a token whose write requests get 403
  --foreign-token TEXT      a valid token without rights in any project
  --device NAME[@PLACE]     ${device}
  --quota N                 how many public addresses a project may have (256)
  --latency MS              delay of every call, in milliseconds
  --authority-file FILE     answer for the vendor's host names too, by a proxy, and write its authority to FILE:
                            for clients that are started with HTTPS_PROXY and SSL_CERT_FILE
  --unknown NAME=ANSWER     how to behave where the vendor documents nothing; GET /control/unknowns lists them
${more}
When it listens, it prints its URLs as one line of JSON. SIGTERM stops it.`
}

type TokenTexts = Record<'token' | 'read-only-token' | 'foreign-token', string[]>

/** Reads the tokens from the options, and gives each a label for the call log. */
function readTokens<Id>(given: TokenTexts, projects: Id[]) {
  return [
    ...given.token.map((token, n) => ({ token, label: label('full', n), projects })),
    ...given['read-only-token'].map((token, n) => ({ token, label: label('read-only', n), projects, readOnly: true })),
    ...given['foreign-token'].map((token, n) => ({ token, label: label('foreign', n), projects: [] })),
  ]
}

function readDevice(text: string): { hostname: string; place?: string | undefined } {
  const [hostname = '', place] = text.split('@')
  return { hostname, place }
}

/** Reads the value of an option as a whole number; throws if it is none. */
export function readWholeNumber(option: string, text: string): number {
  const number = Number(text)
  if (text === '' || !Number.isInteger(number) || number < 0)
    throw new Error(`--${option} ${text}: expected a whole number`)
  return number
}

function label(kind: string, n: number): string {
  return n === 0 ? kind : `${kind}-${n + 1}`
}
