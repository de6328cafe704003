import { softwareOf } from '../../../announcers/announcers.ts'
import { type KubeObject, keyOf } from '../../../kube/objects.ts'
import { withoutClass } from '../../../settings/service-policy.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Context, Definition, Values, Workload } from '../../../inspect/facts.ts'

const metallbImage = /(^|\/)metallb\/(controller|speaker)(?=[:@]|$)|metallb-(controller|speaker)/

export const metallbPrograms = defineCheck({
  id: 'metallb-programs',
  section: 'Announcing',
  checks:
    'MetalLB runs, in a version that fits the load balancer setting: custom resources from 0.13 on, before that a ConfigMap.',
  good: 'MetalLB runs, in a version that fits',
  needs: ['workloads'],
  applies: ({ vendor }) => vendor.loadBalancer.kind.startsWith('metallb'),
  judge({ workloads }, context) {
    const found = imagesOf(workloads, metallbImage)
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
      ...elsewhere(found, context),
      ...found.flatMap((one) => [...notReady(one.workload), ...unfitVersion(one, context)]),
    ]
  },
})

export const metallbClass = defineCheck({
  id: 'metallb-class',
  section: 'Announcing',
  checks:
    'MetalLB announces Services of the classes that eip-admission serves: of its `--lb-class`, else those without a class.',
  good: 'MetalLB announces the Services that eip-admission serves',
  needs: ['workloads'],
  applies: ({ vendor }) => vendor.loadBalancer.kind.startsWith('metallb'),
  judge({ workloads }, { vendor }) {
    const programs = workloads.flatMap((workload) =>
      (workload.spec?.template?.spec?.containers ?? [])
        .filter(({ image = '' }) => metallbImage.test(image))
        .map(({ args = [] }) => ({ workload, announced: metallbClassOf(args) })),
    )
    return programs.flatMap(({ workload, announced }): Finding[] => {
      const lacking = vendor.policy.classes.filter((one) => one !== announced)
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

export const servedClasses = defineCheck({
  id: 'served-classes',
  section: 'Announcing',
  checks: 'Cilium and kube-vip announce Services of the classes that eip-admission serves.',
  good: 'the announcing software announces the classes that eip-admission serves',
  needs: [],
  applies: ({ vendor: { loadBalancer } }) => softwareOf(loadBalancer)?.classes !== undefined,
  judge(_facts, { vendor: { loadBalancer, policy } }): Finding[] {
    const { classes = [] } = softwareOf(loadBalancer) ?? {}
    const lacking = policy.classes.filter((one) => !classes.includes(one))
    if (lacking.length === 0) return []
    return [
      {
        level: 'error',
        what: `${loadBalancer.kind} announces no ${lacking.map(classText).join(' and no ')}`,
        why: 'eip-admission reserves addresses for Services that nobody announces',
        fix: 'set --load-balancer-class of `serve` and `install` to some of: ' + classes.join(', '),
      },
    ]
  },
})

/** MetalLB announces one class, or Services without one. */
function metallbClassOf(args: readonly string[]): string {
  const at = args.findIndex((arg) => /^--?lb-class(=|$)/.test(arg))
  const [, value] = /=(.*)$/.exec(args[at] ?? '') ?? []
  return (at === -1 ? undefined : (value ?? args[at + 1])) || withoutClass
}

function classText(name: string): string {
  return name === withoutClass ? 'Services without a class' : `Services of the class ${name}`
}

type Found = { workload: Workload; image: string }

function imagesOf(workloads: readonly Workload[], name: RegExp): Found[] {
  return workloads.flatMap((workload) =>
    (workload.spec?.template?.spec?.containers ?? []).flatMap(({ image = '' }) =>
      name.test(image) ? [{ workload, image }] : [],
    ),
  )
}

function notReady(workload: Workload): Finding[] {
  const { status = {}, spec, kind, metadata } = workload
  const isDaemonSet = kind === 'DaemonSet'
  const wanted = isDaemonSet ? (status.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1)
  const ready = (isDaemonSet ? status.numberReady : status.readyReplicas) ?? 0
  if (ready > 0) return []
  return [
    {
      level: 'error',
      what: `${kind} ${keyOf(workload)} has ${ready} of ${wanted} pods ready`,
      why: 'nothing announces the addresses',
      fix: `kubectl describe ${kind.toLowerCase()} -n ${metadata.namespace} ${metadata.name}`,
    },
  ]
}

/** MetalLB reads its configuration in its own namespace alone. */
function elsewhere(found: readonly Found[], { vendor: { loadBalancer } }: Context): Finding[] {
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

function unfitVersion({ workload, image }: Found, { vendor: { loadBalancer } }: Context): Finding[] {
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

function unknownVersion(workload: Workload, image: string, kind: string): Finding {
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

export const metallbDefinitions = defineCheck({
  id: 'metallb-definitions',
  section: 'Announcing',
  checks:
    "The API server accepts BGPPeers under MetalLB's definitions: from 1.36 on it refuses those of 0.15.3 and older.",
  good: "the API server can accept BGPPeers under MetalLB's definitions",
  needs: ['definitions', 'server'],
  judge({ definitions, server }) {
    if (server.major === 1 && server.minor < checksFormatsFrom) return []
    return definitions.flatMap((definition) => trapFindings(definition, server))
  },
})

function trapFindings({ metadata: { name }, spec }: Definition, { version }: Values['server']): Finding[] {
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

export const kubeVip = defineCheck({
  id: 'kube-vip',
  section: 'Announcing',
  checks:
    'kube-vip runs with svc_enable, bgp_enable and the prefix of the node annotations, and in no version from 1.0.0 to 1.1.2, which reads none.',
  good: 'kube-vip runs with the settings that it needs',
  needs: ['workloads'],
  applies: ({ vendor }) => vendor.loadBalancer.kind === 'kube-vip',
  judge({ workloads }, { vendor }) {
    const found = workloads.flatMap((workload) =>
      (workload.spec?.template?.spec?.containers ?? [])
        .filter(({ image = '' }) => /(^|\/)kube-vip(-iptables)?(?=[:@]|$)/.test(image))
        .map((container) => ({ workload, container })),
    )
    if (found.length === 0)
      return [
        {
          level: 'error',
          what: 'no DaemonSet or Deployment runs an image of kube-vip',
          why: 'nothing announces the addresses; if it runs as static pods, this cannot be seen',
          fix: 'kubectl get pods -A -o wide | grep -i kube-vip',
        },
      ]
    const prefix = vendor.bgp.annotations.names.localAsn?.split('/')[0] ?? ''
    return found.flatMap(({ workload, container }) => [
      ...notReady(workload),
      ...brokenVersion(workload, container),
      ...unfitSettings(workload, container, prefix),
    ])
  },
})

function brokenVersion(workload: KubeObject, { image = '' }: Container): Finding[] {
  if (!/:v?1\.(0\.\d+|1\.[0-2])(?!\d)/.test(image)) return []
  return [
    {
      level: 'error',
      what: `${workload.kind} ${keyOf(workload)} runs ${image}`,
      why: 'these versions start BGP before they read the annotations of their node, and so have no peer',
      fix: 'upgrade kube-vip to 1.2.0 or later',
    },
  ]
}

type Container = { image?: string; env?: { name: string; value?: string }[]; args?: string[] }

function unfitSettings(workload: KubeObject, { env = [], args = [] }: Container, prefix: string): Finding[] {
  const flags = args.flatMap((arg, n) => (arg === '--annotations' ? (args[n + 1] ?? []) : arg.split('=').slice(1)))
  const wanted = { svc_enable: 'true', bgp_enable: 'true', annotation: prefix }
  return Object.entries(wanted).flatMap(([name, right]): Finding[] => {
    const value = env.find((one) => one.name === name)?.value
    if (value === right || flags.includes(right)) return []
    return [
      {
        level: 'warning',
        what: `${workload.kind} ${keyOf(workload)}: ${name} is ${value === undefined ? 'not set' : JSON.stringify(value)}`,
        why: 'kube-vip then announces no Service by the BGP peers in the annotations of its node',
        fix: `kubectl set env -n ${workload.metadata.namespace} ${workload.kind.toLowerCase()}/${workload.metadata.name} ${name}=${right}`,
      },
    ]
  })
}
