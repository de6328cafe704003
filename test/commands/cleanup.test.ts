import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cleanup } from '../../commands/cleanup.ts'
import { withCluster } from '../kube/scripted-cluster.ts'

/** What cleanup prints about a cluster. */
async function printed(of: { kubeconfig: string; yes: boolean; env?: Record<string, string> }): Promise<string> {
  const { env = {}, ...settings } = of
  let output = ''
  const print = (text: string) => void (output += text)
  const { signal } = new AbortController()
  await cleanup(settings, { env, version: 'test', print, signal, endAtOnce: () => {} })
  return output
}

test('the commands that cleanup prints are for the cluster of its kubeconfig', () =>
  withCluster({}, async (kubeconfig) => {
    const planned = await printed({ kubeconfig, yes: false })
    assert.match(planned, `run \`eip-admission cleanup --kubeconfig=${kubeconfig} --yes\`.`)
    assert.match(planned, 'first stop every `eip-admission serve`')
    const done = await printed({ kubeconfig, yes: true })
    assert.match(
      done,
      `\`kubectl --kubeconfig=${kubeconfig} delete customresourcedefinition elasticips.eip-admission.dev\``,
    )
    const here = await printed({ kubeconfig, yes: false, env: { KUBECONFIG: kubeconfig } })
    assert.match(here, 'run `eip-admission cleanup --yes`.')
  }))

test.run()
