import { onceCommands } from '../../commands/program.ts'
import { common } from '../../settings/common.ts'
import { cloudChoice, managedSchemes } from '../../clouds/cloud-choice.ts'
import type { Dialect } from '../../clouds/dialect/define-dialect.ts'
import { dialects } from '../../clouds/dialects.ts'
import { fixedFlags, ignoredFlags } from '../../commands/settings/ignored-flags.ts'
import { loadBalancerValues } from '../../announcers/load-balancer-setting.ts'
import { processSections } from '../../settings/process.ts'
import { code, markdownTable } from '../markdown.ts'
import { absenceOf, type Section, type Setting, type SettingsTable, titleOf } from '../../settings/setting.ts'

const opening = `# Settings

This page lists every setting of \`eip-admission serve\`, \`install\`, \`cleanup\` and \`doctor\`. A setting has up to four sources. The first
one with a value takes effect:

1. the flag
2. the environment variable
3. the field of the configuration file
4. the default

The process does not start without its required settings. The error lists all problems at once.

- **Configuration file.** A JSON object in the file that \`--cloud-config\` names, usually the key \`cloud-sa.json\` of a mounted
  Secret. Field names are not case-sensitive. Numbers may be strings. An unknown field causes a warning.
- **Empty values.** An empty value means "not set" in every source. Spaces and line breaks around a value are removed.
- **Flags.** Write \`--flag=value\` or \`--flag value\`. A boolean flag without a value is true.
- **Secrets.** Secrets have no flag, because every user of the host can see the arguments of a process. Secrets are never
  printed, not even in errors.
- **Durations** are written as in Go: \`30s\`, \`1m30s\`, \`250ms\`.
- **Lists** are separated by commas.
- **Proxies.** Calls to the provider go through the proxy of \`HTTPS_PROXY\`, except to hosts in \`NO_PROXY\` and to the same
  machine. Calls to the API server use the proxy that the kubeconfig names.

The names and meanings of all annotations are in [annotations](annotations.md).
`

/** The reference page of all settings, in Markdown, from the tables that the process itself reads. */
export function settingsReference(): string {
  const parts = [
    opening,
    section({ heading: 'Provider', table: cloudChoice }, 2),
    ...dialects.map(dialectPart),
    loadBalancerPart(),
    commonPart(),
    '## The process\n\nSettings of `eip-admission serve` that are the same for every provider.\n',
    ...processSections.map((part) => section(part, 3)),
    '## Other commands\n\nEach of these commands runs once, with a kubeconfig.\n',
    ...onceCommands.map(({ words, table, beside }) =>
      section({ heading: `\`eip-admission ${words}\`${beside ? ', in addition to those of `serve`' : ''}`, table }, 3),
    ),
    upstreamPart(),
  ]
  return parts.join('\n')
}

function section({ heading, table }: Section, depth: number): string {
  return `${'#'.repeat(depth)} ${heading}\n\n${settingsTable(table)}\n`
}

function dialectPart({ title, name, providers, predecessors, rows }: Dialect): string {
  const flags = providers.map((provider) => `\`--cloud-provider=${provider}\``).join(' or ')
  const intro = `Settings of the dialect \`${name}\`, which ${flags} chooses.${secretSentence(predecessors)}`
  return `## ${title}\n\n${intro}\n\n${settingsTable(rows)}\n`
}

function secretSentence([predecessor]: Dialect['predecessors']): string {
  if (!predecessor) return ''
  const { namespace, name } = predecessor.secret
  return ` The predecessor keeps the configuration file in the Secret \`${namespace}/${name}\`.`
}

function loadBalancerPart(): string {
  const rows = [...loadBalancerValues, ...Object.values(managedSchemes)].map(({ written, meaning }) => [
    code(written),
    meaning,
  ])
  const table = markdownTable(['value', 'announcing software'], rows)
  const notes = dialects.flatMap(({ loadBalancerNote }) => loadBalancerNote ?? [])
  return `## Values of the load balancer setting\n\n${table}\n\n${[ofNodes, ...notes].join('\n\n')}\n`
}

const ofNodes = 'kube-vip reads the annotations `<prefix>/node-asn`, `peer-asn`, `peer-ip` and `src-ip` of its node.'

function commonPart(): string {
  const intro =
    'These settings exist in every dialect. If the table of a dialect has a setting of the same name, that one takes precedence.'
  return `## Addresses, in every dialect\n\n${intro}\n\n${settingsTable(common)}\n`
}

function upstreamPart(): string {
  const rows = [
    ...Object.entries(ignoredFlags).map(([flag, reason]) => [code(flag), `Ignored: ${reason}.`]),
    ...Object.entries(fixedFlags).map(([flag, { value }]) => [
      code(flag),
      `Only the value ${code(value)} is accepted.`,
    ]),
  ]
  const intro =
    'Flags of other cloud controller managers. eip-admission accepts them, so that existing manifests still work, and logs a warning.'
  return `## Flags without effect\n\n${intro}\n\n${markdownTable(['flag', 'effect'], rows)}\n`
}

function settingsTable(table: SettingsTable): string {
  return markdownTable(
    ['setting', 'flag', 'environment', 'field', 'default', 'meaning'],
    Object.values(table).map(settingRow),
  )
}

function settingRow(setting: Setting<unknown>): string[] {
  const { flag, aliases = [], env, otherEnv = [], field, sentence, isReloaded } = setting
  const flags = [flag, ...aliases].filter((name) => name !== undefined).map(code)
  const variables = [env, ...otherEnv].filter((name) => name !== undefined).map(code)
  return [
    titleOf(setting),
    flags.join(', '),
    variables.join(', '),
    code(field),
    defaultCell(setting),
    isReloaded ? `${sentence} A change in the configuration file needs no restart.` : sentence,
  ]
}

/** A default value as code, or a phrase that says what applies without a value. */
function defaultCell(setting: Setting<unknown>): string {
  if ('required' in setting) return '**required**'
  return 'default' in setting && setting.default !== '' ? code(setting.default) : (absenceOf(setting) ?? '')
}
