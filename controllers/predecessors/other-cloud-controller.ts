// Another cloud controller manager writes the same fields as eip-admission. Flags make either of them leave the objects
// alone:
// - Nodes: --controllers=*,-cloud-node,-cloud-node-lifecycle, of either.
// - Services: --controllers=*,-service, or a variable named like LOAD_BALANCERS_ENABLED that is "false". Or
//   --load-balancer-class without `none`, of eip-admission: it ignores Services of any class.
import type { Container } from '../../kube/workloads.ts'
import type { NodeController } from '../../settings/nodes.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import type { Dependencies } from '../dependencies.ts'

/** The services of this process. */
export type Served = { leftControllers: readonly NodeController[]; servesWithoutClass: boolean }

/** The services of a process with these settings. */
export function servedBy({ process, cluster }: Pick<Dependencies['settings'], 'process' | 'cluster'>): Served {
  return {
    leftControllers: process.leftControllers,
    servesWithoutClass: cluster.loadBalancerClasses.includes(withoutClass),
  }
}

/** The objects that two programs write, as a person calls them. */
export type Overlap = { image: string; both: string[] }

const program = /(^|\/)[^/]*cloud-controller-manager[^/]*$/
const ours = /eip-admission/

/** The fields that both write, where one of the containers is another cloud controller manager; undefined if none is. Pure. */
export function overlapWith(containers: readonly Container[], served: Served): Overlap | undefined {
  const found = containers.find(({ name = '', image = '' }) =>
    [name, image].some((text) => program.test(text) && !ours.test(text)),
  )
  if (!found) return undefined
  const left = leftBy(found)
  const nodes = (['cloud-node', 'cloud-node-lifecycle'] as const).filter(
    (one) => !left.includes(one) && !served.leftControllers.includes(one),
  )
  const hasServices = served.servesWithoutClass && !left.includes('service') && !isOff(found)
  return {
    image: found.image ?? found.name ?? '',
    both: [nodes.length > 0 ? 'nodes' : [], hasServices ? 'Services' : []].flat(),
  }
}

/** How to end the overlap, for a message. */
export function overlapRemedy({ both }: Overlap): string {
  const remedies: Record<string, string> = {
    nodes:
      'leave the nodes to one of them: start the other program, or eip-admission, with ' +
      '--controllers=*,-cloud-node,-cloud-node-lifecycle',
    Services:
      'turn its Services off with --controllers=*,-service or its own setting, or give your Services a class ' +
      'that --load-balancer-class names without `none`',
  }
  return both.map((one) => remedies[one]).join('; ')
}

/** The controllers that its flags turn off, by the shorter names. */
function leftBy({ command = [], args = [] }: Container): string[] {
  const words = [...command, ...args].join(' ')
  const [, list = ''] = /--controllers[= ](\S+)/.exec(words) ?? []
  const names = list.split(',').filter((one) => one.startsWith('-'))
  return names.map((one) =>
    one
      .slice(1)
      .replace(/-controller$/, '')
      .replace(/^service-lb$/, 'service'),
  )
}

/** Some programs have an environment variable that turns their load balancers off. */
function isOff({ env = [] }: Container): boolean {
  return env.some(({ name, value }) => /LOAD_?BALANCERS?_ENABLED$/.test(name) && value === 'false')
}
