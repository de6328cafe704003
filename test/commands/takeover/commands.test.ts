// Output of takeover apply for a program, where there is nothing to carry out.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { takeoverPlanSettings } from '../../../commands/settings/commands.ts'
import { takeoverApplySettings, takeoverUndoSettings } from '../../../commands/settings/takeover-apply.ts'
import { applyWith, takeoverApply, takeoverPlan, takeoverUndo } from '../../../commands/takeover/commands.ts'
import { End } from '../../../commands/takeover/end.ts'
import type { TakeoverPlan } from '../../../commands/takeover/plan/plan.ts'
import { dialects } from '../../../sandbox/dialects.ts'
import { resolveSettings } from '../../../settings/resolve.ts'
import { withCluster, withoutServer } from '../../kube/scripted-cluster.ts'

const finding = { reason: 'no-predecessor', where: 'the cluster', what: 'none runs', remedy: 'install it' }

/** Nobody listens there. */
const credentials = { server: 'https://127.0.0.1:1', headers: async () => ({}), ca: undefined } as never

async function printed(failure: Error): Promise<{ code: number; document: unknown }> {
  let text = ''
  const plans = {
    async makePlan() {
      throw failure
    },
    async install() {},
  }
  const print = (part: string) => void (text += part)
  const deps = { env: {}, version: 'test', signal: new AbortController().signal, print, printError: print }
  const code = await applyWith(plans, { output: 'json', patienceMs: 1, credentials }, deps)
  return { code, document: JSON.parse(text) }
}

const ends = [
  {
    failure: new End('blocked', 'no predecessor', { blockers: [finding] }),
    state: 'blocked',
    blockers: [finding],
  },
  { failure: new End('refused', 'another run works'), state: 'refused', blockers: [] },
  { failure: new Error('deployments is forbidden'), state: 'failed', blockers: [] },
]
for (const { failure, ...document } of ends)
  test(`takeover apply -o json prints one document where it ends as ${document.state}`, async () => {
    const { message } = failure
    assert.equal(await printed(failure), { code: 1, document: { formatVersion: 1, message, ...document } })
  })

/** The output of a command at its end, where no API server answers. */
async function endOf(
  command: 'apply' | 'undo',
  { flags = {}, env = {} }: { flags?: Record<string, string>; env?: Record<string, string> },
): Promise<string> {
  let text = ''
  const print = (part: string) => void (text += part)
  const deps = { env, version: 'test', signal: new AbortController().signal, print, printError: print }
  await withoutServer(async (kubeconfig) => {
    const given = { ...flags, '--kubeconfig': kubeconfig }
    if (command === 'undo')
      await takeoverUndo(resolveSettings(takeoverUndoSettings, { flags: given, env }).values, deps)
    else
      await takeoverApply({ ...resolveSettings(takeoverApplySettings, { flags: {}, env }).values, flags: given }, deps)
    text = text.replaceAll(` --kubeconfig=${kubeconfig}`, '')
  })
  return text.split('\n').at(-2) ?? ''
}

const inNet = [
  { name: 'a flag', given: { flags: { '--namespace': 'net' } } },
  { name: 'the environment', given: { env: { POD_NAMESPACE: 'net' } } },
]
for (const { name, given } of inNet)
  test(`a takeover whose namespace ${name} names says how to continue with that one`, async () => {
    assert.is(
      await endOf('apply', given),
      'No step was started. Run `eip-admission takeover apply --namespace=net` again.',
    )
    assert.is(
      await endOf('undo', given),
      'No step was started. Run `eip-admission takeover undo --namespace=net` again.',
    )
  })

test('a flag that names the usual namespace stays where the environment names another', async () => {
  const given = { flags: { '--namespace': 'eip-admission' }, env: { POD_NAMESPACE: 'net' } }
  assert.is(
    await endOf('undo', given),
    'No step was started. Run `eip-admission takeover undo --namespace=eip-admission` again.',
  )
  assert.is(await endOf('undo', {}), 'No step was started. Run `eip-admission takeover undo` again.')
})

/** Runs `takeover plan` where a predecessor runs, and returns what it prints. */
async function planned(flags: Record<string, string>, env: Record<string, string> = {}): Promise<string> {
  const { cloud, project, token } = await dialects['equinix-metal'].open()
  const variables = Object.entries({ METAL_API_KEY: token, METAL_PROJECT_ID: project, METAL_BASE_URL: cloud.url })
  const container = {
    image: 'equinix/cloud-provider-equinix-metal:v3.8.1',
    env: variables.map(([name, value]) => ({ name, value })),
  }
  const program = {
    metadata: { namespace: 'kube-system', name: 'cpem', uid: 'u' },
    spec: { replicas: 1, template: { spec: { containers: [container] } } },
  }
  let text = ''
  const print = (part: string) => void (text += part)
  const deps = { env, version: 'test', signal: new AbortController().signal, print, printError: print, endAtOnce() {} }
  try {
    await withCluster({ deployments: [program] }, async (kubeconfig) => {
      const settings = resolveSettings(takeoverPlanSettings, { flags, env: {} }).values
      await takeoverPlan({ ...settings, flags: { '--kubeconfig': kubeconfig } }, deps)
    })
  } finally {
    await cloud.close()
  }
  return text
}

test('plan is for the namespace that the environment names', async () => {
  const { target } = JSON.parse(await planned({ '--output': 'json' }, { POD_NAMESPACE: 'net' })) as TakeoverPlan
  assert.is(target.namespace, 'net')
})

test('a plan that cannot write its files is not printed, and changes none of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eip-admission-plan-'))
  try {
    const text = await planned({ '--write': folder })
    assert.match(text, /^eip-admission: --write=.*: exists already, .*; name a folder that does not exist yet\n.*\n$/)
    assert.equal(readdirSync(folder), [])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()
