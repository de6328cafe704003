import { keyOf } from '../../kube/objects.ts'
import { type ProgramContainer, type RunningProgram, type SoftwareFinding, defineSoftwareCheck } from '../check.ts'
import { containersOf, notReady } from '../shared/programs.ts'
import { type Remedy, shell } from '../../lib/remedy.ts'

/** Whether kube-vip runs, with the settings that it needs. */
export const kubeVipCheck = defineSoftwareCheck({
  id: 'kube-vip',
  checks:
    'kube-vip runs with svc_enable, bgp_enable and the prefix of the node annotations, and in no version from 1.0.0 to 1.1.2, which reads none.',
  good: 'kube-vip runs with the settings that it needs',
  needs: ['workloads'],
  judge({ workloads }, { peerDomain }) {
    const found = containersOf(workloads, /(^|\/)kube-vip(-iptables)?(?=[:@]|$)/)
    if (found.length === 0)
      return [
        {
          level: 'error',
          isUnseen: true,
          what: 'no DaemonSet, Deployment or static pod of kube-system runs an image of kube-vip',
          why: 'nothing announces the addresses, unless it runs under another image name or outside the cluster',
          fix: shell`kubectl get pods -A -o wide | grep -i kube-vip   # if there is none, install kube-vip`,
        },
      ]
    return found.flatMap(({ workload, container }) => [
      ...notReady(workload),
      ...brokenVersion(workload, container),
      ...unfitSettings(workload, container, peerDomain),
    ])
  },
})

function brokenVersion(workload: RunningProgram, { name, image = '' }: ProgramContainer): SoftwareFinding[] {
  if (!/:v?1\.(0\.\d+|1\.[0-2])(?!\d)/.test(image)) return []
  const good = image.replace(/:v?1\..*$/, ':v1.2.3')
  const command = shell`kubectl set image ${placeOf(workload)} ${name}=${good}   # or a later version`
  return [
    {
      level: 'error',
      what: `${workload.kind} ${keyOf(workload)} runs ${image}`,
      why: 'these versions start BGP before they read the annotations of their node, and so have no peer',
      fix: fixOf(workload, { command, change: `its image to ${good} or later` }),
    },
  ]
}

function unfitSettings(
  workload: RunningProgram,
  { name: container, env = [], args = [] }: ProgramContainer,
  peerDomain: string,
): SoftwareFinding[] {
  const flags = args.flatMap((arg, n) => (arg === '--annotations' ? (args[n + 1] ?? []) : arg.split('=').slice(1)))
  const wanted = { svc_enable: 'true', bgp_enable: 'true', annotation: peerDomain }
  return Object.entries(wanted).flatMap(([name, right]): SoftwareFinding[] => {
    const value = env.find((one) => one.name === name)?.value
    if (value === right || flags.includes(right)) return []
    return [
      {
        level: 'warning',
        what: `${workload.kind} ${keyOf(workload)}: ${name} is ${value === undefined ? 'not set' : JSON.stringify(value)}`,
        why: 'kube-vip then announces no Service by the BGP peers in the annotations of its node',
        fix: fixOf(workload, {
          command: shell`kubectl set env ${placeOf(workload)} -c ${container} ${name}=${right}`,
          change: `the variable ${name} to ${right}`,
        }),
      },
    ]
  })
}

/** Nothing changes a static pod but the file on its node. */
function fixOf({ kind, metadata }: RunningProgram, { command, change }: { command: Remedy; change: string }): Remedy {
  if (kind !== 'Pod') return command
  const node = metadata.ownerReferences?.[0]?.name ?? 'its node'
  return `set ${change} in the manifest of ${metadata.name} on ${node}, in the folder of static pods`
}

function placeOf({ kind, metadata: { namespace, name } }: RunningProgram): string {
  return `-n ${namespace} ${kind.toLowerCase()}/${name}`
}
