// The next stage gets a control plane as it was at its start, whatever the previous stage left on it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ControlPlane } from '../../sandbox/control-plane/start.ts'
import { type Kubectl, kubectlOf } from '../../sandbox/kubectl.ts'
import { runProduct } from '../../sandbox/product.ts'
import { differences, readState } from './etcd-state.ts'
import { startShared } from './lender.ts'
import { borrow, canBeBorrowed } from './shared.ts'

const shared = await startShared()
const dirs: string[] = []

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-borrower-'))
  dirs.push(dir)
  return dir
}

async function borrowed(): Promise<{ controlPlane: ControlPlane; run: Kubectl }> {
  const controlPlane = await borrow(shared.dir, { dir: newFolder() })
  if (!controlPlane) throw new Error('nothing was lent')
  const kubectl = kubectlOf(controlPlane)
  const run: Kubectl = async (args, manifest) => {
    const result = await kubectl(args, manifest)
    assert.is(result.code, 0, result.stderr)
    return result
  }
  return { controlPlane, run }
}

const install = ({ kubeconfig }: ControlPlane) =>
  runProduct(['install', `--kubeconfig=${kubeconfig}`, '--webhook-url=https://127.0.0.1:1'])

const held = { finalizers: ['example.com/held'] }
const leftBehind = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', ...held },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'kube-system', ...held } },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', ...held } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    {
      apiVersion: 'eip-admission.dev/v1alpha1',
      kind: 'ElasticIP',
      metadata: { name: 'spare', ...held },
      spec: { location: 'da' },
    },
  ],
}

test('objects, held deletions, definitions, webhooks and changes of what was there no longer exist for the next stage', async () => {
  const first = await borrowed()
  const before = await readState(first.controlPlane.etcdUrl)
  await install(first.controlPlane)
  await first.run(['create', '-f', '-'], leftBehind)
  await first.run(['label', 'namespace', 'kube-system', 'seen=yes'])
  await first.run(['delete', 'namespace', 'shop', '--wait=false'])
  await first.run(['delete', 'service', 'web', 'kubernetes', '--wait=false'])
  await first.run(['delete', 'clusterrole', 'view'])
  assert.ok(differences(before, await readState(first.controlPlane.etcdUrl)).length > 10)
  await first.controlPlane.stop()

  const second = await borrowed()
  assert.equal(differences(before, await readState(second.controlPlane.etcdUrl)), [])
  const listed = await second.run(['get', 'services,nodes,configmaps,namespaces', '-A', '-o', 'name'])
  assert.not(/web|\/n$|\/c$|shop/m.test(listed.stdout), listed.stdout)
  const { stdout } = await second.run(['get', 'mutatingwebhookconfigurations,crd', '-o', 'name'])
  assert.is(stdout, '')
  await second.run(['create', 'namespace', 'shop'])
  await second.controlPlane.stop()
})

test('a definition that comes again serves objects at once', async () => {
  for (const name of ['one', 'two']) {
    const { controlPlane, run } = await borrowed()
    await install(controlPlane)
    await run(['create', '-f', '-'], { ...leftBehind.items[4], metadata: { name } })
    const { stdout } = await run(['get', 'eip', '-o', 'name'])
    assert.is(stdout.trim(), `elasticip.eip-admission.dev/${name}`)
    await controlPlane.stop()
  }
})

test('it is lent to one at a time, and not to a stage that needs another one', async () => {
  const { controlPlane } = await borrowed()
  assert.is(await borrow(shared.dir, { dir: newFolder() }), undefined)
  await controlPlane.stop()
  for (const other of [{ users: { nobody: [] } }, { controllers: ['job-controller'] }, { apiServerFlags: ['-v=2'] }]) {
    assert.is(await borrow(shared.dir, { dir: newFolder(), ...other }), undefined)
  }
})

test('a control plane that has ended is not lent', async () => {
  assert.is(await canBeBorrowed(shared.dir), true)
  await shared.stop()
  assert.is(await canBeBorrowed(shared.dir), false)
})

test.after(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

test.run()
