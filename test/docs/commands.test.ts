// All that pages tell people to type exists: commands, flags, values of the chart, annotations, make targets, and YAML that parses.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Command } from 'commander'
import { parseAllDocuments } from 'yaml'
import { type ProgramDeps, program } from '../../commands/program.ts'
import { common } from '../../settings/common.ts'
import { leaderElection } from '../../settings/leader-election.ts'
import { catalogue as events } from '../../telemetry/events/catalogue.ts'
import { catalogue as metrics } from '../../telemetry/metrics/catalogue.ts'
import { isCommands, stepsOf } from './block-modes.ts'
import { type Page, allPages, root } from './pages.ts'

const generated = [
  'docs/reference/settings.md',
  'docs/reference/commands.md',
  'docs/reference/annotations.md',
  'CHANGELOG.md',
]
/** Decisions name flags of other programs, and those of that time. */
const pages = allPages().filter(({ file }) => !generated.includes(file) && !file.startsWith('docs/adr/'))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The flags of each command; those of `takeover plan` under its two words. */
const commands = new Map(flagsBelow(program({ version: '', env: {} } as ProgramDeps)))
const anyFlag = new Set([...commands.values()].flat())

/** Flags of other programs, the plugin among them, that pages name beside ours. */
const flagsOfOthers = [
  '--admission-control-config-file',
  '--allow',
  '--cloud-provider',
  '--context',
  '--help',
  '--version',
  '--leader-elect',
  '--lb-class',
  '--no-hooks',
  '--node-ip',
  '--provider-id',
  '--server-side',
  '--service',
  '--set',
  '--take-ownership',
  '--wait',
]

/** Names under our prefix that are no annotations: the API version and a loadBalancerClass. */
const otherNames = ['eip-admission.dev/v1alpha1', 'eip-admission.dev/control-plane']

type Schema = { properties?: Record<string, Schema>; additionalProperties?: boolean; type?: string | string[] }

const chartValues = JSON.parse(read('manifests/chart/values.schema.json')) as Schema
const annotations = read('docs/reference/annotations.md')
const targets = [...read('Makefile').matchAll(/^([a-z0-9-]+):/gm)].map(([, target]) => target)

function flagsBelow(parent: Command, path: string[] = []): [string, string[]][] {
  return parent.commands.flatMap((command) => {
    const words = [...path, command.name()]
    const flags = command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null))
    return [[words.join(' '), flags], ...flagsBelow(command, words)] as [string, string[]][]
  })
}

/** The commands of a page, each in one line. */
function commandsOf({ blocks }: Page): { place: string; line: string }[] {
  return blocks.filter(isCommands).flatMap((block) =>
    stepsOf(block).flatMap(({ command }) =>
      command
        .replaceAll(/\\\n\s*/g, ' ')
        .split('\n')
        .map((line) => ({ place: block.place, line })),
    ),
  )
}

/** The problems of the flags of our own commands in a line. */
function problemsOfLine(line: string): string[] {
  return [...line.matchAll(/(?:^|[\s$]|\.\/bin\/)eip-admission ([a-z-][^|;&>)#]*)/g)].flatMap(([, rest = '']) => {
    const [first = '', ...words] = rest.trim().split(/\s+/)
    const [second = ''] = words
    const name = [`${first} ${second}`, first.startsWith('--') ? 'serve' : first].find((one) => commands.has(one)) ?? ''
    const flags = commands.get(name)
    if (['--version', '--help', 'help'].includes(first)) return []
    // The name of a release or of a namespace, after another program.
    if (/\b(helm|kubectl|create)\b/.test(line.slice(0, line.indexOf('eip-admission')))) return []
    if (!flags) return [`there is no command ${first}`]
    const given = [first, ...words].filter((word) => word.startsWith('-')).map((word) => word.split('=')[0] ?? '')
    return given.filter((flag) => !['--help', ...flags].includes(flag)).map((flag) => `${name} has no flag ${flag}`)
  })
}

/** The values that a line gives to helm and that the chart does not have. */
function unknownValues(line: string): string[] {
  const given = [...line.matchAll(/--set(?:-string|-json|-file)?[ =]'?([\w.[\]-]+)=/g)].map(([, path = '']) => path)
  return given.filter((path) => !hasValue(chartValues, path.replaceAll(/\[\d+\]/g, '').split('.')))
}

function hasValue({ properties, additionalProperties }: Schema, [first, ...rest]: string[]): boolean {
  if (first === undefined) return true
  const below = properties?.[first]
  return below ? hasValue(below, rest) : properties === undefined && additionalProperties !== false
}

function findAll(look: (page: Page) => string[]): string[] {
  return pages.flatMap((page) => look(page).map((problem) => `${page.file}: ${problem}`))
}

test('commands and flags of eip-admission exist', () => {
  assert.equal(
    findAll((page) => commandsOf(page).flatMap(({ line }) => problemsOfLine(line))),
    [],
  )
})

test('flags in the text exist', () => {
  const known = [...anyFlag, ...flagsOfOthers]
  const unknown = findAll(({ text }) =>
    [...text.matchAll(/`(--[a-z][a-z-]+)(?:[=\s][^`]*)?`/g)]
      .map(([, flag = '']) => flag)
      .filter((flag) => !known.includes(flag) && !flag.endsWith('-')),
  )
  assert.equal([...new Set(unknown)], [])
})

test('values of the chart exist', () => {
  assert.equal(
    findAll((page) => commandsOf(page).flatMap(({ line }) => unknownValues(line))),
    [],
  )
})

test('targets of make exist', () => {
  const named = findAll(({ text, blocks }) =>
    [
      ...[...text.matchAll(/`make ([a-z0-9-]+)[^`]*`/g)].map(([, target = '']) => target),
      ...blocks
        .filter(isCommands)
        .flatMap((block) => [...block.text.matchAll(/^make ([a-z0-9-]+)/gm)].map(([, target = '']) => target)),
    ].filter((target) => !targets.includes(target)),
  )
  assert.equal(named, [])
})

test('YAML parses, and names annotations and labels that exist', () => {
  const problems = findAll(({ blocks, text }) => [
    ...blocks
      .filter(({ lang }) => lang === 'yaml')
      .flatMap((block) =>
        parseAllDocuments(block.text).flatMap(({ errors }) =>
          errors.map((error) => `${block.place}: ${error.message}`),
        ),
      ),
    ...[...text.matchAll(/(?<!\.)\beip-admission\.dev\/([a-z][\w-]*)/g)]
      .map(([name]) => name.replace(/-$/, ''))
      .filter((name) => !otherNames.includes(name) && !annotations.includes(`\`${name}\``)),
  ])
  assert.equal([...new Set(problems)], [])
})

test('Events and metrics that a command selects exist', () => {
  const problems = findAll(({ text }) => [
    ...[...text.matchAll(/reason=([A-Z]\w+)/g)]
      .map(([, reason = '']) => reason)
      .filter((reason) => !Object.hasOwn(events, reason)),
    ...[...text.matchAll(/`(eip_admission_\w+?)(?:_bucket|_sum|_count)?`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !Object.hasOwn(metrics, name)),
  ])
  assert.equal(problems, [])
})

test('no page has npm fetch the name eip-admission, which a stranger may register', () => {
  assert.equal(
    findAll(({ text }) => [...text.matchAll(/\bnpx (?:-\S+ )*eip-admission\b/g)].map(([found]) => found)),
    [],
  )
})

test('each kind of mistake is found', () => {
  assert.equal(problemsOfLine('./bin/eip-admission instal --dry-run'), ['there is no command instal'])
  assert.equal(problemsOfLine('eip-admission cleanup --yess'), ['cleanup has no flag --yess'])
  assert.equal(problemsOfLine('METAL_METRO_NAME=da eip-admission serve --cloud-provider=equinixmetal'), [])
  assert.equal(unknownValues('helm install x y --set settings.regio=a --set settings.region=b --set webhooks.url=c'), [
    'settings.regio',
  ])
})

const { sweepIntervalMs, unboundGraceMs, maxAddresses } = common
const { leaseDurationMs } = leaderElection
/** Sentences of pages that state a setting's default, which stands for DEFAULT in them. */
const stated: [file: string, text: string, setting: { default: string }][] = [
  ['docs/guides/hetzner.md', '`sweep-interval` (DEFAULT by default)', sweepIntervalMs],
  ['docs/guides/hetzner.md', 'when the lease expires, after DEFAULT by default', leaseDurationMs],
  ['docs/guides/install.md', 'the other replica leads after DEFAULT', leaseDurationMs],
  ['docs/guides/troubleshooting.md', 'wait DEFAULT, or the lease duration that you set', leaseDurationMs],
  ['docs/guides/backup-and-restore.md', '`--unbound-grace`, DEFAULT by default', unboundGraceMs],
  ['docs/guides/phoenixnap.md', 'DEFAULT addresses, the default of `--max-addresses`', maxAddresses],
  ['docs/adr/0040-assigned-addresses.md', 'its lease must end first: DEFAULT by default', leaseDurationMs],
]
/** Products of several defaults. */
const computed = ['three sweep intervals of its writer, 15 minutes by default']
const numbers: Record<string, string> = { 2: 'two', 3: 'three', 5: 'five', 6: 'six' }
const units: Record<string, string> = { s: ' seconds', m: ' minutes', h: ' hours', '': '' }
function spoken(text: string): string {
  const [, number = '', unit = ''] = /^(\d+)([smh]?)$/.exec(text) ?? []
  return `${numbers[number] ?? number}${units[unit]}`
}

test('a default that a page states is that of the setting', () => {
  const texts = new Map(allPages().map(({ file, text }) => [file, text.replaceAll(/\s+/g, ' ')]))
  const said = stated.map(([file, text, setting]) => [file, text.replace('DEFAULT', spoken(setting.default))] as const)
  assert.equal(
    said.filter(([file, text]) => !texts.get(file)?.includes(text)),
    [],
  )
  const known = [...said.map(([, text]) => text), ...computed]
  const stating = /\S+ \S+ \S+ \(?\w+ (?:seconds|minutes|hours|addresses),? (?:by default|the default of)/g
  const unknown = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(stating)]
      .map(([found]) => found)
      .filter(
        (found) =>
          !generated.includes(file) && !known.some((one) => one.includes(found.split(' ').slice(-4).join(' '))),
      )
      .map((found) => `${file}: ${found}`),
  )
  assert.equal(unknown, [])
})

test.run()
