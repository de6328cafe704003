import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runPlugin } from '../../kubectl-eip/program.ts'
import { makeRecord } from '../builders.ts'
import { withCluster } from '../kube/scripted-cluster.ts'

/** The output of a command line. */
async function printed(...args: string[]): Promise<string> {
  let output = ''
  const print = (text: string) => void (output += text)
  await runPlugin(args, { version: 'test', print, printError: print, ask: undefined })
  return output
}

test('the commands that a person shall type are for the cluster that the person means', () =>
  withCluster({}, async (file) => {
    const here = `--kubeconfig=${file}`
    assert.match(await printed('release', 'gone', here), `list all with \`kubectl eip list ${here} -A\``)
    const there = ['--context', 'elsewhere']
    assert.match(
      await printed('release', 'gone', here, ...there),
      `list all with \`kubectl eip list ${here} --context=elsewhere -A\``,
    )
    assert.match(await printed('status', here), `run \`eip-admission doctor ${here}\``)
  }))

test('what is stored is printed as it is', () => {
  const record = makeRecord({ message: 'wait; or run `kubectl get nodes`' })
  return withCluster({ elasticips: [record] }, async (file) => {
    const { items } = JSON.parse(await printed('list', '-A', '-o', 'json', `--kubeconfig=${file}`)) as {
      items: object[]
    }
    assert.equal(items, [record])
  })
})

test('the help of each command has examples', async () => {
  for (const command of ['adopt', 'doctor', 'list', 'move', 'release', 'status', 'why'])
    assert.match(await printed(command, '--help'), new RegExp(`^Examples:\n  kubectl eip ${command}`, 'm'), command)
  assert.match(await printed('--help'), /^Exit codes:$/m)
})

test('the leader is judged by the clock of the API server', () => {
  const aheadMs = -300_000
  const renewTime = new Date(Date.now() + aheadMs).toISOString()
  const lease = {
    metadata: { name: 'cloud-controller-manager', namespace: 'kube-system' },
    spec: { holderIdentity: 'node-a_0123456789ab', renewTime, leaseDurationSeconds: 6 },
  }
  return withCluster(
    { 'cloud-controller-manager': lease },
    async (file) => assert.match(await printed('status', `--kubeconfig=${file}`), /leader .*, lease renewed \ds ago/),
    { aheadMs },
  )
})

test('adopt refuses a list of namespaces in one word, which no Service could be in', async () => {
  assert.match(await printed('adopt', '17', '--allow', 'shop,till'), 'This is not a valid name of a namespace.')
})

test('a flag is completed with its own values, and with nothing where only the person knows them', () => {
  const record = makeRecord({})
  return withCluster({ elasticips: [record], namespaces: [{ metadata: { name: 'shop' } }] }, async (file) => {
    const offers = (...words: string[]) => printed('__complete', ...words)
    const here = `--kubeconfig=${file}`
    assert.is(await offers('release', here, ''), `${record.metadata.name}\n:4\n`)
    assert.is(await offers('release', here, '--timeout', ''), ':4\n')
    assert.is(await offers('release', here, '-n', ''), 'shop\n:4\n')
    assert.is(await offers('release', '--kubeconfig', ''), ':0\n')
    assert.is(await offers('doctor', '-o', ''), 'text\njson\n:4\n')
  })
})

test.run()
