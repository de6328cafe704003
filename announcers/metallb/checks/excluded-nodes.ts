import { type Node, excludeLabel, keyOf } from '../../../kube/objects.ts'
import type { Workload } from '../../../kube/workloads.ts'
import { type SoftwareFindings, defineSoftwareCheck } from '../../check.ts'
import { containersOf } from '../../shared/programs.ts'
import { versionOf } from './programs.ts'
import { shell } from '../../../lib/remedy.ts'

const speakerImage = /(^|\/)metallb\/speaker(?=[:@]|$)|metallb-speaker/

/** The minor version of 0.x from which MetalLB respects the label. */
const heedsLabelFrom = 14

export const excludedNodes = defineSoftwareCheck({
  id: 'excluded-nodes',
  checks: `At least one node with a MetalLB speaker may announce. From 0.14 on, nodes with the label \`${excludeLabel}\` do not.`,
  good: 'MetalLB may announce from at least one node, or has no speakers that heed the label',
  needs: ['workloads', 'nodes'],
  judge({ workloads, nodes }) {
    return containersOf(workloads, speakerImage)
      .filter(({ image, container: { args = [] } }) => heedsLabel(image) && !ignoresLabel(args))
      .flatMap(({ workload }) => excludedFinding(workload, nodes))
  },
})

/** Whether a speaker of this image respects the label. An image without a version in its name counts as new. */
function heedsLabel(image: string): boolean {
  const version = versionOf(image)
  return version === undefined || version.major > 0 || version.minor >= heedsLabelFrom
}

function ignoresLabel(args: readonly string[]): boolean {
  return args.some((arg) => /^--?ignore-exclude-lb(=(1|t|true))?$/i.test(arg))
}

function excludedFinding(workload: Workload, nodes: readonly Node[]): SoftwareFindings {
  const { nodeSelector = {} } = workload.spec?.template?.spec ?? {}
  const running = nodes.filter(({ metadata: { labels = {} } }) =>
    Object.entries(nodeSelector).every(([name, value]) => labels[name] === value),
  )
  // Another check reports a speaker that runs on no node. Unlike us, MetalLB ignores the label's value: `false`
  // silences a node too.
  if (running.length === 0 || !running.every(({ metadata: { labels = {} } }) => excludeLabel in labels)) return []
  return {
    level: 'error',
    what: `every node of ${workload.kind} ${keyOf(workload)} has the label ${excludeLabel}`,
    why: 'MetalLB announces nothing from such a node, so Services cannot be reached; kubeadm sets it on control-plane nodes',
    fix: shell`kubectl label nodes -l ${excludeLabel} ${excludeLabel}-   # or, from MetalLB 0.14.4 on, start its speakers with --ignore-exclude-lb`,
  }
}
