import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ManifestPart, manifestRights } from '../../manifests/manifest-rights.ts'
import type { KubeObject } from '../../kube/objects.ts'

const rbac = 'rbac.authorization.k8s.io/v1'
const own = { namespace: 'eip-admission' }

/** An object by its API version, kind and name. */
function part(of: [string, string, string], more: object = {}, namespace?: string): ManifestPart {
  const [apiVersion, kind, name] = of
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
  const object: KubeObject & object = { apiVersion, kind, metadata, ...more }
  const isNamespaced = !kind.startsWith('Cluster') && kind !== 'Namespace'
  return { object, resource: { plural: `${kind.toLowerCase()}s`, namespaced: isNamespaced } }
}
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]

/** The rules that the process gets: in a namespace, or in the whole cluster. */
const rulesAt = (parts: ManifestPart[], namespace?: string) =>
  manifestRights(parts, own)
    .objects.filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.namespace === namespace)
    .flatMap((role) => (role as { rules?: unknown[] }).rules ?? [])

test('the process may create and patch the objects of a manifest by name, each where it is', () => {
  const parts = [
    part(['v1', 'Namespace', 'metallb'], { spec: { finalizers: [] } }),
    part(['apps/v1', 'Deployment', 'one'], {}, 'metallb'),
    part(['apps/v1', 'Deployment', 'two'], {}, 'metallb'),
    part(['v1', 'Secret', 'key'], {}, 'other'),
  ]
  const verbs = ['create', 'patch']
  assert.equal(rulesAt(parts), [{ apiGroups: [''], resources: ['namespaces'], resourceNames: ['metallb'], verbs }])
  assert.equal(rulesAt(parts, 'metallb'), [
    { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['one', 'two'], verbs },
  ])
  assert.equal(rulesAt(parts, 'other'), [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['key'], verbs }])
  const [first] = manifestRights(parts, own).objects
  assert.equal(first, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'metallb' } })
})

test('it has what the roles of the manifest give, where they give it', () => {
  const parts = [part([rbac, 'ClusterRole', 'wide'], { rules }), part([rbac, 'Role', 'narrow'], { rules }, 'metallb')]
  for (const at of [undefined, 'metallb']) assert.equal(rulesAt(parts, at).slice(1), rules)
  assert.equal(rulesAt([part([rbac, 'ClusterRole', 'empty'], { rules: null })]).length, 1)
})

const roleRef = (kind: string, name: string) => ({ roleRef: { kind, name } })
const inFile = [part([rbac, 'ClusterRole', 'wide'], { rules }), part([rbac, 'Role', 'narrow'], { rules }, 'metallb')]
const cases: [name: string, refused: ManifestPart, problem: RegExp | undefined][] = [
  ['a binding of its cluster role', part([rbac, 'ClusterRoleBinding', 'b'], roleRef('ClusterRole', 'wide')), undefined],
  ['a binding in a namespace', part([rbac, 'RoleBinding', 'b'], roleRef('ClusterRole', 'wide'), 'any'), undefined],
  ['a binding of its role', part([rbac, 'RoleBinding', 'b'], roleRef('Role', 'narrow'), 'metallb'), undefined],
  [
    'a binding of the role of another namespace',
    part([rbac, 'RoleBinding', 'b'], roleRef('Role', 'narrow'), 'any'),
    /RoleBinding b binds Role narrow, which is not in the file/,
  ],
  [
    'a binding of cluster-admin',
    part([rbac, 'ClusterRoleBinding', 'b'], roleRef('ClusterRole', 'cluster-admin')),
    /binds ClusterRole cluster-admin, which is not in the file/,
  ],
  ['an aggregated role', part([rbac, 'ClusterRole', 'sum'], { aggregationRule: {} }), /has an aggregationRule/],
  ['an object without its namespace', part(['v1', 'Secret', 'key']), /Secret key names no namespace/],
]
for (const [name, refused, problem] of cases) {
  test(`${name} is ${problem ? 'refused' : 'applied'}`, () => {
    const [found, ...more] = manifestRights([...inFile, refused], own).problems
    assert.equal(more, [])
    if (problem) assert.match(found ?? '', problem)
    else assert.is(found, undefined)
  })
}

test.run()
