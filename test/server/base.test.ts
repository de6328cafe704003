import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { services } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { withServer } from '../kube/scripted-server.ts'
import { baseWith, kubeconfigs, quietServer } from './quiet-server.ts'

const kubeconfig = kubeconfigs()
const { cloud, project, token } = await dialects['cherry-servers'].open()
const { signal } = new AbortController()

test('the calls of a process to its API server and to its cloud are counted', () =>
  withServer(quietServer().respond, async ({ url }) => {
    const { client, vendor, metrics } = await baseWith({
      flags: { '--cloud-provider': 'cherryservers', '--kubeconfig': kubeconfig.for(url), '--base-url': cloud.url },
      env: { CHERRY_API_KEY: token, CHERRY_PROJECT_ID: project },
      signal,
    })
    await client.list(services)
    await vendor.cloud.reservations({}, signal)
    const text = await metrics.text()
    assert.match(text, 'eip_admission_api_server_call_duration_seconds_count{method="GET",result="ok"} 1')
    assert.match(text, /^eip_admission_cloud_call_duration_seconds_count\{call=".+",result="200"\} 1$/m)
  }))

test.after(async () => {
  await cloud.close()
  kubeconfig.remove()
})

test.run()
