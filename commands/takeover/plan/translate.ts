import { cloudChoice } from '../../../clouds/cloud-choice.ts'
import type { Dialect, FormerSetting } from '../../../clouds/dialect/define-dialect.ts'
import { dialects } from '../../../clouds/dialects.ts'
import { type SettingsFile, fieldValues, parseSettingsFile } from '../../../settings/file.ts'
import { fixedFlags, ignoredFlags } from '../../settings/ignored-flags.ts'
import { processSettings } from '../../../settings/process.ts'
import { type Places, type Setting, placesOf } from '../../../settings/setting.ts'
import { type GivenSettings, type GivenVariable, isFalse, refText } from '../../../inspect/given-settings.ts'
import { type PlanFinding, blocker, warning } from './plan.ts'
import { type Predecessor, isBefore } from '../../../inspect/predecessors.ts'

/** The settings of a predecessor, as `serve` takes them. The file may hold secrets: neither it nor `merged` is printed. */
export type Translation = {
  flags: Record<string, string>
  file: SettingsFile | undefined
  /** The fields of the file that came from the predecessor's environment. */
  merged: Record<string, string>
  /** Variables that the pods of `serve` need too: the proxies. */
  extraEnv: { name: string; value: string }[]
  notes: string[]
  /** The settings without a counterpart, and the unread ones. */
  findings: PlanFinding[]
}

/** Flags that say where the predecessor's own pod runs, or which the chart sets itself, each with the reason. */
const ownFlags: Record<string, string | undefined> = {
  '--cloud-provider': undefined,
  '--cloud-config': undefined,
  '--provider-config': undefined,
  '--kubeconfig': undefined,
  '--master': undefined,
  '--namespace': undefined,
  '--bind-address': 'the chart chooses the address of health and metrics',
  '--secure-port': 'the chart chooses the port of health and metrics',
  '--port': undefined,
  '--address': undefined,
  '--load-balancer-manifest': 'the announcing software is installed already, so its manifest is not applied again',
}

const proxies = /^(https?|no)_proxy$/i

/** The settings of a predecessor for `serve`, by the tables of settings. Pure. */
export function translate(predecessor: Predecessor, given: GivenSettings, version?: string): Translation {
  const dialect = dialectOf(predecessor)
  const rows: Setting<unknown>[] = Object.values({ ...cloudChoice, ...dialect.table, ...processSettings })
  const known = new Map<string, Setting<unknown>>(
    rows.flatMap((row) => [row.flag ?? [], row.aliases ?? []].flat().map((flag) => [flag, row])),
  )
  const result: Translation = {
    flags: {},
    file: undefined,
    merged: {},
    extraEnv: [],
    notes: [],
    findings: given.unread.map(unreadFinding),
  }
  for (const [name, value] of Object.entries(given.flags)) {
    const isSecret = given.secretFlags.includes(name)
    translateFlag({ name, value, isSecret }, { row: known.get(name), result })
  }
  const former = (predecessor.formerSettings ?? []).filter(
    ({ until }) => version === undefined || isBefore(version, until),
  )
  const byEnv = new Map(rows.flatMap((row) => [row.env ?? [], row.otherEnv ?? []].flat().map((name) => [name, row])))
  const parsed = given.file && parseSettingsFile(refText(given.file.ref), given.file.text)
  // A release without a number is taken for a current one: there the present name counts.
  const ofFile = parsed?.fields ?? {}
  const isPresent = ({ field = '' }: Places) => version === undefined && fieldValues(ofFile, field).length > 0
  for (const variable of given.env.filter(({ name }) => !former.some(({ env }) => env === name)))
    translateVariable(variable, { row: byEnv.get(variable.name), result })
  for (const one of former) {
    const row = 'flag' in one ? known.get(one.flag) : undefined
    const variables = row && isPresent(row) ? [] : formerVariables(one, given.env, ofFile)
    for (const variable of variables) translateFormer(variable, one, { row, result })
  }
  const formerFields = former.flatMap(({ field }) => field ?? [])
  const replaced = [...formerFields, ...Object.keys(result.merged)]
  const fields = { ...withoutFields(ofFile, replaced), ...result.merged }
  result.file = parsed
    ? { ...parsed, fields }
    : { path: "the predecessor's environment", fields: result.merged, problems: [] }
  return result
}

/** The dialect of a predecessor. */
function dialectOf({ dialect: name }: Predecessor): Dialect {
  const found = dialects.find((one) => one.name === name)
  if (!found) throw new Error(`there is no dialect ${name}`)
  return found
}

type Target = { row: Setting<unknown> | undefined; result: Translation }

function translateFlag({ name: flag, value, isSecret }: GivenVariable, { row, result }: Target): void {
  if (flag in ownFlags) {
    if (ownFlags[flag] !== undefined) result.notes.push(`${flag} is left out: ${ownFlags[flag]}`)
  } else if (flag === '--leader-elect') {
    if (isFalse(value))
      result.notes.push('--leader-elect=false is left out: two replicas run, and the lease says which one leads')
  } else if (Object.hasOwn(ignoredFlags, flag)) {
    result.notes.push(`${flag} has no effect: ${new Map(Object.entries(ignoredFlags)).get(flag)}`)
  } else if (Object.hasOwn(fixedFlags, flag)) {
    result.flags[flag] = value
  } else if (row) {
    if (!isSecret) result.flags[row.flag ?? flag] = value
    else if (row.field !== undefined) result.merged[row.field] = value
    else result.findings.push(untranslated(flag, row))
  } else {
    result.findings.push(unknown('flag', flag))
  }
}

function translateVariable({ name, value, isSecret }: GivenVariable, { row, result }: Target): void {
  if (proxies.test(name)) {
    // A URL with a user has a password too.
    if (isSecret || value.includes('@')) result.findings.push(secretProxy(name))
    else result.extraEnv.push({ name, value })
  }
  if (name === 'KUBECONFIG' || name === 'POD_NAMESPACE') return
  if (!row) {
    if (dialects.some(({ envPrefix }) => name.startsWith(envPrefix))) result.findings.push(unknown('variable', name))
    return
  }
  if (value === '') return
  const { flag, field, format } = row
  if ((isSecret || format.secret || flag === undefined) && field !== undefined) result.merged[field] ??= value
  else if (flag !== undefined && !isSecret && !format.secret) result.flags[flag] ??= value
  else result.findings.push(untranslated(name, row))
}

function translateFormer(variable: GivenVariable, former: FormerSetting, target: Target): void {
  const { name, value } = variable
  if ('noEffect' in former) target.result.notes.push(`${name} has no effect: ${former.noEffect}`)
  else translateVariable({ ...variable, value: former.translate?.(value) ?? value }, target)
}

/** The value of a setting under its former name: that of the environment, or else that of the file. */
function formerVariables(
  { env, field = '' }: FormerSetting,
  variables: readonly GivenVariable[],
  fields: SettingsFile['fields'],
): GivenVariable[] {
  const ofFile = fieldValues(fields, field)
    .filter(({ value }) => ['string', 'boolean', 'number'].includes(typeof value))
    .map(({ name, value }) => ({ name, value: String(value), isSecret: true }))
  const given = [...variables.filter(({ name }) => name === env), ...ofFile].filter(({ value }) => value !== '')
  return given.slice(0, 1)
}

/** Fields without those that the environment sets: it takes precedence over the file, in any spelling. */
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
    what: `the predecessor's ${name} comes from a Secret or holds a password, and the values of the chart hold no secret`,
    remedy: `put ${name} into a Secret of the namespace, and name that in extraEnvFrom of the values`,
  })
}

function unreadFinding({ where, what, isForbidden }: GivenSettings['unread'][number]): PlanFinding {
  return blocker('settings-unread', where, {
    what: `${where} ${what}, and the predecessor's settings are in it`,
    remedy: `${isForbidden ? 'run takeover plan as a user who may read it' : 'run takeover plan again when it can be read'}, or give the settings by --cloud-config=FILE and flags`,
  })
}
