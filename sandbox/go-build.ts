import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

export type GoOptions = { dir: string; signal?: AbortSignal | undefined }

// Programs without C libraries run on every machine of this architecture. With rarer garbage collection the compiler
// takes a fifth less time.
const env = { GOGC: '400', ...process.env, CGO_ENABLED: '0' }

/** The linker drops debug information anyway. Without generating it, the compiler takes a seventh less time. */
const withoutDebugInformation = '-gcflags=all=-dwarf=false'

/** Downloads the source of what `go build` with these arguments compiles, and returns how many packages that are. */
export async function countPackages(args: string[], { dir, signal }: GoOptions): Promise<number> {
  const list = promisify(execFile)('go', ['list', '-deps', ...args], { cwd: dir, env, signal, maxBuffer: 2 ** 24 })
  const { stdout } = await list.catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? noGoError(cause) : cause
  })
  return stdout.trimEnd().split('\n').length
}

/** Runs `go build` and calls `onPackages` with the number of packages that it has compiled since the last call. */
export async function goBuild(
  args: string[],
  { dir, signal, onPackages }: GoOptions & { onPackages: (count: number) => void },
): Promise<void> {
  const go = spawn('go', ['build', '-v', withoutDebugInformation, ...args], {
    cwd: dir,
    env,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  go.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000)
    onPackages(text.split('\n').length - 1)
  })
  const [code] = (await once(go, 'close')) as [number | null]
  if (code !== 0) throw new Error(`go build ended with ${code}:\n${errors}`)
}

/** A smaller share says too little about the rest. */
const leastShare = 0.05

/** How long the rest takes at the pace so far, to print after the progress; empty at the beginning. */
export function remainingText(elapsedMs: number, share: number): string {
  if (share < leastShare || share >= 1) return ''
  const minutes = Math.round((elapsedMs * (1 - share)) / share / 60_000)
  if (minutes === 0) return ', less than a minute left'
  return `, about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left`
}

function noGoError(cause: Error): Error {
  return new Error('cannot start go, which builds the programs of the sandbox: install Go from https://go.dev/dl', {
    cause,
  })
}
