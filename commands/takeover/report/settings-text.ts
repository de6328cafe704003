import type { TakeoverPlan } from '../plan/plan.ts'
import { clean, cleanLine, section, table } from './text.ts'

/** The predecessor as it was found. */
export function predecessorText({ predecessor: { workloads, lease, finalizers }, target }: TakeoverPlan): string {
  const rows = workloads.map(({ kind, namespace, name, image, replicas, isRunning }) => [
    `${kind} ${namespace}/${name}`,
    isRunning ? replicasText(replicas) : 'stopped',
    image,
  ])
  const holder = lease.holder === undefined ? 'nobody holds it' : `held by ${lease.holder}`
  const use = lease.isUsed ? holder : 'not used by the predecessor (--leader-elect=false)'
  return section('Predecessor', [
    ...table(rows),
    `Lease ${lease.namespace}/${lease.name}: ${clean(use)}; eip-admission leads by ${target.leaseNamespace}/${target.leaseName}`,
    `its finalizer ${finalizers.join(', ')} stays on its Services, beside ours`,
  ])
}

function replicasText(replicas: number | undefined): string {
  if (replicas === undefined) return 'runs'
  return replicas === 1 ? '1 replica' : `${replicas} replicas`
}

/** The predecessor's settings in our words. */
export function settingsText({ settings }: TakeoverPlan): string {
  const { source, secret, values, notes } = settings
  const from = source ? `Secret ${source.namespace}/${source.name} (${source.key})` : "the predecessor's environment"
  const fields = secret.fields.map(clean).join(', ')
  const how = secret.how === 'copy' ? 'a copy of' : 'merged from'
  return section('Settings', [
    `from  ${from}: ${fields || 'no fields'}`,
    `to    Secret ${secret.namespace}/${secret.name} (${secret.key}), ${how} the above; its values are never printed`,
    'values of the chart:',
    ...values
      .trimEnd()
      .split('\n')
      .map((line) => `  ${cleanLine(line)}`),
    ...notes.map((note) => `note: ${clean(note)}`),
  ])
}
