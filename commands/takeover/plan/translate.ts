import { cloudChoice } from '../../../clouds/cloud-choice.ts'
import type { Dialect, FormerSetting } from '../../../clouds/dialect/define-dialect.ts'
import { dialects } from '../../../clouds/dialects.ts'
import { type SettingsFile, fieldValues, parseSettingsFile } from '../../../settings/file.ts'
import { fixedFlags, ignoredFlags } from '../../settings/ignored-flags.ts'
import { processSettings } from '../../../settings/process.ts'
import { type Places, type Setting, placesOf } from '../../../settings/setting.ts'
import { type GivenSettings, type GivenVariable, refText } from '../../../inspect/given-settings.ts'
import { type PlanFinding, blocker, warning } from './plan.ts'
import { type Predecessor, isBefore } from '../../../inspect/predecessors.ts'

/**
 * The settings of a predecessor in the form of `serve`. The file may hold secrets, so neither it nor `merged` is
 * printed.
 */
export type Translation = {
  flags: Record<string, string>
  file: SettingsFile | undefined
  /** The fields of the file that came from the predecessor's environment. */
  merged: Record<string, string>
  /** Variables that the pods of `serve` also need: proxies. */
  extraEnv: { name: string; value: string }[]
  /** The findings about settings without a counterpart, and unread ones. */
  findings: PlanFinding[]
}

/** Flags about the predecessor's own environment, and those that the chart and `serve` decide themselves. */
const ownFlags = [
  '--cloud-provider',
  '--cloud-config',
  '--provider-config',
  '--kubeconfig',
  '--master',
  '--namespace',
  '--bind-address',
  '--secure-port',
  '--port',
  '--address',
  '--leader-elect',
  // The announcing software is installed already.
  '--load-balancer-manifest',
]

const proxies = /^(https?|no)_proxy$/i

/** Translates the settings of a predecessor for `serve`, by the tables of settings. Pure. */
export function translate(predecessor: Predecessor, given: GivenSettings, version?: string): Translation {
  const dialect = dialectOf(predecessor)
  const rows: Setting<unknown>[] = Object.values({ ...cloudChoice, ...dialect.table, ...processSettings })
  const byFlag = new Map<string, Setting<unknown>>(
    rows.flatMap((row) => [row.flag ?? [], row.aliases ?? []].flat().map((flag) => [flag, row])),
  )
  const byEnv = new Map(rows.flatMap((row) => [row.env ?? [], row.otherEnv ?? []].flat().map((name) => [name, row])))
  const result = { flags: {}, merged: {}, extraEnv: [], findings: given.unread.map(unreadFinding) }
  for (const [name, value] of Object.entries(given.flags))
    translateFlag({ name, value, isSecret: given.secretFlags.includes(name) }, { row: byFlag.get(name), result })
  const former = (predecessor.formerSettings ?? []).filter(
    ({ until }) => version === undefined || isBefore(version, until),
  )
  const parsed = given.file && parseSettingsFile(refText(given.file.ref), given.file.text)
  // A release without a version counts as current, so the current name takes precedence.
  const ofFile = parsed?.fields ?? {}
  const isPresent = ({ field = '' }: Places) => version === undefined && fieldValues(ofFile, field).length > 0
  for (const variable of given.env.filter(({ name }) => !former.some(({ env }) => env === name)))
    translateVariable(variable, { row: byEnv.get(variable.name), result })
  for (const one of former) {
    const row = byFlag.get(one.flag)
    const variable = row && isPresent(row) ? undefined : formerVariable(one, given.env, ofFile)
    if (variable) translateVariable(variable, { row, result })
  }
  const replaced = [...former.flatMap(({ field }) => field ?? []), ...Object.keys(result.merged)]
  const fields = { ...withoutFields(ofFile, replaced), ...result.merged }
  const file = parsed ?? { path: "the predecessor's environment", problems: [] }
  return { ...result, file: { ...file, fields } }
}

/** The dialect of a predecessor. */
function dialectOf({ dialect: name }: Predecessor): Dialect {
  const found = dialects.find((one) => one.name === name)
  if (!found) throw new Error(`there is no dialect ${name}`)
  return found
}

type Target = {
  row: Setting<unknown> | undefined
  result: Pick<Translation, 'flags' | 'merged' | 'extraEnv' | 'findings'>
}

function translateFlag(given: GivenVariable, { row, result }: Target): void {
  const { name, value } = given
  if (ownFlags.includes(name) || Object.hasOwn(ignoredFlags, name)) return
  if (Object.hasOwn(fixedFlags, name)) result.flags[name] = value
  else if (row) put(given, row, result)
  else result.findings.push(unknown('flag', name))
}

function translateVariable(given: GivenVariable, { row, result }: Target): void {
  const { name, value, isSecret } = given
  if (proxies.test(name)) {
    // A URL with a user usually has a password too.
    if (isSecret || value.includes('@')) result.findings.push(secretProxy(name))
    else result.extraEnv.push({ name, value })
  }
  if (name === 'KUBECONFIG' || name === 'POD_NAMESPACE') return
  if (row && value !== '') put(given, row, result)
  if (!row && dialects.some(({ envPrefix }) => name.startsWith(envPrefix)))
    result.findings.push(unknown('variable', name))
}

/** Puts a value where `serve` reads it: a secret into the file, anything else into a flag. */
function put({ name, value, isSecret }: GivenVariable, row: Setting<unknown>, result: Target['result']): void {
  const { flag, field, format } = row
  if (flag !== undefined && !isSecret && !format.secret) result.flags[flag] ??= value
  else if (field !== undefined) result.merged[field] ??= value
  else result.findings.push(untranslated(name, row))
}

/** The value of a setting under its former name, from the environment or else from the file. */
function formerVariable(
  { env, field = '', translate: present = (value) => value }: FormerSetting,
  variables: readonly GivenVariable[],
  fields: SettingsFile['fields'],
): GivenVariable | undefined {
  const ofFile = fieldValues(fields, field)
    .filter(({ value }) => ['string', 'boolean', 'number'].includes(typeof value))
    .map(({ name, value }) => ({ name, value: String(value), isSecret: true }))
  const given = [...variables.filter(({ name }) => name === env), ...ofFile].find(({ value }) => value !== '')
  return given && { ...given, value: present(given.value) }
}

/** The fields without those that the environment sets, which takes precedence over the file in any spelling. */
function withoutFields(fields: SettingsFile['fields'], names: readonly string[]): Record<string, unknown> {
  const taken = new Set(names.map((name) => name.toLowerCase()))
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !taken.has(name.toLowerCase())))
}

function unknown(what: 'flag' | 'variable', name: string): PlanFinding {
  return warning(`unknown-${what}`, name, {
    what: `the predecessor has the ${what} ${name}, which eip-admission does not know in this dialect`,
    remedy: 'nothing needs to be done if its effect is not needed; docs/reference/settings.md lists all settings',
  })
}

function untranslated(name: string, row: Places): PlanFinding {
  return warning('untranslated-setting', name, {
    what: `the predecessor reads ${name} from a Secret, and the configuration file has no field for it`,
    remedy: `set it yourself: ${placesOf(row).join(' or ')}`,
  })
}

function secretProxy(name: string): PlanFinding {
  return warning('secret-proxy', name, {
    what: `the predecessor's ${name} comes from a Secret or contains a password, and the values of the chart must not contain secrets`,
    remedy: `put ${name} into a Secret of the namespace, and name that in extraEnvFrom of the values`,
  })
}

function unreadFinding({ where, what, isForbidden }: GivenSettings['unread'][number]): PlanFinding {
  return blocker('settings-unread', where, {
    what: `${where} ${what}, and the predecessor's settings are in it`,
    remedy: `${isForbidden ? 'run takeover plan as a user who may read it' : 'run takeover plan again when it can be read'}, or give the settings with --cloud-config=FILE and flags`,
  })
}
