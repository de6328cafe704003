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

test.run()
