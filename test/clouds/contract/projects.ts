import * as assert from 'uvu/assert'
import { neverAborted } from '../scripted-server.ts'
import { marks } from './reserve.ts'
import { type On, type ProjectStage, refusalOf } from './stage.ts'

/** Duties of a cloud whose keys may use several projects: an id alone names an address in any of them. */
export function projectRules(on: On<ProjectStage>): void {
  on('an address of another project, which the key may change too, is refused and stays as it is', async (stage) => {
    const { cloud, inOtherProject, location, control } = stage
    const reservation = await inOtherProject.reserve({ location, marks }, neverAborted)
    const { id } = reservation
    const machine = stage.machines.add('node-1')
    control.calls.clear()
    const options = { signal: neverAborted, writeMs: () => 5_000 }
    const calls = [
      () => cloud.reservation(id, neverAborted),
      () => cloud.mark({ id, marks }, { service: 'other==' }, neverAborted),
      () => cloud.release({ id, marks }, neverAborted),
      () => cloud.assignments.assignedAddress(id, neverAborted),
      () => cloud.assignments.move({ id, marks, machine }, options),
    ]
    for (const call of calls) {
      const error = await refusalOf(stage, call())
      assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
      assert.match(error.message, `${id} is a reservation of project`)
    }
    assert.is(control.calls.all().filter(({ method }) => method !== 'GET').length, 0)
    assert.equal(await inOtherProject.reservation(id, neverAborted), reservation)
  })
}
