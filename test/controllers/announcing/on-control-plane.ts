import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeClient } from '../../../kube/client.ts'
import { connect } from '../../../kube/connect.ts'
import { kubeconfig } from '../../../kube/kubeconfig.ts'
import { namespaces } from '../../../kube/resource.ts'
import type { Watcher } from '../../../kube/watch.ts'
import type { ControlPlane } from '../../../sandbox/control-plane/start.ts'
import { users } from '../../control-planes/lender.ts'
import { testControlPlane } from '../../control-planes/shared.ts'

export type Cluster = {
  controlPlane: ControlPlane
  client: KubeClient & Watcher
  /** The writes of the client: the verb and the name. */
  writes: string[]
  /** The kinds that it listed. */
  lists: string[]
  /** Creates a namespace. */
  namespace: () => Promise<string>
}

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
let started: Promise<ControlPlane> | undefined
let count = 0

/** Runs a test on the control plane of this process, which the first test starts. */
export async function onControlPlane(play: (cluster: Cluster) => Promise<void>): Promise<void> {
  started ??= testControlPlane({ dir, users })
  const controlPlane = await started
  const client = connect(kubeconfig({ file: controlPlane.kubeconfig }), { userAgent: 'test', timeoutMs: 60_000 })
  await play({
    controlPlane,
    ...recording(client),
    async namespace() {
      count += 1
      const name = `space-${count}`
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      return name
    },
  })
}

/** Ends the control plane, if a test has started it. */
export async function stopControlPlane(): Promise<void> {
  await (await started)?.stop()
  rmSync(dir, { recursive: true, force: true })
}

function recording(client: KubeClient & Watcher): Pick<Cluster, 'client' | 'writes' | 'lists'> {
  const writes: string[] = []
  const lists: string[] = []
  return {
    writes,
    lists,
    client: {
      ...client,
      list: (resource, options) => {
        lists.push(resource.kind)
        return client.list(resource, options)
      },
      apply: (resource, object, options) => {
        writes.push(`apply ${object.metadata.name}`)
        return client.apply(resource, object, options)
      },
      patch: (resource, target, options) => {
        writes.push(`patch ${target.name}`)
        return client.patch(resource, target, options)
      },
      remove: (resource, target, options) => {
        writes.push(`remove ${target.name}`)
        return client.remove(resource, target, options)
      },
    },
  }
}
