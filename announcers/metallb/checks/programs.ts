import { keyOf } from '../../../kube/objects.ts'
import { classText, withoutClass } from '../../../settings/service-policy.ts'
import {
  type RunningProgram,
  type SoftwareFinding,
  defineSoftwareCheck,
  type KindDefinition,
  type SoftwareFacts,
} from '../../check.ts'
import type { LoadBalancer } from '../../setting.ts'
import { containersOf, notReady } from '../../shared/programs.ts'

const metallbImage = /(^|\/)metallb\/(controller|speaker)(?=[:@]|$)|metallb-(controller|speaker)/

export const metallbPrograms = defineSoftwareCheck({
  id: 'metallb-programs',
  checks:
    'MetalLB runs, in a version that fits the load balancer setting: custom resources from 0.13 on, before that a ConfigMap.',
  good: 'MetalLB runs, in a version that fits',
  needs: ['workloads'],
  judge({ workloads }, { loadBalancer }) {
    const found = containersOf(workloads, metallbImage)
    if (found.length === 0)
      return [
        {
          level: 'error',
          what: 'no Deployment or DaemonSet runs an image of MetalLB',
          why: 'nothing announces the addresses; if it runs under another image name, this cannot be seen',
          fix: 'kubectl get daemonsets,deployments -A -o wide | grep -i metallb',
        },
      ]
    return [
      ...elsewhere(found, loadBalancer),
      ...found.flatMap((one) => [...notReady(one.workload), ...unfitVersion(one, loadBalancer)]),
    ]
  },
})

export const metallbClass = defineSoftwareCheck({
  id: 'metallb-class',
  checks:
    'MetalLB announces Services of the classes that eip-admission serves: of its `--lb-class`, else those without a class.',
  good: 'MetalLB announces the Services that eip-admission serves',
  needs: ['workloads'],
  judge({ workloads }, { classes }) {
    const programs = containersOf(workloads, metallbImage).map(({ workload, container: { args = [] } }) => ({
      workload,
      announced: metallbClassOf(args),
    }))
    return programs.flatMap(({ workload, announced }): SoftwareFinding[] => {
      const lacking = classes.filter((one) => one !== announced)
      if (lacking.length === 0) return []
      const where = `${workload.kind} ${keyOf(workload)}`
      return [
        {
          level: 'error',
          what: `${where} announces ${classText(announced)}, and not ${lacking.map(classText).join(' or ')}`,
          why: 'eip-admission reserves addresses for Services that nobody announces',
          fix: `set --load-balancer-class=${announced} of \`serve\` and \`install\`, or --lb-class of both programs of MetalLB`,
        },
      ]
    })
  },
})

/** MetalLB announces one class, or Services without one. */
function metallbClassOf(args: readonly string[]): string {
  const at = args.findIndex((arg) => /^--?lb-class(=|$)/.test(arg))
  const [, value] = /=(.*)$/.exec(args[at] ?? '') ?? []
  return (at === -1 ? undefined : (value ?? args[at + 1])) || withoutClass
}

type Found = { workload: RunningProgram; image: string }

/** MetalLB reads its configuration in its own namespace alone. */
function elsewhere(found: readonly Found[], loadBalancer: LoadBalancer): SoftwareFinding[] {
  const namespaces = [...new Set(found.map(({ workload }) => workload.metadata.namespace ?? ''))]
  if (!('namespace' in loadBalancer) || namespaces.includes(loadBalancer.namespace)) return []
  return [
    {
      level: 'error',
      what: `MetalLB runs in namespace ${namespaces.join(', ')}, and the load balancer setting names ${loadBalancer.namespace}`,
      why: 'MetalLB reads no configuration of another namespace, so it announces nothing',
      fix: `set the load balancer of \`serve\` to metallb:///${namespaces[0]}`,
    },
  ]
}

function unfitVersion({ workload, image }: Found, loadBalancer: LoadBalancer): SoftwareFinding[] {
  const [, major, minor] = /:v?(\d+)\.(\d+)/.exec(image) ?? []
  const isChosen = loadBalancer.kind !== 'metallb'
  if (major === undefined || minor === undefined)
    return isChosen ? [unknownVersion(workload, image, loadBalancer.kind)] : []
  const readsObjects = Number(major) > 0 || Number(minor) >= 13
  const isWrong = loadBalancer.kind === (readsObjects ? 'metallb-configmap' : 'metallb-crd')
  if (!isWrong) return []
  const right = readsObjects ? 'metallb:///<namespace>?crdConfiguration=true' : 'metallb:///<namespace>/<configmap>'
  return [
    {
      level: 'error',
      what: `${workload.kind} ${keyOf(workload)} runs ${image}, which reads ${readsObjects ? 'custom resources' : 'a ConfigMap'} only`,
      why: 'the load balancer setting configures it by the other, so it announces nothing',
      fix: `set the load balancer of \`serve\` to ${right}`,
    },
  ]
}

function unknownVersion(workload: RunningProgram, image: string, kind: string): SoftwareFinding {
  const wanted =
    kind === 'metallb-configmap'
      ? 'a ConfigMap, which MetalLB reads before 0.13'
      : 'custom resources, which MetalLB reads from 0.13 on'
  return {
    level: 'warning',
    what: `${workload.kind} ${keyOf(workload)} runs ${image}, whose version is not in its name`,
    why: `the load balancer setting chooses ${wanted}`,
    fix: 'set the load balancer of `serve` to metallb:///<namespace>: it uses what the cluster has',
  }
}

/** From this version on the API server checks the formats of integers in custom resources. */
const checksFormatsFrom = 36
const maxInt32 = 2 ** 31 - 1

export const metallbDefinitions = defineSoftwareCheck({
  id: 'metallb-definitions',
  checks:
    "The API server accepts BGPPeers under MetalLB's definitions: from 1.36 on it refuses those of 0.15.3 and older.",
  good: "the API server can accept BGPPeers under MetalLB's definitions",
  needs: ['definitions', 'server'],
  kinds: 'all',
  judge({ definitions, server }) {
    if (server.major === 1 && server.minor < checksFormatsFrom) return []
    return definitions.flatMap((definition) => trapFindings(definition, server))
  },
})

function trapFindings(
  { metadata: { name }, spec }: KindDefinition,
  { version }: SoftwareFacts['server'],
): SoftwareFinding[] {
  const fields = (spec?.versions ?? [])
    .filter(({ served }) => served !== false)
    .flatMap(({ name: at, schema }) =>
      Object.entries(schema?.openAPIV3Schema?.properties?.['spec']?.properties ?? {})
        .filter(([, field]) => field?.format === 'int32' && (field.maximum ?? 0) > maxInt32)
        .map(([field]) => `${at} spec.${field}`),
    )
  if (fields.length === 0) return []
  return [
    {
      level: 'error',
      what: `CustomResourceDefinition ${name}: ${fields.join(', ')} has format int32 and a maximum beyond it`,
      why: `the API server ${version} refuses every such object, so MetalLB gets no BGPPeer`,
      fix: 'upgrade MetalLB to 0.16.1, or apply its definitions again without the lines `format: int32`',
    },
  ]
}
