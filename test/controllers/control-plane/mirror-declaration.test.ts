import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leftMirrorController } from '../../../controllers/control-plane/mirror-declaration.ts'
import type { Dependencies } from '../../../controllers/dependencies.ts'
import { makeContext } from '../../commands/doctor/context.ts'
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

test.run()
