import type { AnnotationScheme } from '../../clouds/ports/peering.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Key, Node } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import type { Reconciler } from '../loop/reconciler.ts'
import { ownNames } from './node-annotations.ts'
import { peeringFieldManager } from './node-peering.ts'

export type LeftPeeringDeps = {
  client: Pick<KubeClient, 'apply'>
  cached: { node: (name: Key) => Node | undefined }
  scheme: AnnotationScheme
  log: Log
}

/**
 * Removes from nodes our annotations about their peers from the time when BGP was on: the password may be among them.
 * Another program's values under the same names are kept, because a predecessor may work here.
 */
export function leftPeering({ client, cached, scheme, log }: LeftPeeringDeps): Reconciler {
  const isOwn = ownNames(scheme)
  const ownOf = ({ metadata }: Node) => Object.keys(metadata.annotations ?? {}).filter(isOwn)
  return {
    name: 'left-peering',
    async reconcile(name, signal) {
      const node = cached.node(name)
      const before = node ? ownOf(node).length : 0
      if (!node || before === 0) return {}
      // Without the uid, the apply would create a node that was just deleted.
      const { uid = '' } = node.metadata
      const nothing = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, annotations: {} } }
      const written = await client.apply<Node>(nodes, nothing, { fieldManager: peeringFieldManager, signal })
      const removed = before - ownOf(written).length
      if (removed > 0) log.info({ node: name, removed }, 'BGP is off: annotations removed')
      return {}
    },
  }
}
