// Shows on a real API server what a person would want to see, checks it, and ends with 0 or 1.
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Said } from './kubectl.ts'
import { type Scene, withScene } from './scene.ts'

const service = (name: string, annotations: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, annotations },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }] },
})

function headline(text: string): void {
  console.log(`\n${styleText('bold', text)}`)
}

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`the demo expected that ${what}`)
  console.log(styleText('green', `ok: ${what}`))
}

/** Types a command as a person would, and shows what the terminal says. */
async function type({ stage }: Scene, args: string[], manifest?: ReturnType<typeof service>): Promise<Said> {
  const quoted = args.map((arg) => (/[\s{}()]/.test(arg) ? `'${arg}'` : arg)).join(' ')
  const annotations = manifest ? `   # annotations: ${JSON.stringify(manifest.metadata.annotations)}` : ''
  console.log(styleText('dim', `$ kubectl ${quoted}${annotations}`))
  const said = await stage.kubectl(args, manifest)
  process.stdout.write(said.stdout.replace(/([^\n])$/, '$1\n'))
  process.stdout.write(said.stderr)
  return said
}

/** How many public addresses the cloud has for us; it makes blocks for machines by itself. */
function reserved({ stage }: Scene): number {
  return stage.cloud.door.reservations.all().filter(({ type: kind }) => kind === 'public_ipv4').length
}

async function leavesCreateWithAddress(scene: Scene): Promise<void> {
  headline('A Service leaves `kubectl create` with its address')
  const started = performance.now()
  const address = ['-o', 'jsonpath={.spec.loadBalancerIP}']
  const { stdout } = await type(scene, ['create', 'service', 'loadbalancer', 'web', '--tcp=80:80', ...address])
  const ms = Math.round(performance.now() - started)
  expect(/^\d+\.\d+\.\d+\.\d+$/.test(stdout), 'the address was there when create returned')
  console.log(
    `    after ${ms} ms, the start of kubectl included; the cloud alone takes ${scene.latencyMs} ms for a call`,
  )
}

async function saysWhoHoldsWhat(scene: Scene): Promise<void> {
  headline('Two more, one of them in Silicon Valley; who holds which address?')
  await type(scene, ['create', '-f', '-'], service('shop', {}))
  await type(scene, ['create', '-f', '-'], service('mail', { 'metal.equinix.com/eip-metro': 'sv' }))
  await bound(scene, 3)
  const { stdout } = await type(scene, ['get', 'eip'])
  expect(/mail\s+\S+\s+sv\s+Bound/.test(stdout), 'three Services hold three addresses, one of them in sv')
  await type(scene, ['get', 'services'])
  expect(reserved(scene) === 3, 'the cloud has reserved three')
}

async function refusesMistakes(scene: Scene): Promise<void> {
  headline('A mistake is told in the terminal, all of it at once')
  const wrong = service('blog', { 'metal.equinix.com/eip-metro': 'dallas', 'metal.equinix.com/eip-facilty': 'da11' })
  const created = await type(scene, ['create', '-f', '-'], wrong)
  expect(created.code !== 0 && created.stderr.includes('did you mean "da"'), 'the Service was refused, with a hint')

  headline('So it is in a dry run, and a good one reserves nothing')
  const rehearsed = await type(scene, ['create', '--dry-run=server', '-f', '-'], wrong)
  expect(rehearsed.code !== 0 && rehearsed.stderr.includes('did you mean "da"'), 'it was refused in the same words')
  await type(scene, ['create', '--dry-run=server', '-f', '-'], service('blog', {}))
  expect(reserved(scene) === 3, 'the cloud still has three')
}

async function givesBack(scene: Scene): Promise<void> {
  headline('A deleted Service gives its address back')
  await type(scene, ['delete', 'service', 'web', 'shop', 'mail'])
  const { stdout } = await type(scene, ['get', 'eip'])
  expect(stdout === '', 'nobody holds an address')
  expect(reserved(scene) === 0, 'the cloud has none reserved')
}

/** The controller binds a moment after create; a person who types is slower than it. */
async function bound({ stage }: Scene, count: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { stdout } = await stage.kubectl(['get', 'eip', '-o', 'jsonpath={.items[*].status.phase}'])
    if (stdout.split(' ').filter((phase) => phase === 'Bound').length === count) return
    await sleep(100)
  }
}

const acts = [leavesCreateWithAddress, saysWhoHoldsWhat, refusesMistakes, givesBack]

await withScene(async (scene, interrupted) => {
  try {
    for (const act of acts) {
      if (interrupted.aborted) throw new Error('the demo was interrupted')
      await act(scene)
    }
    headline('That was all of it. `make sandbox` keeps it running for you.')
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
})
