import type { Pod } from '../../../kube/workloads.ts'
import { backdateMs, defaultLifetimes } from '../../../certs/lifetimes.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import { flagsIn } from '../../../inspect/given-settings.ts'
import { shell } from '../../../lib/remedy.ts'

/** The oldest API server that knows every field of the CRD of ElasticIP. */
const oldestMinor = 30

/** How far two clocks may differ before times in leases and logs mislead. */
const tolerableMs = 60_000

/** A certificate is valid from this long before its issue, to tolerate slow clocks. */
const harmfulMs = backdateMs(defaultLifetimes.leafMs)

export const apiServerVersion = defineCheck({
  id: 'api-server-version',
  section: 'API server',
  checks: 'The API server answers, and its version knows every field of the ElasticIP CRD.',
  good: 'the API server answers, and its version is new enough',
  needs: ['server'],
  judge({ server: { version, major, minor } }) {
    if (major > 1 || minor >= oldestMinor) return []
    return {
      level: 'warning',
      what: `the API server is ${version}`,
      why: `before 1.${oldestMinor} it may refuse the ElasticIP CRD, and eip-admission is tested on 1.36`,
      fix: 'upgrade Kubernetes',
    }
  },
})

const admissionPlugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']

export const apiServerFlags = defineCheck({
  id: 'api-server-flags',
  section: 'API server',
  checks: 'No API server that runs as a pod has a flag that disables the admission plugins for webhooks.',
  good: 'no visible flag turns webhooks off',
  needs: ['apiServerPods'],
  judge: ({ apiServerPods }) => (apiServerPods.length > 0 ? apiServerPods.flatMap(disabledPlugins) : unseenFlags),
})

const unseenFlags: Finding = {
  level: 'manual',
  what: 'no API server runs as a pod, so its flags cannot be seen',
  why: `without the plugins ${admissionPlugins.join(' and ')} it calls no webhook`,
  fix: shell`ps -ww -o args -C kube-apiserver   # on a control-plane machine: --disable-admission-plugins names neither`,
}

function disabledPlugins({ metadata: { name, namespace }, spec }: Pod): Findings {
  const flag = '--disable-admission-plugins'
  const words = (spec?.containers ?? []).flatMap(({ command = [], args = [] }) => [...command, ...args])
  const { [flag]: disabled = '' } = flagsIn(words, new Set([flag]))
  const needed = admissionPlugins.filter((plugin) => disabled.split(',').includes(plugin))
  if (needed.length === 0) return []
  return {
    level: 'error',
    what: `pod ${namespace}/${name} has ${flag}=${disabled}`,
    why: 'the API server does not call webhooks without these plugins, so Services get their address only later',
    fix: `remove ${needed.join(' and ')} from that flag, in /etc/kubernetes/manifests/kube-apiserver.yaml with kubeadm`,
  }
}

export const clock = defineCheck({
  id: 'clock',
  section: 'API server',
  checks: 'The clock of the API server and of this machine agree, by the Date header of an answer.',
  good: 'the clocks of the API server and of this machine agree',
  needs: ['server'],
  judge({ server: { clockAheadMs } }) {
    const differenceMs = Math.abs(clockAheadMs)
    if (differenceMs < tolerableMs) return []
    const side = clockAheadMs > 0 ? 'ahead of' : 'behind'
    return {
      level: differenceMs >= harmfulMs ? 'error' : 'warning',
      what: `the clock of the API server is ${Math.round(differenceMs / 1000)} s ${side} the clock of this machine`,
      why: 'with wrong clocks certificates are refused as expired or not yet valid, and ages are wrong',
      fix: shell`timedatectl set-ntp true   # on the machine whose clock is wrong`,
    }
  },
})
