import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Kubectl, KubectlResult } from './kubectl.ts'

/** Prints the title of the next step. */
export function printHeading(text: string): void {
  console.log(`\n${styleText('bold', text)}`)
}

/** Prints a fact that supports what was shown. */
export function printDetail(text: string): void {
  console.log(`    ${text}`)
}

/** Prints that an expectation holds; throws if it does not. */
export function check(isTrue: boolean, expectation: string): void {
  if (!isTrue) throw new Error(`The demo failed. Expected: ${expectation}.`)
  console.log(styleText('green', `ok: ${expectation}`))
}

type Manifest = { kind: string; metadata: { name: string; annotations?: Record<string, string> } }

/** Runs kubectl, and prints the command and its output as a terminal shows them. */
export async function showKubectl(
  { kubectl }: { kubectl: Kubectl },
  args: string[],
  manifest?: Manifest,
): Promise<KubectlResult> {
  const quoted = args.map((arg) => (/[\s{}()]/.test(arg) ? `'${arg}'` : arg)).join(' ')
  const comment = manifest ? `   # ${describeManifest(manifest)}` : ''
  console.log(styleText('dim', `$ kubectl ${quoted}${comment}`))
  const result = await kubectl(args, manifest)
  process.stdout.write(result.stdout.replace(/([^\n])$/, '$1\n'))
  process.stdout.write(result.stderr)
  return result
}

function describeManifest({ kind, metadata: { name, annotations = {} } }: Manifest): string {
  const pairs = Object.entries(annotations).map(([key, value]) => `${key}: ${value}`)
  return [`${kind} ${name}`, ...(pairs.length > 0 ? [`annotations ${pairs.join(', ')}`] : [])].join(', ')
}

/** Waits up to 10 s for a condition: the controllers act a moment after kubectl returns. */
export async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await isTrue()) return
    await sleep(100)
  }
}
