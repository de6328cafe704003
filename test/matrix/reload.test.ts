// The configuration file changes as the kubelet changes a mounted Secret, and the process continues with its content.
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../sandbox/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { typed } from '../whole/command-line.ts'
import { dialect, openStage, routes } from './dialect.ts'

// Another account at the same cloud, whose Secret somebody copies into this cluster.
const other = { project: '7f8b4a06-2c55-4c1f-8d0e-6f2f0a9b1c3e', token: 'the-token-of-another-account' }
const accounts = await dialects[dialect.name].open({ other })
const stage = await openStage({ account: accounts })
const { calls, tokens } = stage.cloud.control
const { field: placeField } = dialect.placeSetting
const before = { apiKey: stage.token, projectID: stage.project, [placeField]: dialect.place }
const folder = join(stage.dir, 'cloud')
const file = join(folder, 'cloud-sa.json')
let versions = 0

/** Writes the file as the kubelet does: a new folder, then the exchange of a link. */
function mount(content: string | Record<string, string>): void {
  const version = `..version-${(versions += 1)}`
  mkdirSync(join(folder, version), { recursive: true })
  writeFileSync(join(folder, version, 'cloud-sa.json'), typeof content === 'string' ? content : JSON.stringify(content))
  symlinkSync(version, join(folder, '..next'))
  renameSync(join(folder, '..next'), join(folder, '..data'))
}

mount(before)
symlinkSync(join('..data', 'cloud-sa.json'), file)
const fromFile = { [dialect.apiKey]: '', [dialect.apiKey.replace('API_KEY', 'PROJECT_ID')]: '' }

// No kubelet runs here: this Pod stands for the program's own, so that its Events have an object.
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'eip-admission' } }
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'eip-admission-1', namespace: 'eip-admission' },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'eip-admission', image: 'eip-admission' }] },
}
await stage.kubectl(['apply', '-f', '-'], account)
await stage.kubectl(['create', '-f', '-'], pod)
const inPod = ['pod', '-n', 'eip-admission', pod.metadata.name]
const podUid = await stage.run('get', ...inPod, '-o', 'jsonpath={.metadata.uid}')
const running = {
  env: { ...fromFile, POD_NAME: pod.metadata.name, POD_UID: podUid },
  flags: [`--cloud-config=${file}`, '--sweep-interval=1s'],
}
let product = await stage.startSwept(running)

const addressOf = async (name: string) => (await stage.create(loadBalancer(name))).spec.loadBalancerIP
const readyz = async () => (await product.health('/readyz')).text
const metric = async (name: string) =>
  new RegExp(`^eip_admission_settings_${name} (\\d+)$`, 'm').exec((await product.health('/metrics')).text)?.[1]
const says = (reason: string) =>
  eventually(`/readyz says: ${reason}`, async (observe) => observe(await readyz()).includes(reason) || undefined)
/** Waits until a person who looks at the pod sees an Event about the file. */
const eventOf = (reason: string, text: string) =>
  eventually(`${reason} in kubectl describe: ${text}`, async (observe) => {
    const lines = observe(await stage.run('describe', ...inPod)).split('\n')
    return lines.find((line) => line.includes(reason) && line.includes(file) && line.includes(text))
  })
const isTakenUp = () => eventually('the file is taken up', async () => !(await readyz()).includes(file) || undefined)

test('a token that the provider refuses is not taken up, and the process continues with the old one', async () => {
  mount({ ...before, apiKey: 'no-token-of-anybody' })
  await says(`${file} was not applied: `)
  assert.not.match(await eventOf('Warning  SettingsRefused', 'stay as they were'), 'no-token-of-anybody')
  assert.is(await metric('last_reload_successful'), '0')
  assert.ok(await addressOf('with-the-old-token'))
})

test('a file that is no JSON is refused without its content', async () => {
  mount(`{ "apiKey": "${stage.token}",`)
  await says('is not JSON')
  assert.not.match(await eventOf('Warning  SettingsRefused', 'is not JSON'), stage.token)
  assert.not.match(await readyz(), stage.token)
  assert.ok(await addressOf('beside-a-broken-file'))
})

test('another token is taken up, and the old one may be revoked then', async () => {
  const token = 'the-token-after-the-rotation'
  tokens.add({ token, label: 'rotated' })
  mount({ ...before, apiKey: token })
  await eventually('a call with it', () => calls.all().some(({ caller }) => caller === 'rotated') || undefined)
  await isTakenUp()
  assert.not.match(await eventOf('Normal   SettingsTakenUp', 'API key'), token)
  tokens.revoke('sandbox')
  assert.ok(await addressOf('with-the-new-token'))
  // A call that began with the old token has ended by now.
  calls.clear()
  assert.ok(await addressOf('with-it-alone'))
  assert.equal([...new Set(calls.all().map(({ caller }) => caller))], ['rotated'])
  assert.is(await metric('last_reload_successful'), '1')
  assert.not.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), token)
})

test('another location counts for new addresses, and those that are there stay', async () => {
  const { apiKey } = JSON.parse(readFileSync(file, 'utf8')) as { apiKey: string }
  const held = stage.reserved()
  mount({ ...before, apiKey, [placeField]: dialect.placeSetting.other })
  await eventually('it counts', async (observe) => {
    const { stderr, stdout } = await stage.kubectl(
      ['create', '--dry-run=server', '-f', '-', '-o', 'yaml'],
      loadBalancer('asked'),
    )
    return observe(stderr + stdout).includes(dialect.placeSetting.other) || undefined
  })
  const address = await addressOf('elsewhere')
  const place = stage.reserved().find((one) => one.address === address)?.place
  assert.is(place, dialect.placeSetting.other)
  for (const one of held) assert.ok(stage.reserved().some(({ id }) => id === one.id))
})

test('another project needs a restart: its token alone would see another ledger', async () => {
  const now = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  mount({ ...now, projectID: '5d0b2bb2-1f0f-4a3a-8a44-2f1f0a1b2c3d' })
  await says(`${file} has settings that need a restart: project`)
  assert.is(await metric('need_restart'), '1')
  await eventOf('Warning  SettingsNeedRestart', 'project')
  assert.ok(await addressOf('in-the-same-project'))
  mount(now)
  await isTakenUp()
})

test('a Service that is older than the location gets its address once the file names one', async () => {
  const now = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  const { [placeField]: _place, ...nowhere } = now
  await product.stop()
  // No webhook reviews it, as in a cluster into which eip-admission is installed later.
  await stage.create(loadBalancer('waiting'))
  mount(nowhere)
  product = await stage.startSwept(running)
  await eventually(
    'an Event says what it lacks',
    async (observe) =>
      observe(await stage.run('describe', 'service', 'waiting')).includes('no location is set') || undefined,
  )
  mount(now)
  const address = await eventually(
    'it gets its address, and nobody edits it',
    async () => (await stage.service('waiting'))?.spec.loadBalancerIP,
  )
  assert.is(stage.reserved().find((one) => one.address === address)?.place, now[placeField])
})

const foreign = { ...before, apiKey: other.token, projectID: other.project }
const right = { ...before, apiKey: 'the-token-after-the-rotation' }
const bought = () => stage.reserved().map(({ id }) => id)
/** The addresses of each Service, one a line. */
const shown = async () => {
  const lines = '{range .items[*]}{.metadata.name}={.spec.loadBalancerIP}{"\\n"}{end}'
  return (await stage.run('get', 'services', '-o', `jsonpath=${lines}`)).trim().split('\n')
}
const words = new RegExp(`belongs to project ${stage.project}, but the settings name project ${other.project} `)

test('a Secret of another account is not taken up by a process that runs', async () => {
  mount(foreign)
  await says(`${file} was not applied: `)
  assert.match(await readyz(), /need a restart: project/)
  calls.clear()
  assert.ok(await addressOf('beside-a-copied-secret'))
  assert.equal([...new Set(calls.all('POST /projects/{id}/ips').map(({ caller }) => caller))], ['rotated'])
})

test('a process that starts with it buys nothing and takes no address away, and says why', async () => {
  const [held, services] = [bought(), await shown()]
  await product.stop()
  calls.clear()
  product = await stage.start(running)
  const { stderr, code } = await stage.kubectl(['create', '-f', '-'], loadBalancer('with-a-copied-secret'))
  assert.is(code, 0, stderr)
  assert.match(stderr, words)
  await eventually(
    'an Event says why',
    async (observe) => words.test(observe(await stage.run('get', 'events', '-n', 'eip-admission'))) || undefined,
  )
  assert.match(await readyz(), words)
  assert.match((await product.health('/metrics')).text, /^eip_admission_other_project 1$/m)
  assert.match((await product.health('/metrics')).text, /^eip_admission_leader 0$/m)
  assert.equal([bought(), stage.calls(routes.reserve), stage.calls(routes.release)], [held, 0, 0])
  assert.equal(await shown(), [...services, 'with-a-copied-secret='].toSorted())
})

test('doctor names both projects and the command, and the right Secret has everything as before', async () => {
  const place = [`--cloud-provider=${dialects[dialect.name].provider}`, `--base-url=${stage.cloud.url}`]
  const flags = [...place, `--cloud-config=${file}`, `--kubeconfig=${stage.controlPlane.kubeconfig}`]
  const { PATH = '' } = process.env
  const { stdout } = await typed(['doctor', ...flags], { PATH, ...dialect.here, ...fromFile })
  assert.match(stdout, words)
  assert.match(stdout, /kubectl annotate configmap .* eip-admission.dev\/confirm-project=/)
  const held = bought()
  await product.stop()
  mount(right)
  product = await stage.startSwept(running)
  const address = await eventually(
    'the Service gets its address',
    async () => (await stage.service('with-a-copied-secret'))?.spec.loadBalancerIP,
  )
  assert.equal(bought().filter((id) => !held.includes(id)).length, 1)
  assert.ok(stage.reserved().some((one) => one.address === address))
  assert.not.match(await readyz(), /belongs to project/)
})

test('once a person confirms the other project, new addresses are reserved there', async () => {
  await product.stop()
  mount(foreign)
  product = await stage.start(running)
  await eventually('it is refused', async () => words.test(await readyz()) || undefined)
  const command = /kubectl (annotate .*confirm-project=[^\s`]+)/.exec(await readyz())?.[1] ?? ''
  await stage.run(...command.split(' '))
  await eventually('it is accepted', async () => !words.test(await readyz()) || undefined)
  calls.clear()
  assert.ok(await addressOf('in-the-other-project'))
  assert.equal(
    calls.all(routes.reserve).map(({ caller }) => caller),
    ['other'],
  )
})

test.after(() => stage.close(accounts.cloud))

test.run()
