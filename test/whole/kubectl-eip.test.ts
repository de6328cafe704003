// The plugin as an administrator and as tenants: each command once through the real kubectl, otherwise in this process.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { events, services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { type KubectlResult, kubectlOf } from '../../sandbox/kubectl.ts'
import { runPlugin } from '../../kubectl-eip/program.ts'
import { checkedKubectl } from './checked-kubectl.ts'
import { eventually } from './eventually.ts'
import { installPlugin } from './installed-plugin.ts'
import { chosen, finalizer, loadBalancer, reclaim } from './manifests.ts'
import { openStage, routes } from './test-stage.ts'

const people = { viewer: ['system:authenticated'], tenant: ['system:authenticated'] }
const stage = await openStage({ users: people })
const { client, cloud, controlPlane } = stage

await installPlugin(stage)

await stage.startSwept({ env: { METAL_METRO_NAME: 'da' }, flags: ['--logging-format=json', '--cloud-timeout=2s'] })
await stage.run('create', 'namespace', 'shop')
// No controller aggregates rules into the roles `edit` and `view` here.
await stage.run('create', 'role', 'edit', '--verb=get,list,create', '--resource=services,events', '-n', 'shop')
await stage.run('create', 'rolebinding', 'edit', '--role=edit', '--user=tenant', '-n', 'shop')
await stage.run('create', 'clusterrole', 'services', '--verb=get,list', '--resource=services')
for (const role of ['eip-admission-view', 'services'])
  await stage.run('create', 'clusterrolebinding', `viewer-${role}`, `--clusterrole=${role}`, '--user=viewer')

/** Runs commands of the plugin in this process. */
const as = (user: keyof typeof people | 'admin') => {
  const file = user === 'admin' ? controlPlane.kubeconfig : controlPlane.kubeconfigFor(user)
  return async (...args: string[]): Promise<KubectlResult> => {
    const output = { stdout: '', stderr: '' }
    const code = await runPlugin([...args, `--kubeconfig=${file}`], {
      version: 'test',
      print: (text) => void (output.stdout += text),
      printError: (text) => void (output.stderr += text),
      ask: undefined,
    })
    return { code, ...output }
  }
}
const admin = as('admin')

/** The flag in the commands that the plugin prints here. */
const here = `--kubeconfig=${controlPlane.kubeconfig}`

/** Runs a command of the plugin as kubectl does, and checks how it ended. */
async function typed(args: string[], wanted = 0): Promise<KubectlResult> {
  const result = await kubectlOf(controlPlane)(['eip', ...args])
  assert.is(result.code, wanted, result.stdout + result.stderr)
  return result
}

/** Runs a command that must succeed, and returns its output. */
async function eip(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await admin(...args)
  assert.is(code, 0, `kubectl eip ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** Runs a command that must find a problem, and returns its output. */
async function found(wanted: number, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await admin(...args)
  assert.is(code, wanted, `kubectl eip ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** Runs a command that must be refused, and returns why. */
async function refused(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await admin(...args)
  assert.equal([code, stdout], [1, ''], stderr)
  return stderr
}

type Line = { request?: string; msg: string; call?: string; cloudRequest?: string; controller?: string }

const logLines = (): Line[] =>
  readFileSync(stage.logOf('eip-admission'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)

const gone = (name: string) =>
  eventually(`ElasticIP ${name} no longer exists`, async () => !(await client.get(elasticIPs, { name })) || undefined)

/** Creates and deletes a Service whose address is kept. */
async function keep(name: string): Promise<string> {
  await stage.create(loadBalancer(name, { annotations: { [reclaim]: 'Retain' } }))
  const address = await stage.settled(name)
  await stage.run('delete', 'service', name)
  await eventually(
    'its address is kept',
    async () => (await stage.record(name))?.status?.phase === 'Released' || undefined,
  )
  return address
}

test('one id leads from the review through the record to the call to the provider, the controller and the Events', async () => {
  await stage.create(loadBalancer('web'))
  const address = await stage.settled('web')
  const record = await stage.record('web')
  const request = record?.metadata.annotations?.['eip-admission.dev/request-id'] ?? ''
  assert.match(request, /^[0-9a-f-]{36}$/)
  assert.equal(
    record?.status?.history?.map(({ phase, request: of }) => [phase, of]),
    [
      ['Reserved', request],
      ['Bound', request],
    ],
  )
  const own = logLines().filter((line) => line.request === request)
  assert.ok(
    own.some(({ msg, call, cloudRequest }) => msg === 'call to the provider' && call === 'reserve' && cloudRequest),
  )
  for (const msg of ['address reserved', 'reviewed', 'call to the API server'])
    assert.ok(
      own.some((line) => line.msg === msg),
      msg,
    )
  assert.ok(own.some(({ call }) => call === 'replace ElasticIP default.web status' || call?.includes('default.web')))
  await eventually('an Event names it', async (observe) => {
    const all = observe((await client.list(events, { namespace: 'default' })).items)
    return all.some(({ metadata }) => metadata.annotations?.['eip-admission.dev/request-id'] === request) || undefined
  })
  const { stdout: text } = await typed(['why', 'web'])
  assert.match(text, `Service default/web has the address ${address}: it is reserved for this Service in da.`)
  for (const what of [
    'Service created',
    'ElasticIP default.web created',
    'Reserved: reservation',
    'Bound: Service default/web',
  ])
    assert.match(text, what)
  assert.match(text, `| grep ${request}`)
  assert.match(text, /\nNo action needed\.\n$/)
  assert.match(
    (await typed(['list'])).stdout,
    new RegExp(`default.web +${address.replaceAll('.', '\\.')} +Bound +default/web +da +Delete`),
  )
  assert.is(await eip('list', '-n', 'shop'), '')
})

test('a person sees the id of a denied request, finds it in the log, and a program gets the same text each time', async () => {
  const wrong = loadBalancer('wrong', { annotations: { [chosen]: 'nowhere' } })
  const { stderr } = await stage.kubectl(['create', '-f', '-'], wrong)
  const [, short = '?'] = /\(request ([0-9a-f]{8})\)/.exec(stderr) ?? []
  assert.ok(
    logLines().some(({ request, msg }) => msg === 'denied' && request?.startsWith(short)),
    stderr,
  )
  const program = await stage.kubectl(
    ['create', '-f', '-', '--as=system:serviceaccount:default:default', '--as-group=system:masters'],
    wrong,
  )
  assert.match(program.stderr, 'gets no address')
  assert.not.match(program.stderr, '(request ')
})

test('why says what is wrong with a Service that has no address', async () => {
  assert.match(await found(3, 'why', 'absent'), 'There is no Service default/absent.')
  await stage.create(loadBalancer('inner', { spec: { type: 'ClusterIP' } }))
  assert.match(await eip('why', 'inner'), 'needs no address: its type is ClusterIP')
  await stage.create(loadBalancer('classed', { spec: { loadBalancerClass: 'other.example/lb' } }))
  assert.match(await found(2, 'why', 'default/classed'), 'for software of class other.example/lb')
  cloud.control.faults.add({ on: routes.reserve, answer: 503 })
  await stage.create(loadBalancer('waits'))
  assert.match(await found(2, 'why', 'waits'), /Service default\/waits has no address yet: Equinix Metal answered 503/)
  assert.match(await eip('status'), /pending +1, the oldest for \d+s: default\/waits: Equinix Metal answered 503/)
  cloud.control.faults.clear()
  await stage.run('delete', 'service', 'waits')
  assert.match(await refused('why', 'a/b/c'), 'is not the name of a Service')
})

test('why asks the running eip-admission about a Service that was stored without it', async () => {
  const { mutating } = await withoutWebhooks(async () => {
    await stage.create(loadBalancer('late', { annotations: { [chosen]: 'nowhere' } }))
  })
  assert.ok(mutating)
  await eventually('it is denied', async (observe) => {
    const text = observe((await admin('why', 'late')).stdout)
    return text.includes('has no address: ') && text.includes('ElasticIP nowhere is not a provisioned address')
      ? true
      : undefined
  })
  await stage.run('delete', 'service', 'late')
})

/** Whether the API server calls the webhooks for a new Service. */
async function isReviewed(): Promise<boolean> {
  const probe = loadBalancer('probe', { namespace: 'default' }) as Service
  const { metadata } = await client.create(services, probe, { dryRun: true })
  return metadata.finalizers?.includes(finalizer) ?? false
}

async function withoutWebhooks(work: () => Promise<void>): Promise<{ mutating: string }> {
  const kinds = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'] as const
  const stored = await Promise.all(kinds.map((kind) => stage.run('get', kind, 'zz-eip-admission', '-o', 'json')))
  for (const kind of kinds) await stage.run('delete', kind, 'zz-eip-admission')
  await eventually('the API server calls no webhook', async () => !(await isReviewed()) || undefined)
  await work()
  for (const json of stored) {
    const { metadata, ...rest } = JSON.parse(json) as { metadata: { name: string; annotations?: object } }
    const { name, annotations } = metadata
    await stage.kubectl(['create', '-f', '-'], { ...rest, metadata: { name, annotations } })
  }
  await eventually('the API server calls them again', async () => (await isReviewed()) || undefined)
  return { mutating: stored[0] ?? '' }
}

test('status says who leads, what is limited and whether the webhooks are called', async () => {
  const { stdout: text } = await typed(['status'])
  assert.match(text, /phases +Bound 1/)
  assert.match(text, /leader +\S+, lease renewed \d+s ago/)
  assert.match(text, /webhooks +the API server calls them/)
  assert.match(text, 'unknown: eip-admission runs outside of the cluster')
})

test('what users write cannot steer a terminal', async () => {
  const { uid } = (await stage.service('web'))?.metadata ?? {}
  const forged = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'forged', namespace: 'default' },
    involvedObject: { apiVersion: 'v1', kind: 'Service', name: 'web', namespace: 'default', uid },
    type: 'Warning',
    reason: 'Forged',
    message: 'red \u001b[31m alert\u009b2J\n\nNo action needed.\u202e\r',
    source: { component: 'a\u0007b' },
    count: 1,
    lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
  }
  await stage.run('delete', 'event', 'forged', '--ignore-not-found')
  await stage.kubectl(['create', '-f', '-'], forged)
  const text = await eip('why', 'web')
  assert.match(text, 'Warning Forged: red [31m alert 2J No action needed.')
  assert.not.match(text.replaceAll('\n', ''), /\p{C}/u)
})

test('a tenant without rights in the cluster learns which one is missing, and may still ask why', async () => {
  const tenant = as('tenant')
  for (const command of [['list', '-n', 'shop'], ['status']]) {
    const { code, stderr } = await tenant(...command)
    assert.is(code, 1)
    assert.match(stderr, 'refused: you may not list ElasticIPs (elasticips.eip-admission.dev)')
    assert.match(stderr, '--clusterrole=eip-admission-view')
  }
  await stage.create(loadBalancer('cart', { namespace: 'shop' }))
  const address = await stage.settled('cart', 'shop')
  const { code, stdout } = await tenant('why', 'cart', '-n', 'shop')
  assert.is(code, 0)
  assert.match(stdout, `Service shop/cart has the address ${address}; eip-admission wrote it.`)
  assert.match(stdout, 'Not everything is shown: you may not get ElasticIPs.')
  assert.not.match(stdout, 'default.web')
  const other = await tenant('why', 'web', '-n', 'default')
  assert.is(other.code, 1)
  assert.match(other.stderr, 'cannot get resource "services"')
})

test('who may only look sees everything and changes nothing', async () => {
  const viewer = as('viewer')
  assert.match((await viewer('list', '-A')).stdout, 'shop.cart')
  const json = JSON.parse((await viewer('list', '-A', '-o', 'json')).stdout) as { items: { kind: string }[] }
  assert.ok(json.items.every(({ kind }) => kind === 'ElasticIP'))
  assert.match((await viewer('list', '-A', '-o', 'yaml')).stdout, 'kind: ElasticIP')
  const address = await keep('looked-at')
  for (const command of [
    ['release', 'default.looked-at', '--yes'],
    ['adopt', 'some-id'],
    ['move', 'default.looked-at', '--to', 'other', '--yes'],
  ]) {
    const { code, stderr } = await viewer(...command)
    assert.is(code, 1)
    assert.match(stderr, /you may not (delete|create) ElasticIPs/)
  }
  assert.is((await stage.record('looked-at'))?.status?.address, address)
})

test('release gives back what is kept, after a confirmation, and nothing that a Service has', async () => {
  assert.match(await refused('release', 'default.web', '--yes'), `kubectl ${here} delete service -n default web`)
  assert.match(await refused('release', 'nothing', '--yes'), 'there is no ElasticIP nothing')
  const address = await keep('previous')
  assert.match(await found(3, 'why', 'previous'), `${address} is kept for it (reclaim policy Retain)`)
  const before = stage.reserved().length
  assert.match(await refused('release', address), /is deleted at the provider[^]*add --yes to confirm/)
  assert.is(stage.reserved().length, before)
  assert.match((await typed(['release', address, '--yes'])).stdout, 'ElasticIP default.previous is deleted.')
  assert.is(stage.reserved().length, before - 1)
})

test('release does not take an address that a Service shows, whatever the record says', async () => {
  const address = await keep('haunted')
  await stage.create(loadBalancer('ghost', { spec: { loadBalancerClass: 'other.example/lb' } }))
  const status = { status: { loadBalancer: { ingress: [{ ip: address }] } } }
  await stage.run('patch', 'service', 'ghost', '--subresource=status', '--type=merge', '-p', JSON.stringify(status))
  assert.match(await refused('release', address, '--yes'), 'Service default/ghost shows it in status.loadBalancer')
  assert.match(await refused('move', address, '--to', 'other', '--yes'), 'Service default/ghost shows it')
  await stage.run('delete', 'service', 'ghost')
  await eip('release', address, '--yes')
})

test('adopt makes an address of the project available, for one Service', async () => {
  const { id, address } = await stage.order()
  assert.match(
    (await typed(['adopt', id, '--name', 'office', '--service', 'desk'])).stdout,
    `ElasticIP office has ${address}. Service default/desk gets it`,
  )
  assert.match(await refused('adopt', id), 'belongs to ElasticIP office already (Available)')
  assert.match(await refused('adopt', address), 'belongs to ElasticIP office already')
  assert.match(await refused('adopt', '203.0.113.254'), 'look that up in the console of the provider')
  const nobody = ['6d0c1f0e-0000-4000-8000-000000000000', '--name', 'nobody', '--timeout', '3s']
  await eventually('the command says what the provider lacks', async (observe) => {
    const reason = observe(await refused('adopt', ...nobody))
    await stage.run('delete', 'eip', 'nobody')
    return reason.includes('has no reservation') || undefined
  })
  await stage.create(loadBalancer('desk', { annotations: { [chosen]: 'office' } }))
  assert.is(await stage.settled('desk'), address)
  assert.match(await eip('why', 'desk'), 'that of ElasticIP office, which it requests by name')
})

test('move refuses an address that a Service has, and its steps in the printed order work', async () => {
  const address = (await stage.record('desk'))?.status?.address
  assert.match(
    await refused('move', 'office', '--to', 'shop/till', '--yes'),
    `1. \`kubectl ${here} delete service -n default desk\` 2. \`kubectl eip move ${here} office --to shop/till\``,
  )
  assert.match(await refused('move', 'office', '--to', 'web', '--yes'), 'a Service cannot change its address')
  await stage.run('delete', 'service', 'desk')
  await gone('default.desk')
  await eventually('it is available, and the last write of its return is done', async () => {
    const { metadata, status } = (await client.get(elasticIPs, { name: 'office' })) ?? {}
    return (status?.phase === 'Available' && status.observedGeneration === metadata?.generation) || undefined
  })
  assert.match((await typed(['move', 'office', '--to', 'shop/till', '--yes'])).stdout, 'Service shop/till gets it')
  const { stderr } = await stage.kubectl(
    ['create', '-f', '-'],
    loadBalancer('desk', { annotations: { [chosen]: 'office' } }),
  )
  assert.match(stderr, 'is only for Service shop/till')
  await stage.create(loadBalancer('till', { namespace: 'shop', annotations: { [chosen]: 'office' } }))
  assert.is(await stage.settled('till', 'shop'), address)
})

test('a kept address moves to a Service of another name, and the reservation outlives its record', async () => {
  const reserved = stage.reserved().length
  await stage.create(loadBalancer('old', { annotations: { [reclaim]: 'Retain' } }))
  const address = await stage.settled('old')
  assert.match(
    await refused('move', 'old', '--to', 'new', '--yes'),
    `1. \`kubectl ${here} delete service -n default old\` 2. \`kubectl eip move ${here} default/old --to default/new\``,
  )
  await stage.run('delete', 'service', 'old')
  await eventually('it is kept', async () => (await stage.record('old'))?.status?.phase === 'Released' || undefined)
  assert.match(await refused('move', 'old', '--to', 'new'), 'add --yes to confirm')
  assert.match(
    await eip('move', 'old', '--to', 'new', '--yes'),
    `ElasticIP default-new has ${address}. Service default/new gets it`,
  )
  assert.is(await stage.record('old'), undefined)
  await stage.create(loadBalancer('old'))
  assert.is.not(await stage.settled('old'), address)
  await stage.create(loadBalancer('new', { annotations: { [chosen]: 'default-new' } }))
  assert.is(await stage.settled('new'), address)
  assert.is(stage.reserved().length, reserved + 2)
})

test('kubectl completes commands, Services and ElasticIPs', async () => {
  // The stage's own kubectl has the old PATH.
  const late = checkedKubectl(kubectlOf(controlPlane))
  const complete = (...words: string[]) => late.run('__complete', 'eip', ...words)
  assert.match(await complete('re'), /^release\n/)
  assert.match(await complete('why', 'we'), /^web\n/)
  assert.match(await complete('why', '-n', 'shop', ''), /^cart\ntill\n/)
  assert.match(await complete('release', 'off'), /^office\n/)
  assert.match(await complete('list', '-o', ''), /^wide\njson\nyaml\n/)
  assert.match(await complete('status', '-o', ''), /^json\nyaml\nname\n/)
  assert.match(await complete('why', '-n', 'sh'), /^shop\n/)
  assert.match(await complete('why', '--context', ''), /^\S+\n:/)
  assert.match(await complete('release', '--t'), /^--timeout\n/)
})

test('scripts read the same facts, and names for kubectl', async () => {
  const why = JSON.parse(await eip('why', 'web', '-o', 'json')) as {
    state: string
    address: string
    timeline: object[]
  }
  assert.equal([why.state, why.address], ['ready', (await stage.record('web'))?.status?.address])
  assert.ok(why.timeline.length > 2)
  assert.is(await eip('why', 'web', '-o', 'name'), 'elasticip.eip-admission.dev/default.web\n')
  const status = JSON.parse(await eip('status', '-o', 'json')) as { working: boolean; webhooks: string }
  assert.equal([status.working, status.webhooks], [true, 'answered'])
  assert.match(await eip('status', '-o', 'yaml'), /^working: true$/m)
  assert.is((JSON.parse(await found(3, 'why', 'absent', '-o', 'json')) as { state: string }).state, 'absent')
})

test('an unknown command and a wrong flag have errors of their own', async () => {
  assert.match((await typed(['lits'], 1)).stderr, 'Did you mean list?')
  assert.match(await refused('list', '-n', 'a/b'), 'not a valid name of a namespace')
  assert.match(await refused('list', '--context', 'elsewhere'), 'elsewhere')
  assert.match(await refused('release', 'a', '--timeout', 'soon'), 'Write a duration')
})

test.after(() => stage.close())

test.run()
