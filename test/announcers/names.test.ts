// Who adds an announcing software changes its folder and the list. Nobody else knows which there is.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { softwares } from '../../announcers/announcers.ts'

const root = join(import.meta.dirname, '..', '..')
/** Folders that are no product, and the folders of the software themselves. */
const outside = ['announcers', 'sandbox', 'test', 'bench', 'docs', 'packaging', 'node_modules']
/** A takeover changes what a predecessor wrote, and all of them used MetalLB. */
const takeover = 'commands/takeover/'
/** It lists the objects of MetalLB and Cilium that checks and takeovers look at. */
const reading = 'inspect/cluster.ts'
const files = globSync('*/**/*.ts', { cwd: root, exclude: outside.map((room) => `${room}/**`) }).filter(
  (file) => !file.startsWith(takeover),
)

function filesWith(pattern: RegExp): string[] {
  return files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8'))).toSorted()
}

test('no file outside of an announcer names a kind of the load balancer setting', () => {
  assert.ok(files.length > 300, `${files.length} files`)
  // Ordinary words say nothing.
  const words = ['empty', 'assign']
  const kinds = softwares.flatMap((software) => software.kinds).filter((kind) => !words.includes(kind))
  assert.equal(filesWith(new RegExp(`['"\`](${kinds.join('|')})['"\`]`)), [reading])
})

test('no file outside of an announcer imports what one software is made of', () => {
  assert.equal(filesWith(/from '[^']*announcers\/(metallb|cilium|calico|kube-vip|empty|assign)[/.]/), [reading])
})

test('what the general rooms say to people names no software of their own accord', () => {
  const rooms = ['controllers/', 'ledger/', 'webhooks/']
  const said = (file: string) => readFileSync(join(root, file), 'utf8').replaceAll(/\/\*\*[^]*?\*\/|\/\/.*/g, '')
  const general = files.filter((file) => rooms.some((room) => file.startsWith(room)))
  assert.ok(general.length > 100, `${general.length} files`)
  assert.equal(
    general.filter((file) => /MetalLB|Cilium|Calico|kube-vip/.test(said(file))),
    [],
  )
})

test('each kind and each scheme belongs to one software', () => {
  const kinds = softwares.flatMap((software) => software.kinds)
  const schemes = softwares.flatMap((software) => Object.keys(software.schemes))
  assert.is(new Set(kinds).size, kinds.length)
  assert.is(new Set(schemes).size, schemes.length)
})

test.run()
