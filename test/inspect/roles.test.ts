// Which roles `doctor` expects: a chart cannot know the namespaces that the process reads from a Secret.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { roles } from '../../commands/doctor/checks/rights.ts'
import { installedRoles } from '../../inspect/cluster.ts'
import type { ClusterReader } from '../../inspect/reader.ts'
import { type KubeObject, keyOf } from '../../kube/objects.ts'
import { announcerRights } from '../../announcers/object-rights.ts'
import { rbac } from '../../manifests/rbac.ts'
import { lines, makeContext } from '../commands/doctor/context.ts'

const given = { env: { METAL_LOAD_BALANCER: 'metallb:///lb' } }
const context = makeContext(given)
const anywhere = announcerRights({ loadBalancer: undefined, metallbConfigMap: undefined })
const placed = announcerRights({ loadBalancer: context.vendor.loadBalancer, metallbConfigMap: undefined })

/** The findings of `doctor` in a cluster with the roles of these installations. */
async function found(...installations: (typeof anywhere)[]): Promise<string[]> {
  const own = { namespace: 'eip-admission', leaseNamespace: 'kube-system', leaseName: 'cloud-controller-manager' }
  const objects = installations.flatMap((announcing) => rbac({ ...own, announcing })) as KubeObject[]
  const stored = new Map(objects.map((object) => [`${object.kind} ${keyOf(object)}`, object]))
  const reader: Pick<ClusterReader, 'get'> = {
    get: ({ kind }, metadata) => Promise.resolve(stored.get(`${kind} ${keyOf({ metadata })}`) as never),
  }
  const webhooks = { mutating: undefined, validating: undefined }
  return lines(roles, { roles: await installedRoles(reader as ClusterReader, context), webhooks }, given)
}

test('rights in every namespace are right where nothing says which one, and too many beside those in one', async () => {
  const good = ['ok: the installed roles grant exactly the rights that this version needs']
  assert.equal(await found(anywhere), good)
  assert.equal(await found(placed), good)
  const [surplus = '', ...others] = await found(placed, anywhere)
  assert.match(surplus, /ClusterRole eip-admission grants more rights.*configmaps config.*secrets eip-admission-bgp/)
  assert.equal(others, [])
})

const guarded: [what: string, env: Record<string, string>, isExpected: boolean][] = [
  ['no control plane', {}, false],
  ['a control-plane address', { METAL_EIP_TAG: 'cp' }, true],
  ['a load balancer', { METAL_LOAD_BALANCER_ID: 'lb-1', METAL_LOAD_BALANCER: 'emlb:///da' }, true],
]
for (const [what, env, isExpected] of guarded)
  test(`${isExpected ? 'the rights' : 'no rights'} of guardians are expected with ${what}`, async () => {
    const reader: Pick<ClusterReader, 'get'> = { get: () => Promise.resolve(undefined) }
    const wanted = (await installedRoles(reader as ClusterReader, makeContext({ env }))).map((role) => role.wanted)
    const ofGuardians = wanted.some(({ metadata }) => metadata.name.startsWith('eip-admission-control-plane'))
    assert.is(ofGuardians, isExpected)
  })

test.run()
