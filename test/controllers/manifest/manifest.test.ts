import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { manifestController } from '../../../controllers/manifest/manifest.ts'
import { Terminal } from '../../../controllers/loop/reconciler.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { KubeObject } from '../../../kube/objects.ts'
import { silentLog } from '../../fakes/log.ts'

const refused = (status: number) => new KubeError(`status ${status}`, { status, reason: 'Invalid' })
const documents = (names: string[]) =>
  names.map((name) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}`).join('\n---\n')

/** Applies a manifest, and returns the names of what was sent and the error. */
async function applied(text: string, fault: (name: string) => Error | 'unknown' | undefined = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'eip-admission-manifest-'))
  const path = join(folder, 'manifest.yaml')
  writeFileSync(path, text)
  const sent: string[] = []
  const client = {
    resource: async ({ metadata }: KubeObject) => (fault(metadata.name) === 'unknown' ? undefined : {}),
    async apply(_resource: unknown, object: KubeObject) {
      const { name } = object.metadata
      sent.push(name)
      const error = fault(name)
      if (error instanceof Error) throw error
      return object
    },
  }
  const settings = { cluster: { loadBalancerManifest: path } }
  const deps = { client, settings, log: silentLog } as unknown as Parameters<typeof manifestController>[0]
  try {
    const [declaration] = manifestController(deps)
    const outcome = declaration?.reconciler.reconcile('manifest', new AbortController().signal)
    const error = await outcome?.then(
      () => undefined,
      (reason: unknown) => reason as Error,
    )
    return { sent, error, path }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('every object is applied, in its order', async () => {
  const { sent, error } = await applied(documents(['a', 'b']))
  assert.equal([sent, error], [['a', 'b'], undefined])
})

test('a failure stops no other object, and three are named', async () => {
  const { sent, error } = await applied(documents(['a', 'b', 'c', 'd', 'e']), (name) =>
    name === 'e' ? undefined : name === 'a' ? 'unknown' : refused(422),
  )
  assert.equal(sent, ['b', 'c', 'd', 'e'])
  const names = 'ConfigMap a: the API server does not serve v1; status 422; status 422; 1 more'
  assert.is(error?.message, `4 of 5 objects are not applied: ${names}`)
})

test('where a right is missing, a command that gives it is named', async () => {
  const { error, path } = await applied(documents(['a']), () => refused(403))
  assert.match(error?.message ?? '', `install with the flags that it had and --load-balancer-manifest=${path}`)
})

test('a file that is no manifest is said once', async () => {
  const { error } = await applied('{')
  assert.instance(error, Terminal)
  assert.match(error?.message ?? '', 'is not YAML')
})

test.run()
