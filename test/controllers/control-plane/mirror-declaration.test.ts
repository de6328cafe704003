import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leftMirrorController, mirrorServiceController } from '../../../controllers/control-plane/mirror-declaration.ts'
import type { Dependencies } from '../../../controllers/dependencies.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Key } from '../../../kube/objects.ts'
import type { Watcher } from '../../../kube/watch.ts'
import { makeContext } from '../../commands/doctor/context.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

const settings: [what: string, env: Record<string, string>, isLeft: boolean][] = [
  ['nothing', {}, true],
  ['a control-plane address', { METAL_EIP_TAG: 'cp' }, false],
  ['a load balancer', { METAL_LOAD_BALANCER_ID: 'lb-1', METAL_LOAD_BALANCER: 'emlb:///da' }, false],
  ['a load balancer that has no effect', { METAL_LOAD_BALANCER_ID: 'lb-1' }, true],
]
for (const [what, env, isLeft] of settings)
  test(`the settings name ${what}: ${isLeft ? 'nobody keeps' : 'guardians keep'} the mirror Service`, () => {
    const caches = {} as Dependencies['caches']
    const left = leftMirrorController({ caches, vendor: makeContext({ env }).vendor, log: recordedLog() })
    assert.is(left.length, isLeft ? 1 : 0)
  })

for (const [what, source] of [
  ['another control-plane address', 'address'],
  ['an API server that fails or is well again', 'failing'],
] as const)
  test(`${what} is written into the mirror Service at once`, () => {
    const listeners: Record<string, () => void> = {}
    const sourceOf = (name: string) => ({ onChange: (listener: () => void) => void (listeners[name] = listener) })
    const { watches = [] } = mirrorServiceController({
      client: apiServer().client as KubeClient & Watcher,
      log: recordedLog(),
      events: { record() {} },
      service: 'kube-system/external',
      address: { ...sourceOf('address'), current: () => undefined },
      port: undefined,
      failing: { ...sourceOf('failing'), has: () => false },
    })
    const woken: [Key, delayMs: number][] = []
    for (const subscribe of watches) subscribe((...key) => void woken.push(key))
    listeners[source]?.()
    assert.equal(woken, [['kube-system/external', 0]])
  })

test.run()
