import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Kubectl, KubectlResult } from './kubectl.ts'

/** Says what comes next. */
export function printHeading(text: string): void {
  console.log(`\n${styleText('bold', text)}`)
}

/** Says what was seen, and ends the telling where it was not. */
export function check(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`the demo expected that ${what}`)
  console.log(styleText('green', `ok: ${what}`))
}

export type Typed = { kubectl: Kubectl }
type Manifest = { metadata: { name: string; annotations?: Record<string, string> } }

/** Types a command as a person would, and shows what the terminal says. */
export async function showKubectl({ kubectl }: Typed, args: string[], manifest?: Manifest): Promise<KubectlResult> {
  const quoted = args.map((arg) => (/[\s{}()]/.test(arg) ? `'${arg}'` : arg)).join(' ')
  const { annotations } = manifest?.metadata ?? {}
  const beside = annotations ? `   # annotations: ${JSON.stringify(annotations)}` : ''
  console.log(styleText('dim', `$ kubectl ${quoted}${beside}`))
  const said = await kubectl(args, manifest)
  process.stdout.write(said.stdout.replace(/([^\n])$/, '$1\n'))
  process.stdout.write(said.stderr)
  return said
}

/** The controllers act a moment after the terminal; a person who types is slower than they are. */
export async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await isSo()) return
    await sleep(100)
  }
}
