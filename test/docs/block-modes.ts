// Words in the info string of a code block about running it: `sh run`, `sh run=fails`, `sh no-run=elsewhere`.
import type { Block, Page } from './pages.ts'

/** Why a block is not run. Anything else has to run. */
export const reasons: Record<string, string> = {
  placeholder: 'it has a name or a secret of the reader, or a part that is left out',
  'needs-nodes': 'it needs kubelets, machines or routers',
  'needs-announcer': 'it needs announcing software, which has tests of its own',
  'needs-program': 'it needs a program that the sandbox does not have',
  'needs-clusters': 'it needs two clusters',
  'needs-predecessor': 'it needs a cluster that a predecessor runs, as test/rig/takeover has',
  'is-a-test': 'it is run as it is by another test, or is what runs the tests',
  'ends-it': 'it removes what the rest of the page needs',
  shown: 'it shows what a person sees, in parts',
}

export type Mode = { kind: 'run'; mustFail: boolean } | { kind: 'no-run'; reason: string } | { kind: 'none' }

const shells = ['sh', 'console', 'bash', 'shell']

/** Whether a block has commands for a person to type. */
export function isCommands({ lang, text }: Block): boolean {
  return shells.includes(lang) || (lang === '' && /^\$ /m.test(text))
}

export function modeOf({ words }: Block): Mode {
  const [word = ''] = words
  if (word === 'run' || word === 'run=fails') return { kind: 'run', mustFail: word === 'run=fails' }
  const reason = word.startsWith('no-run=') ? word.slice('no-run='.length) : undefined
  return reason === undefined ? { kind: 'none' } : { kind: 'no-run', reason }
}

/** The name of the file that a block of YAML is saved as; undefined if it is only shown. */
export function fileOf({ words }: Block): string | undefined {
  return words.find((word) => word.startsWith('file='))?.slice('file='.length)
}

/** The commands that prepare the cluster of a page, from a comment that no reader sees. */
export function preparationOf({ text }: Page): string {
  return [...text.matchAll(/<!-- prepare\n([\s\S]*?)\n-->/g)].map(([, commands]) => commands).join('\n')
}

/** The ground of a page, from such a comment: flags of `serve`, or `chart` for a cluster without the product. */
export function groundOf({ text }: Page): { isEmpty: boolean; flags: string[] } {
  const [, words = ''] = /<!-- sandbox: (.*) -->/.exec(text) ?? []
  const all = words.split(' ').filter(Boolean)
  return { isEmpty: all.includes('chart'), flags: all.filter((word) => word.startsWith('--')) }
}

/** The commands of a block, and what each of them prints if the block shows that. */
export function stepsOf({ text }: Block): { command: string; output?: string }[] {
  if (!/^\$ /m.test(text)) return [{ command: text }]
  return text
    .split(/^\$ /m)
    .filter(Boolean)
    .map((part) => {
      const [, command = '', output = ''] = /^((?:.*\\\n)*.*)\n?([\s\S]*)$/.exec(part) ?? []
      return { command, output: output.trim() }
    })
}

/** A text without what differs from run to run: addresses, ids, ages, numbers of ports and the width of columns. */
export function withoutChance(text: string): string {
  return text
    .replaceAll(/\d{1,3}(\.\d{1,3}){3}/g, '<address>')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, '<id>')
    .replaceAll(/\b(\d+(ms|s|m|h|d))+\b/g, '<age>')
    .replaceAll(/:\d{4,5}\b/g, ':<port>')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
