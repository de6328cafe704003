import { keyOf } from '../../../kube/objects.ts'
import type { Workload } from '../../../kube/workloads.ts'
import { suspendedAnnotation } from '../annotations.ts'
import { type PlanFindings, blocker, warning } from './plan.ts'

/** Managers that would restart a stopped workload, recognized by the labels or annotations that they write. */
const managers: { name: string; writes: readonly string[]; remedy: string }[] = [
  {
    name: 'Argo CD',
    writes: ['argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/instance'],
    remedy:
      'turn automatic sync of its Application off, or set its replicas to 0 in the repository, then run the command again',
  },
  {
    name: 'Flux',
    writes: ['kustomize.toolkit.fluxcd.io/name', 'helm.toolkit.fluxcd.io/name'],
    remedy:
      'flux suspend kustomization or helmrelease of that name, then annotate the workload, or remove it in the repository',
  },
  {
    name: 'the addon manager',
    writes: ['addonmanager.kubernetes.io/mode'],
    remedy: 'set its label addonmanager.kubernetes.io/mode to EnsureExists, and remove its manifest from the node',
  },
  {
    name: "k3s or RKE2's folder of manifests",
    writes: ['objectset.rio.cattle.io/id', 'objectset.rio.cattle.io/hash'],
    remedy: 'on every server, create a file next to its manifest with the same name and the suffix .skip',
  },
]

/** Reports the manager that would restart a workload while the other program runs. */
export function managerFinding(object: Workload, other = 'eip-admission'): PlanFindings {
  const { labels = {}, annotations = {}, ownerReferences = [] } = object.metadata
  if (annotations[suspendedAnnotation] === 'true') return []
  const written = { ...labels, ...annotations }
  const found = managers.find((one) => one.writes.some((name) => written[name] !== undefined))
  const owner = ownerReferences.find(({ controller }) => controller) ?? ownerReferences[0]
  if (!found && !owner) return []
  const name = found?.name ?? `${owner?.kind} ${owner?.name}`
  const at = `${object.kind.toLowerCase()} -n ${object.metadata.namespace} ${object.metadata.name}`
  return blocker('managed-workload', `${object.kind} ${keyOf(object)}`, {
    what: `${name} manages it, and would start it again while ${other} runs`,
    remedy: `${found?.remedy ?? 'suspend that owner'}; then run \`kubectl annotate ${at} ${suspendedAnnotation}=true\``,
  })
}

/** The Helm release that an object belongs to. */
export function helmReleaseOf({ metadata: { annotations = {} } }: Workload): string | undefined {
  return annotations['meta.helm.sh/release-name']
}

/** Reports a workload that belongs to a Helm release. */
export function helmFinding(object: Workload): PlanFindings {
  const release = helmReleaseOf(object)
  if (release === undefined) return []
  return warning('helm-release', `${object.kind} ${keyOf(object)}`, {
    what: `it belongs to the Helm release ${release}: helm upgrade would start the predecessor again`,
    remedy: 'do not upgrade that release until the takeover is final; uninstall it afterwards',
  })
}
