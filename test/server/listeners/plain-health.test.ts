import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openPlainHealth } from '../../../server/serve-control-plane.ts'
import { silentLog } from '../../fakes/log.ts'
import { freePorts } from '../../../sandbox/ports.ts'

test('health and metrics are served over plain HTTP, and nothing else', async () => {
  let problem: string | undefined
  const [port = 0] = await freePorts(1)
  const health = await openPlainHealth(
    { host: '127.0.0.1', port },
    {
      live: [{ name: 'watch', problem: () => undefined }],
      ready: [{ name: 'synced', problem: () => problem }],
      details: [{ name: 'control-plane-address', problem: () => 'somebody must look' }],
      metrics: async () => 'metrics 1\n',
      log: silentLog,
    },
  )
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    return [answer.status, await answer.text()]
  }
  try {
    assert.equal(await ask('/livez'), [200, '[+] watch ok\nok\n'])
    assert.equal(await ask('/readyz?verbose'), [
      200,
      '[+] synced ok\n[!] control-plane-address: somebody must look\nok\n',
    ])
    problem = 'no list yet'
    assert.equal((await ask('/readyz'))[0], 503)
    assert.equal(await ask('/readyz/synced'), [503, '[-] synced: no list yet\nnot ok\n'])
    assert.equal(await ask('/livez/watch?verbose'), [200, '[+] watch ok\nok\n'])
    // Alone, a detail is a check like any other.
    assert.equal((await ask('/readyz/control-plane-address'))[0], 503)
    assert.equal((await ask('/livez/synced'))[0], 404)
    assert.equal(await ask('/metrics'), [200, 'metrics 1\n'])
    assert.equal(await ask('/livez', 'HEAD'), [200, ''])
    for (const [path, method] of [
      ['/', 'GET'],
      ['/livez', 'POST'],
      ['//', 'GET'],
      ['/../metrics', 'PUT'],
    ] as const)
      assert.equal(await ask(path, method), [404, 'not found\n'])
  } finally {
    await health.close()
  }
})

test.run()
