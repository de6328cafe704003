const repeated = { type: 'string', multiple: true, default: [] as string[] } as const

/** The options that every simulated cloud has as a process. */
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
} as const

/** What a vendor says about two of them, and the lines for options of its own. */
export type UsageWords = { project: string; device: string; more?: string }

/** The help for them. */
export function cloudUsage(program: string, { project, device, more = '' }: UsageWords): string {
  return `Usage: node ${program} [options]

  --port N                  port on 127.0.0.1; 0, the default, takes a free one
  --project ID              ${project}
  --token TEXT              a token that may do everything in every project; may be repeated
  --read-only-token TEXT    a token whose writes are answered with 403
  --foreign-token TEXT      a token that is known, but without rights to any project
  --device NAME[@PLACE]     ${device}
  --quota N                 public addresses that a project may hold (256)
  --latency MS              delays every call
  --unknown NAME=ANSWER     how to behave where the real one is not known; GET /control/unknowns lists them
${more}
Prints one JSON line with its URLs when it serves, and stops on SIGTERM.`
}

type TokenTexts = Record<'token' | 'read-only-token' | 'foreign-token', string[]>

/** The tokens that were given, with the labels that the log of calls has for them. */
export function tokensOf<Id>(given: TokenTexts, projects: Id[]) {
  return [
    ...given.token.map((token, n) => ({ token, label: label('full', n), projects })),
    ...given['read-only-token'].map((token, n) => ({ token, label: label('read-only', n), projects, readOnly: true })),
    ...given['foreign-token'].map((token, n) => ({ token, label: label('foreign', n), projects: [] })),
  ]
}

/** How it shall behave where the real one is not known, still to be judged. */
export function readPairs(pairs: string[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => pair.split('=')))
}

/** A number that was given as the value of an option; throws where it is none. */
export function wholeNumber(option: string, text: string): number {
  const number = Number(text)
  if (text === '' || !Number.isInteger(number) || number < 0)
    throw new Error(`--${option} ${text}: expected a whole number`)
  return number
}

function label(kind: string, n: number): string {
  return n === 0 ? kind : `${kind}-${n + 1}`
}
