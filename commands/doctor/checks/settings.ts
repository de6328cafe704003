import { dialects } from '../../../clouds/dialects.ts'
import { closestWord } from '../../../lib/text.ts'
import { serveSections } from '../../settings/serve.ts'
import type { Setting } from '../../../settings/setting.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Context } from '../../../inspect/facts.ts'
import { shell } from '../../../lib/remedy.ts'

export const settingsWithoutEffect = defineCheck({
  id: 'settings-without-effect',
  section: 'Settings',
  checks: 'Every setting that was given has an effect, and no variable of the environment is a misspelt setting.',
  good: 'every setting has an effect',
  needs: [],
  judge: (_facts, context) => [
    ...[...context.settings.warnings, ...context.vendor.unsupported].map(withoutEffect),
    ...idlePool(context),
    ...unknownVariables(context),
  ],
})

function withoutEffect(what: string): Finding {
  return {
    level: 'warning',
    what,
    why: '`serve` starts, but does not do what you intended',
    fix: shell`eip-admission serve --help=all   # has every setting: correct this one, or remove it`,
  }
}

function idlePool({ settings, vendor: { loadBalancer } }: Context): Finding[] {
  const isUseless = loadBalancer.kind === 'none' || loadBalancer.kind === 'managed'
  if (!isUseless || settings.cluster.warmPool === 0) return []
  return [
    withoutEffect(
      '--warm-pool has no effect: with this load balancer setting no Service gets an address from the pool',
    ),
  ]
}

/** Kubernetes gives a pod variables with this prefix, for the Services of its namespace. */
const ofServices = 'EIP_ADMISSION'
const prefixes = ['EIP_', ...dialects.map(({ envPrefix }) => envPrefix)]

function unknownVariables({ env }: Context): Finding[] {
  const rows: Setting<unknown>[] = serveSections.flatMap(({ table }) => Object.values(table))
  const known = rows.flatMap(({ env: name, otherEnv = [] }) => [name ?? [], otherEnv].flat())
  return env
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !name.startsWith(ofServices))
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = closestWord(name, known, (word) => Math.min(3, word.length / 2))
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      return withoutEffect(`the variable ${name} has no effect, because there is no such setting${hint}`)
    })
}
