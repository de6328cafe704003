import { certificatesProblems } from '../../settings/certificates.ts'
import { type ClusterSettings, common } from '../../settings/common.ts'
import { controlPlaneProblems } from '../../settings/control-plane.ts'
import { cloudChoice } from '../../clouds/cloud-choice.ts'
import { dialects } from '../../clouds/dialects.ts'
import type { CloudSettings } from '../../clouds/dialect/define-dialect.ts'
import { readSettingsFile, type SettingsFile } from '../../settings/file.ts'
import { fixedFlags, ignoredFlags } from './ignored-flags.ts'
import { leaderElectionProblems } from '../../settings/leader-election.ts'
import { SettingsError, type Problem } from '../../settings/problems.ts'
import { processSections, processSettings, type ProcessSettings } from '../../settings/process.ts'
import { readSettings, type Resolution, type Sources } from '../../settings/resolve.ts'
import { type Section, type Setting, type SettingsTable, titleOf } from '../../settings/setting.ts'
import { statusPageProblems } from '../../settings/status-page.ts'
import { webhookClientProblems } from '../../settings/webhook-client.ts'
import { readManifest } from '../../kube/manifest-file.ts'

/** The provider's configuration file, which another program may rewrite at any time. */
export type CloudFile = {
  path: string
  /** The provider's settings with the current file; throws a SettingsError with every mistake. */
  read: () => CloudSettings
}

/** All settings of `serve`, in parts for their users. */
export type ServeSettings = {
  /** How this process runs: ports, leases, certificates, nodes, log. */
  process: ProcessSettings
  cluster: ClusterSettings
  /** The dialect and all of its settings, only for the client of its vendor. */
  cloud: CloudSettings
  /** Absent without a configuration file. */
  cloudFile: CloudFile | undefined
  /** The warnings that an operator should read in the log at start. */
  warnings: string[]
}

/** Every setting of `serve`, in the order in which people look for them. */
export const serveSections: readonly Section[] = [
  { heading: 'Provider', table: cloudChoice },
  { heading: 'Addresses', table: common },
  ...dialects.map(({ title, rows }) => ({ heading: title, table: rows, isDialect: true as const })),
  ...processSections,
]

/**
 * The settings of `serve` from flags, environment and file; throws one SettingsError with every mistake. A file that
 * was already read replaces the file that a flag names.
 */
export function serveSettings({ flags, env, file: given }: Sources): ServeSettings {
  // Each table is read separately, so that a mistake in one hides no mistake in another that depends on it.
  const place = readSettings({ path: cloudChoice.cloudConfig }, { flags, env })
  const choice = readSettings({ dialect: cloudChoice.dialect }, { flags, env })
  const own = readSettings(processSettings, { flags, env })
  const path = place.values?.path
  const file = given ?? (path === undefined ? undefined : readSettingsFile(path))
  const dialect = choice.values?.dialect
  const cloud = dialect?.read({ flags, env, file })
  const problems = [
    ...choice.problems,
    ...place.problems,
    ...(cloud?.problems ?? file?.problems ?? []),
    ...own.problems,
    ...leaderElectionProblems({ flags, env }),
    ...controlPlaneProblems({ flags, env }),
    ...webhookClientProblems({ flags, env }),
    ...statusPageProblems({ flags, env }),
    ...certificatesProblems({ flags, env }),
    ...manifestProblems({ flags, env }),
    ...portProblems(own.values),
    ...fixedFlagProblems(flags),
    ...(dialect ? strayFlagProblems(flags, dialect.table, dialect.title) : []),
  ]
  if (!cloud?.values || !own.values || problems.length > 0) throw new SettingsError(problems)
  const warnings = [...place.warnings, ...cloud.warnings, ...own.warnings, ...ignoredFlagWarnings(flags)]
  return {
    process: own.values,
    cluster: cloud.values.settings,
    cloud: cloud.values,
    cloudFile:
      path === undefined || !dialect ? undefined : cloudFile(path, (now) => dialect.read({ flags, env, file: now })),
    warnings,
  }
}

function cloudFile(path: string, resolve: (file: SettingsFile) => Resolution<CloudSettings>): CloudFile {
  return {
    path,
    read() {
      const { values, problems } = resolve(readSettingsFile(path))
      if (!values) throw new SettingsError(problems)
      return values
    },
  }
}

/** The webhooks, the metrics and the status page need a port each. */
function portProblems(own: ProcessSettings | undefined): Problem[] {
  if (!own) return []
  const hasWebhooks = own.only === undefined || own.only === 'webhooks'
  const listeners: Listener[] = [
    ...(hasWebhooks
      ? [{ row: processSettings.webhookSecurePort, port: own.webhookSecurePort, what: 'the webhooks' }]
      : []),
    { row: processSettings.securePort, port: own.securePort, what: 'health and metrics' },
    { row: processSettings.statusPageAddress, port: own.statusPageAddress?.port, what: 'the status page' },
  ]
  return listeners.flatMap(({ row, port }, n) => {
    const other = listeners.slice(0, n).find((before) => port !== undefined && before.port === port)
    if (!other) return []
    const wrong = `has port ${port}, which ${other.what} also have`
    return [{ setting: titleOf(row), source: row.flag, wrong, right: 'set another port' }]
  })
}

type Listener = { row: Setting<unknown> & { flag: string }; port: number | undefined; what: string }

function fixedFlagProblems(flags: Sources['flags']): Problem[] {
  return Object.entries(fixedFlags).flatMap(([flag, { value, right }]) => {
    const given = flags[flag] || value
    return given === value
      ? []
      : [{ setting: flag.slice(2), source: flag, wrong: `is ${JSON.stringify(given)}`, right }]
  })
}

function ignoredFlagWarnings(flags: Sources['flags']): string[] {
  return Object.entries(ignoredFlags).flatMap(([flag, reason]) =>
    flags[flag] === undefined ? [] : [`${flag} has no effect: ${reason}`],
  )
}

/** The command line accepts the flags of all dialects, because the dialect itself is chosen on the same line. */
function strayFlagProblems(flags: Sources['flags'], cloudTable: SettingsTable, cloudTitle: string): Problem[] {
  const rows = [cloudChoice, processSettings, cloudTable].flatMap((table: SettingsTable) => Object.values(table))
  const known = new Set<string>([
    ...rows.flatMap(({ flag = [], aliases = [] }) => [flag, aliases].flat()),
    ...Object.keys({ ...fixedFlags, ...ignoredFlags }),
  ])
  return Object.keys(flags)
    .filter((flag) => !known.has(flag))
    .map((flag) => ({ setting: flag, wrong: `not a setting of ${cloudTitle}`, right: 'leave it out' }))
}

/** Problems of the manifest that `install` should apply, found before anything is applied. */
function manifestProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { loadBalancerManifest: setting } = common
  const path = readSettings({ setting }, sources).values?.setting
  const file = path === undefined ? undefined : readManifest(path)
  if (path === undefined || file?.wrong === undefined) return []
  return [manifestProblem(path, file.wrong)]
}

/** The problem of a manifest that cannot be used. */
export function manifestProblem(path: string, wrong: string): Problem {
  const right = 'it must be a readable YAML file with Kubernetes objects, as for kubectl apply -f'
  return { setting: titleOf(common.loadBalancerManifest), source: path, wrong, right }
}
