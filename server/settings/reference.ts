import { cleanupSettings, installSettings } from './commands.ts'
import { common } from './common.ts'
import { dialects } from './dialects.ts'
import type { Dialect } from './dialects.ts'
import { fixedFlags, ignoredFlags } from './ignored-flags.ts'
import { loadBalancerValues } from './load-balancer.ts'
import { cloudChoice, processSections } from './process.ts'
import { absenceOf } from './setting.ts'
import type { Section, Setting, SettingsTable } from './setting.ts'

const opening = `# Settings

Every setting is read from the first of these that gives it: its flag, its environment variable, its field in the
configuration file, its default. A setting with neither value nor default keeps the process from starting. All mistakes
are told together.

- The configuration file is one JSON object. Its path is the value of \`--cloud-config\`; in the cluster it is usually the
  key \`cloud-sa.json\` of a Secret that is mounted. Names of fields are matched without regard to case, numbers may be
  written as texts, and a field that nobody knows is a warning.
- An empty text is "not set", everywhere. Blanks and line breaks around a value do not count.
- A flag is written \`--flag=value\` or \`--flag value\`. One that is true or false may stand alone, and is true then.
- Secrets have no flag: a list of processes would show it to everyone on the host. They are printed nowhere, not even
  when they are wrong.
- Durations are written as in Go: \`30s\`, \`1m30s\`, \`250ms\`. Lists are separated by commas.
`

/** The reference page of all settings, in Markdown, from the tables that the process itself reads. */
export function settingsReference(): string {
  const parts = [
    opening,
    section({ heading: 'Cloud', table: cloudChoice }, 2),
    ...dialects.map(dialectPart),
    loadBalancerPart(),
    commonPart(),
    '## The process\n',
    ...processSections.map((part) => section(part, 3)),
    '## Other commands\n',
    section({ heading: '`eip-admission install`', table: installSettings }, 3),
    section({ heading: '`eip-admission cleanup`', table: cleanupSettings }, 3),
    upstreamPart(),
  ]
  return parts.join('\n')
}

function section({ heading, table }: Section, depth: number): string {
  return `${'#'.repeat(depth)} ${heading}\n\n${settingsTable(table)}\n`
}

function dialectPart({ title, name, providers, secret, rows }: Dialect): string {
  const flags = providers.map((provider) => `\`--cloud-provider=${provider}\``).join(' or ')
  const intro = `Dialect \`${name}\`, chosen by ${flags}. The Secret with its configuration file is \`${secret}\`.`
  return `## ${title}\n\n${intro}\n\n${settingsTable(rows)}\n`
}

function loadBalancerPart(): string {
  const rows = loadBalancerValues.map(({ written, meaning }) => [code(written), meaning])
  const table = markdownTable(['value', 'who announces addresses'], rows)
  return `## Values of the load balancer setting\n\n${table}\n\n${ofDialects}\n`
}

const ofDialects = `In the dialect \`cherry-servers\` \`metallb:///<namespace>/\` is MetalLB through custom resources, as that program
never said so in any other way, and \`empty://\` says the address in the annotation \`cherryservers.com/loadBalancerIPs\` unless
it is told of another. Managed load balancers are Equinix Metal's alone, and in the dialect \`equinix-metal\` only.

kube-vip reads \`<prefix>/node-asn\`, \`peer-asn\`, \`peer-ip\` and \`src-ip\` from its node. In the dialect \`packet\` the first three
have other names until they are set so, and the last one is said by nobody: with \`kube-vip://\` write it on each node.
`

function commonPart(): string {
  const intro =
    'The names of these are the same in every dialect. Where a dialect has a row of that title above, that one holds.'
  return `## Addresses, in every dialect\n\n${intro}\n\n${settingsTable(common)}\n`
}

function upstreamPart(): string {
  const rows = [
    ...Object.entries(ignoredFlags).map(([flag, reason]) => [code(flag), `no effect: ${reason}`]),
    ...Object.entries(fixedFlags).map(([flag, { value }]) => [code(flag), `only ${code(value)} is taken`]),
  ]
  const intro = 'Flags of other cloud controller managers that old manifests carry. They do not keep us from starting.'
  return `## Flags that are taken without effect\n\n${intro}\n\n${markdownTable(['flag', 'what becomes of it'], rows)}\n`
}

function settingsTable(table: SettingsTable): string {
  return markdownTable(['setting', 'flag', 'environment', 'field', 'default', ''], Object.values(table).map(settingRow))
}

function settingRow(setting: Setting<unknown>): string[] {
  const { title, flag, aliases = [], env, otherEnv = [], field, sentence } = setting
  const flags = [flag, ...aliases].filter((name) => name !== undefined).map(code)
  const variables = [env, ...otherEnv].filter((name) => name !== undefined).map(code)
  return [title, flags.join(', '), variables.join(', '), code(field), standing(setting), sentence]
}

/** A default that is a value stands as code, one that is a consequence as words. */
function standing(setting: Setting<unknown>): string {
  if ('required' in setting) return '**required**'
  return 'default' in setting && setting.default !== '' ? code(setting.default) : (absenceOf(setting) ?? '')
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``
}

function markdownTable(head: string[], rows: string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}
