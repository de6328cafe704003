// A person with a report of `doctor`, who types each command as printed and follows the instructions.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Result } from '../../commands/doctor/check.ts'
import type { ControlPlane } from '../../sandbox/control-plane/start.ts'
import type { KubectlResult } from '../../sandbox/kubectl.ts'
import { productCommand } from '../../sandbox/product-command.ts'
import { root } from '../docs/pages.ts'
import { eventually } from './eventually.ts'
import { remedyText } from '../../lib/remedy.ts'

/** How a person follows the remedies of one check. */
export type Remedy = {
  check: string
  /** The findings, each by a pattern. */
  found: RegExp[]
  /** The instruction of the remedy in words; needed if it has no command. */
  words?: RegExp
  /** The actions that these words ask a person for, with the texts of the remedies. */
  act?: (fixes: string[]) => unknown
  /** The edit in the editor that a command opens, for sed. */
  edit?: string
  /** The commands that this person types, if the remedy leaves a choice; all when absent. */
  typed?: RegExp
}

/** The remedies of a check, and how a person follows them. */
export function remedyOf(check: string, followed: Omit<Remedy, 'check'>): Remedy {
  return { check, ...followed }
}

export type Followed = {
  results: () => Promise<Result[]>
  type: Shell
}

/** Runs `doctor`, follows its remedies, and waits until it finds no more problems of these checks. */
export async function follow({ results, type }: Followed, remedies: Remedy[]): Promise<void> {
  const before = await results()
  const cases = remedies.map((remedy) => ({ ...remedy, fixes: fixesOf(remedy, before) }))
  const commands = cases.flatMap(({ fixes, edit, typed = / / }) =>
    fixes.flatMap(commandsIn).flatMap((command) => (typed.test(command) ? [{ command, edit }] : [])),
  )
  const once = [...new Map(commands.map((one) => [one.command, one])).values()]
  // The command of one finding may delete the object that another command reads.
  for (const { command, edit } of once.toSorted((a, b) => Number(isLook(b.command)) - Number(isLook(a.command))))
    await typeOne(type, command, edit)
  for (const { act, fixes } of cases) await act?.(fixes)
  const ids = new Set(remedies.map(({ check }) => check))
  await eventually(`doctor finds nothing of ${[...ids].join(', ')}`, async (observe) => {
    const left = (await results()).filter((result) => ids.has(result.check) && isWrong(result))
    return observe(left.map(({ check, what }) => `${check}: ${what}`)).length === 0 || undefined
  })
}

/** The remedies of a check's findings, which must be the expected ones. */
function fixesOf({ check, found, words, act }: Remedy, results: readonly Result[]): string[] {
  const own = results.filter((result) => result.check === check && isWrong(result))
  const text = own.map(({ what }) => what).join('\n')
  assert.is(own.length, found.length, `${check} found:\n${text}`)
  for (const one of found) assert.ok(one.test(text), `${check}: no ${one} in:\n${text}`)
  const fixes = own.map(({ fix = '' }) => remedyText(fix))
  for (const fix of fixes)
    assert.ok(words?.test(fix) || (act === undefined && commandsIn(fix).length > 0), `${check}: ${fix}`)
  return fixes
}

/** Whether a result is a finding, or says that nothing could be seen. */
export function isWrong({ level }: Result): boolean {
  return level !== 'ok' && level !== 'manual'
}

/** The commands in a remedy, as a person copies them from the terminal. */
function commandsIn(fix = ''): string[] {
  const [command = ''] = fix.split('   # ')
  const spans = [...fix.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
  return [command, ...spans].filter((line) => /^(kubectl|eip-admission|helm|for) /.test(line))
}

function isLook(command: string): boolean {
  return /^kubectl (--\S+ )?(get|describe|logs) (?!.*\| kubectl)/.test(command)
}

async function typeOne(type: Shell, command: string, edit: string | undefined): Promise<void> {
  const { code, stdout, stderr } = await type(command, edit)
  // grep and kubectl exit with 1 if they find nothing.
  const isNothing = isLook(command) && code === 1 && !/error/i.test(stderr)
  assert.ok(code === 0 || isNothing, `${command}: exit ${code}\n${stdout}${stderr}`)
}

/** Types a line as printed. `edit` is the sed command for an editor that opens. */
export type Shell = (line: string, edit?: string) => Promise<KubectlResult>

/** The shell of a person who has our program and kubectl, but no kubeconfig that kubectl finds without a flag. */
export async function shellOf({ kubectl, dir }: Pick<ControlPlane, 'kubectl' | 'dir'>): Promise<Shell> {
  const home = join(dir, 'home')
  const bin = join(home, 'bin')
  mkdirSync(bin, { recursive: true })
  const command = (await productCommand()).map((word) => `'${word}'`).join(' ')
  writeFileSync(join(bin, 'eip-admission'), `#!/bin/sh\nexec ${command} "$@"\n`)
  chmodSync(join(bin, 'eip-admission'), 0o755)
  const { PATH = '' } = process.env
  const path = [bin, dirname(kubectl), PATH].join(delimiter)
  return (line, edit) => {
    const editor = edit === undefined ? 'false' : `sed -i -e '${edit}'`
    const child = spawn('sh', ['-c', line], {
      cwd: root,
      env: { PATH: path, HOME: home, KUBE_EDITOR: editor },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
      })
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve({ code: code ?? -1, ...output }))
    })
  }
}
