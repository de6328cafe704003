import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { annotationsReference } from '../../../docs/pages/annotations.ts'

const root = join(import.meta.dirname, '../../..')
const reference = annotationsReference()

test('docs/reference/annotations.md is up to date', () => {
  assert.is(readFileSync(join(root, 'docs/reference/annotations.md'), 'utf8'), reference)
})

/** What is no part of the product; every other room is, also one that comes later. */
const tools = ['sandbox', 'test', 'bench', 'docs', 'packaging', 'node_modules', 'dist']

/** Names with our prefix, of a dialect, or of announcing software; MetalLB's own objects have them as well. */
const annotationName =
  /'((?:eip-admission\.dev|metal\.equinix\.com|packet\.com|cherryservers\.com|metallb\.io|metallb\.universe\.tf|lbipam\.cilium\.io|io\.cilium|kube-vip\.io)\/[A-Za-z][\w.{}-]*)'/g

/** Names that are no annotation, label or finalizer of ours. */
const others = new Set([
  // The API version of our resource.
  'eip-admission.dev/v1alpha1',
  // The load balancer class of the mirror Service.
  'eip-admission.dev/control-plane',
  // API versions and a label of MetalLB's own objects.
  'metallb.io/v1beta1',
  'metallb.io/v1beta2',
  'metallb.io/node-name',
  // Load balancer classes.
  'io.cilium/bgp-control-plane',
  'io.cilium/l2-announcer',
  'kube-vip.io/kube-vip-class',
  // Who writes it on a Service tells kube-vip, not us.
  'kube-vip.io/ignore',
])

test('the page has every annotation, label and finalizer whose name is in the code', () => {
  const files = globSync('*/**/*.ts', { cwd: root, exclude: tools.map((room) => `${room}/**`) })
  const names = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(annotationName)].map(([, name = '']) => name),
  )
  assert.ok(names.includes('eip-admission.dev/protect'), 'the test finds no names at all')
  assert.ok(names.includes('eip-admission.dev/manager-suspended'), 'the test reads no file of the commands')
  const missing = new Set(names.filter((name) => !others.has(name) && !reference.includes(`\`${name}\``)))
  assert.equal([...missing], [])
})

test.run()
