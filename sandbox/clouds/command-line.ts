const repeated = { type: 'string', multiple: true, default: [] as string[] } as const

/** The command-line options that every simulated cloud has. */
export const cloudOptions = {
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

/** The vendor's help for two of the options, and lines for its own options. */
export type UsageTexts = { project: string; device: string; more?: string }

/** Returns the help text for the options. */
export function cloudUsage(program: string, { project, device, more = '' }: UsageTexts): string {
  return `Usage: node ${program} [options]

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
export function readTokens<Id>(given: TokenTexts, projects: Id[]) {
  return [
    ...given.token.map((token, n) => ({ token, label: label('full', n), projects })),
    ...given['read-only-token'].map((token, n) => ({ token, label: label('read-only', n), projects, readOnly: true })),
    ...given['foreign-token'].map((token, n) => ({ token, label: label('foreign', n), projects: [] })),
  ]
}

/** Reads NAME=VALUE pairs; the names and values are not checked yet. */
export function readPairs(pairs: string[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => pair.split('=')))
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
