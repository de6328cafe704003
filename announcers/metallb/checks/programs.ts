import { keyOf } from '../../../kube/objects.ts'
import type { Container, Workload } from '../../../kube/workloads.ts'
import type { Definition } from '../../../kube/definitions.ts'
import { classText, withoutClass } from '../../../settings/service-policy.ts'
import { type SoftwareFindings, defineSoftwareCheck, type SoftwareFacts } from '../../check.ts'
import { type LoadBalancer, placedText } from '../../setting.ts'
import { containersOf, notReady } from '../../shared/programs.ts'
import { type Command, shell } from '../../../lib/remedy.ts'

const metallbImage = /(^|\/)metallb\/(controller|speaker)(?=[:@]|$)|metallb-(controller|speaker)/

/** The containers in which MetalLB runs. */
export function metallbContainers(workloads: readonly Workload[]) {
  return containersOf(workloads, metallbImage)
}

export const metallbPrograms = defineSoftwareCheck({
  id: 'metallb-programs',
  checks:
    'MetalLB runs, in a version that fits the load balancer setting: custom resources from 0.13 on, before that a ConfigMap.',
  good: 'MetalLB runs, in a version that fits',
  needs: ['workloads', 'definitions'],
  judge({ workloads, definitions }, { loadBalancer }) {
    const found = metallbContainers(workloads)
    if (found.length === 0)
      return {
        level: 'error',
        isUnseen: true,
        what: 'no Deployment or DaemonSet runs an image of MetalLB',
        why: 'nothing announces the addresses, unless MetalLB runs under another image name, which doctor cannot recognize',
        fix: shell`kubectl get daemonsets,deployments -A -o wide | grep -i metallb   # if there is none, install MetalLB`,
      }
    const seen = { loadBalancer, hasObjects: definitions.some(({ metadata }) => metadata.name === objectsKind) }
    return [elsewhere(found, seen), ...found.flatMap((one) => [notReady(one.workload), unfitVersion(one, seen)])].flat()
  },
})

/** The command that shows the log of a part of MetalLB. */
export function logCommand(part: 'controller' | 'speaker', loadBalancer: LoadBalancer): Command {
  const namespace = 'namespace' in loadBalancer ? loadBalancer.namespace : undefined
  return shell`kubectl logs -n ${namespace ?? 'metallb-system'} -l component=${part} --tail=-1   # -l app.kubernetes.io/component=${part} where Helm installed MetalLB`
}

/** MetalLB installs this CRD from 0.13 on. */
const objectsKind = 'ipaddresspools.metallb.io'

export const metallbClass = defineSoftwareCheck({
  id: 'metallb-class',
  checks:
    'MetalLB announces Services of the classes that eip-admission serves: that of its `--lb-class`, or those without a class.',
  good: 'MetalLB announces the Services that eip-admission serves',
  needs: ['workloads'],
  judge({ workloads }, { classes }) {
    const programs = metallbContainers(workloads).map(({ workload, container: { args = [] } }) => ({
      workload,
      announced: flagOf(args, 'lb-class') || withoutClass,
    }))
    const all = new Set(programs.map(({ announced }) => announced))
    return programs.flatMap(({ workload, announced }): SoftwareFindings => {
      const lacking = classes.filter((one) => one !== announced)
      if (lacking.length === 0) return []
      const where = `${workload.kind} ${keyOf(workload)}`
      const [served = withoutClass] = classes.filter((one) => all.has(one))
      const right = served === withoutClass ? 'no --lb-class' : `--lb-class=${served}`
      return {
        level: 'error',
        what: `${where} announces ${classText(announced)}, and not ${lacking.map(classText).join(' or ')}`,
        why: 'eip-admission reserves addresses for Services that nothing announces',
        fix:
          all.size > 1
            ? `give both programs of MetalLB the same class: ${right}`
            : `set --load-balancer-class=${announced} of \`serve\` and \`install\`, or --lb-class of both programs of MetalLB`,
      }
    })
  },
})

/** The value of a flag in the arguments of a program of MetalLB. */
function flagOf(args: readonly string[], name: string): string | undefined {
  const flag = new RegExp(`^--?${name}(=|$)`)
  const at = args.findIndex((arg) => flag.test(arg))
  if (at === -1) return undefined
  const [, value] = /=(.*)$/.exec(args[at] ?? '') ?? []
  return value ?? args[at + 1]
}

type Found = { workload: Workload; container: Container; image: string }

/** The configured choice, and whether the cluster has MetalLB's CRDs. */
type ChosenConfiguration = { loadBalancer: LoadBalancer; hasObjects: boolean }

/** MetalLB reads its configuration only in its own namespace. */
function elsewhere(found: readonly Found[], seen: ChosenConfiguration): SoftwareFindings {
  const { loadBalancer } = seen
  const namespaces = [...new Set(found.map(({ workload }) => workload.metadata.namespace ?? ''))]
  const [first] = found
  if (!first || !('namespace' in loadBalancer) || namespaces.includes(loadBalancer.namespace)) return []
  return {
    level: 'error',
    what: `MetalLB runs in namespace ${namespaces.join(', ')}, and the load balancer setting names ${loadBalancer.namespace}`,
    why: 'MetalLB reads no configuration of another namespace, so it announces nothing',
    fix: setTo(fitting(first, seen)),
  }
}

/** Whether MetalLB of this image reads objects: by the version in its name, else by the CRDs in the cluster. */
function readsObjects(image: string, { hasObjects }: ChosenConfiguration): boolean {
  const version = versionOf(image)
  return version === undefined ? hasObjects : version.major > 0 || version.minor >= 13
}

/** The version in the name of an image. */
export function versionOf(image: string): { major: number; minor: number } | undefined {
  const [, major, minor] = /:v?(\d+)\.(\d+)/.exec(image) ?? []
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}

/** The right setting for this MetalLB, which keeps as much as possible of the current one. */
function fitting({ workload, container, image }: Found, seen: ChosenConfiguration): LoadBalancer {
  const { loadBalancer } = seen
  const { namespace = '' } = workload.metadata
  if (loadBalancer.kind === 'metallb') return { ...loadBalancer, namespace }
  if (!readsObjects(image, seen)) {
    const name = flagOf(container.args ?? [], 'config') ?? 'config'
    return { kind: 'metallb-configmap', namespace, name }
  }
  const peerMode = 'peerMode' in loadBalancer ? loadBalancer.peerMode : 'native'
  return { kind: 'metallb-crd', namespace, peerMode }
}

function setTo(right: LoadBalancer): string {
  return `set --loadbalancer=${placedText(right)} of \`serve\`, and restart it`
}

function unfitVersion(found: Found, seen: ChosenConfiguration): SoftwareFindings {
  const { workload, image } = found
  const right = fitting(found, seen)
  if (seen.loadBalancer.kind === right.kind) return []
  const [reads, other] = right.kind === 'metallb-crd' ? ['custom resources', 'a ConfigMap'] : ['a ConfigMap', 'objects']
  const isKnown = versionOf(image) !== undefined
  return {
    level: isKnown ? 'error' : 'warning',
    what: `${workload.kind} ${keyOf(workload)} runs ${image}, which ${isKnown ? 'reads' : 'seems to read'} ${reads} only`,
    why: `the load balancer setting configures it through ${other}, so it announces nothing`,
    fix: setTo(right),
  }
}

/** From this version on the API server checks the formats of integers in custom resources. */
const checksFormatsFrom = 36
const maxInt32 = 2 ** 31 - 1

export const metallbDefinitions = defineSoftwareCheck({
  id: 'metallb-definitions',
  checks: "The API server accepts BGPPeers under MetalLB's CRDs: from 1.36 on it refuses those of 0.15.3 and older.",
  good: "the API server can accept BGPPeers under MetalLB's CRDs",
  needs: ['definitions', 'server'],
  kinds: 'all',
  judge({ definitions, server }) {
    if (server.major === 1 && server.minor < checksFormatsFrom) return []
    return definitions.flatMap((definition) => trapFindings(definition, server))
  },
})

function trapFindings(
  { metadata: { name }, spec }: Definition,
  { version }: SoftwareFacts['server'],
): SoftwareFindings {
  const fields = (spec?.versions ?? [])
    .filter(({ served }) => served !== false)
    .flatMap(({ name: at, schema }) =>
      Object.entries(schema?.openAPIV3Schema?.properties?.['spec']?.properties ?? {})
        .filter(([, field]) => field?.format === 'int32' && (field.maximum ?? 0) > maxInt32)
        .map(([field]) => `${at} spec.${field}`),
    )
  if (fields.length === 0) return []
  return {
    level: 'error',
    what: `CustomResourceDefinition ${name}: ${fields.join(', ')} has format int32 and a maximum beyond it`,
    why: `the API server ${version} refuses every such object, so MetalLB gets no BGPPeer`,
    fix: shell`kubectl get crd ${name} -o yaml | grep -v 'format: int32' | kubectl replace -f -   # or upgrade MetalLB to 0.16.1`,
  }
}
