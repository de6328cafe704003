// Work as on any day, and processes that end: which alerts fire on what the processes really showed.
import { test } from 'uvu'
import { freePorts } from '../../../sandbox/ports.ts'
import { runProduct } from '../../../sandbox/product.ts'
import { roundRobin } from '../round-robin.ts'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const ports = await freePorts(4)
// As a Service does: a replica that goes takes no reviews with it.
const service = await roundRobin(ports)
const url = `--webhook-url=https://127.0.0.1:${service.port}`
await runProduct(['install', `--kubeconfig=${stage.controlPlane.kubeconfig}`, url])
const onPort = (n: number) => [`--webhook-secure-port=${ports[n]}`, '--shutdown-delay-duration=1s']

test(
  'an hour of work with a rolling update in it fires nothing',
  inHours(stage, async ({ start, end, pass, expect }) => {
    await start('a', onPort(0))
    await start('b', onPort(1))
    await pass(20)
    for (const [n, fresh] of ['c', 'd'].entries()) {
      await start(fresh, onPort(2 + n))
      await pass(1, { sweeps: false })
      await end(n === 0 ? 'a' : 'b')
      await pass(1, { sweeps: false })
    }
    await pass(40)
    await expect([])
  }),
)

test(
  'a replica that is killed again and again',
  inHours(stage, async ({ start, end, pass, expect }) => {
    await start('a', onPort(0))
    for (let n = 0; n < 4; n += 1) {
      await start('b', onPort(1))
      await pass(5)
      await end('b', 'SIGKILL')
      await pass(1, { sweeps: false })
    }
    await start('b', onPort(1))
    await pass(5)
    await expect(['EIPAdmissionRestarts'])
  }),
)

test(
  'no process that runs',
  inHours(stage, async ({ start, end, pass, expect }) => {
    await start('a', onPort(0))
    await pass(10)
    await end('a')
    await pass(20, { load: false, sweeps: false })
    await expect(['EIPAdmissionDown'])
  }),
)

test(
  'no replica that leads',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', [...onPort(0), '--only=webhooks'])
    await pass(15, { load: false, sweeps: false })
    await expect(['EIPAdmissionNoLeader'])
  }),
)

test.after(() => stage.close(service))

test.run()
