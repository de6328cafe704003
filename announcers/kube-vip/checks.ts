import { keyOf } from '../../kube/objects.ts'
import { type ProgramContainer, type RunningProgram, type SoftwareFinding, defineSoftwareCheck } from '../check.ts'
import { containersOf, notReady } from '../shared/programs.ts'

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
          what: 'no DaemonSet or Deployment runs an image of kube-vip',
          why: 'nothing announces the addresses; if it runs as static pods, this cannot be seen',
          fix: 'kubectl get pods -A -o wide | grep -i kube-vip   # if there is none, install kube-vip',
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
  return [
    {
      level: 'error',
      what: `${workload.kind} ${keyOf(workload)} runs ${image}`,
      why: 'these versions start BGP before they read the annotations of their node, and so have no peer',
      fix: `kubectl set image ${placeOf(workload)} ${name}=${good}   # or a later version`,
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
        fix: `kubectl set env ${placeOf(workload)} -c ${container} ${name}=${right}`,
      },
    ]
  })
}

function placeOf({ kind, metadata: { namespace, name } }: RunningProgram): string {
  return `-n ${namespace} ${kind.toLowerCase()}/${name}`
}
