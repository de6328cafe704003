// The pages for tools start kubelets with --cloud-provider=external. Without it a node waits for nobody and gets no identity.
import { basename } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { valueAt } from '../../manifests/choices.ts'
import { objectsIn } from '../manifests/render.ts'
import { fileOf } from './block-modes.ts'
import { allPages } from './pages.ts'

/** Where the configuration of a tool has the flag of its kubelets, and how. */
const flags: Record<string, [path: string, value: unknown]> = {
  'k3s.md': ['kubelet-arg', ['cloud-provider=external']],
  'kubeadm.md': ['nodeRegistration.kubeletExtraArgs', [{ name: 'cloud-provider', value: 'external' }]],
  'rke2.md': ['cloud-provider-name', 'external'],
  'talos.md': ['cluster.externalCloudProvider.enabled', true],
}

test('each file of k3s in the example of Hetzner Cloud sets the flag of its kubelet', () => {
  const [page] = allPages().filter(({ file }) => file === 'docs/guides/k3s-on-hetzner.md')
  const files = page?.blocks.filter((block) => /^k3s-.*\.yaml$/.test(fileOf(block) ?? '')) ?? []
  assert.equal(files.map(fileOf), ['k3s-server.yaml', 'k3s-agent.yaml'])
  const [path, value] = flags['k3s.md'] ?? []
  for (const { place, text } of files)
    assert.equal(
      objectsIn(text).map((document) => valueAt(document, path ?? '')),
      [value],
      place,
    )
})

test('every configuration of a tool sets the flag of its kubelets', () => {
  const pages = allPages().filter(({ file }) => /^docs\/install\/(?!README)/.test(file))
  for (const { file, blocks } of pages) {
    const [path, value] = flags[basename(file)] ?? []
    assert.ok(path, `${file} has no row in the table of this test`)
    const configurations = blocks.filter(({ lang }) => lang === 'yaml')
    assert.ok(configurations.length > 0, file)
    for (const { place, text } of configurations) {
      const given = objectsIn(text).map((document) => valueAt(document, path))
      assert.ok(
        given.some((one) => JSON.stringify(one) === JSON.stringify(value)),
        `${place} lacks ${path}`,
      )
    }
  }
  assert.is(pages.length, Object.keys(flags).length)
})

test.run()
