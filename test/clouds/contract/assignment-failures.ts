import * as assert from 'uvu/assert'
import { neverAborted } from '../scripted-server.ts'
import { machinesOf, move, room, writes } from './assignments.ts'
import { type AssignmentStage, type On, refusalOf } from './stage.ts'

/** The state that a failed move leaves behind, and a test that the next one continues there. */
export function assignmentFailureRules(on: On<AssignmentStage>): void {
  permission(on)
  between(on)
  losing(on)
  refusing(on)
}

function permission(on: On<AssignmentStage>): void {
  on('a process that may not write does not write', async (stage) => {
    const { id, address, one, two } = await room(stage)
    for (const before of [undefined, one]) {
      if (before !== undefined) await stage.machines.lend(before, address)
      stage.control.calls.clear()
      const error = await refusalOf(
        stage,
        move(stage, { id, machine: two, marks: {} }, () => false),
      )
      assert.equal([error.fault, error.outcome], ['conflict', 'nothing'])
      assert.match(error.message, 'this process may no longer move the address')
      assert.is(writes(stage), 0)
      assert.equal(await machinesOf(stage, id), before === undefined ? [] : [before])
    }
  })

  on('a process asks before each write, and after the last permitted one it says what it left', async (stage) => {
    const { id, address, one, two } = await room(stage)
    for (let permitted = 1; permitted < stage.writesOfMove; permitted++) {
      stage.control.reservations.assign(id, one)
      stage.control.calls.clear()
      let asked = 0
      const error = await refusalOf(
        stage,
        move(stage, { id, machine: two, marks: {} }, () => ++asked <= permitted),
      )
      assert.equal([asked, writes(stage)], [permitted + 1, permitted])
      const isTaken = !stage.isTriedFirst || permitted > 1
      assert.equal([error.fault, error.outcome], ['conflict', isTaken ? 'unknown' : 'nothing'])
      if (isTaken) assert.match(error.message, `address ${address} was taken from machine ${one}`)
      assert.equal(await machinesOf(stage, id), isTaken ? [] : [one])
    }
    await move(stage, { id, machine: two, marks: {} })
    assert.equal(await machinesOf(stage, id), [two])
  })
}

function between(on: On<AssignmentStage>): void {
  for (const nth of [1, 2])
    on(
      `an address that a person moves before write ${nth} is on one machine, and the next move decides`,
      async (stage) => {
        const { id, one, two, three } = await room(stage)
        await move(stage, { id, machine: one, marks: {} })
        let asked = 0
        const mayWrite = () => {
          if (++asked === nth) stage.control.reservations.assign(id, three)
          return true
        }
        const failed = await move(stage, { id, machine: two, marks: {} }, mayWrite).catch((error: unknown) => error)
        const now = await machinesOf(stage, id)
        assert.is(now?.length, 1)
        if (nth <= stage.writesOfMove && stage.writesOfMove > 1 && !(stage.isTriedFirst && nth > 1)) {
          assert.equal(now, [three])
          assert.match(String(failed), `was assigned to machine ${three} in between`)
        }
        await move(stage, { id, machine: two, marks: {} })
        assert.equal(await machinesOf(stage, id), [two])
      },
    )

  on('an address that another process moves there first is there', async (stage) => {
    const { id, one, two } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    const mayWrite = () => {
      stage.control.reservations.assign(id, two)
      return true
    }
    await move(stage, { id, machine: two, marks: {} }, mayWrite)
    assert.equal(await machinesOf(stage, id), [two])
  })

  on('a reservation that goes in between is never assigned', async (stage) => {
    const { id, one, two } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    let asked = 0
    const mayWrite = () => {
      if (++asked === 1) stage.control.reservations.vanish(id)
      return true
    }
    const error = await refusalOf(stage, move(stage, { id, machine: two, marks: {} }, mayWrite))
    assert.is(error.fault, 'invalid')
    assert.is(await machinesOf(stage, id), undefined)
  })
}

function losing(on: On<AssignmentStage>): void {
  for (const done of [true, false])
    for (const answer of ['reset', 500] as const)
      on(
        `every write that gets ${answer}${done ? ' after it was carried out' : ''} can be followed by another move`,
        async (stage) => {
          const { id, one, two } = await room(stage)
          await move(stage, { id, machine: one, marks: {} })
          for (const route of stage.moveRoutes) {
            stage.control.reservations.assign(id, one)
            stage.control.faults.add({ on: route, answer, done, times: 1 })
            const error = await refusalOf(stage, move(stage, { id, machine: two, marks: {} }))
            assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
            assert.ok(((await machinesOf(stage, id))?.length ?? 2) <= 1)
            await move(stage, { id, machine: two, marks: {} })
            assert.equal(await machinesOf(stage, id), [two])
          }
        },
      )

  on('a write without an answer ends in time, though other calls hang', async (stage) => {
    const { id, one, two } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    for (const on of [stage.routes.list, stage.routes.reserve, ...stage.moveRoutes])
      stage.control.faults.add({ on, answer: 'hang' })
    const later = new AbortController()
    const marks = {}
    const { cloud, location } = stage
    let ended = 0
    const others = Array.from({ length: 8 }, (_, n) =>
      n % 2 ? cloud.reservations(marks, later.signal) : cloud.reserve({ location, marks }, later.signal),
    ).map((call) => call.catch(() => void (ended += 1)))
    const error = await refusalOf(stage, move(stage, { id, machine: two, marks: {} }))
    assert.is(ended, 0, 'the move does not wait for calls that hang for longer')
    later.abort()
    assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
    await Promise.all(others)
  })

  on('a caller who stops waiting before a write gets no write', async (stage) => {
    const { id, one } = await room(stage)
    const stop = new AbortController()
    const writeMs = () => {
      stop.abort(new Error('enough'))
      return 2_000
    }
    const work = stage.cloud.assignments.move({ id, machine: one, marks: {} }, { signal: stop.signal, writeMs })
    assert.is((await refusalOf(stage, work)).outcome, 'nothing')
    assert.equal(await machinesOf(stage, id), [])
  })
}

function refusing(on: On<AssignmentStage>): void {
  on('a machine that does not exist gets no address', async (stage) => {
    const { id, one } = await room(stage)
    stage.machines.remove(one)
    const error = await refusalOf(stage, move(stage, { id, machine: one, marks: {} }))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, new RegExp(`(machine|server) ${one}`))
    assert.equal(await machinesOf(stage, id), [])
  })

  on('a machine in another place gets no address, and the person who reads it learns what to check', async (stage) => {
    const { id } = await room(stage)
    const machine = stage.addElsewhere?.('far')
    if (machine === undefined) return
    const error = await refusalOf(stage, move(stage, { id, machine, marks: {} }))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, 'check that')
    assert.equal(await machinesOf(stage, id), [])
  })

  on('a key that may only read moves nothing', async (stage) => {
    const { id, one, two } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    const work = stage.withReadOnlyKey.assignments.move(
      { id, machine: two, marks: {} },
      { signal: neverAborted, writeMs: () => 2_000 },
    )
    const error = await refusalOf(stage, work)
    assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
    assert.equal(await machinesOf(stage, id), [one])
  })

  on('a rate limit that passes is waited for', async (stage) => {
    const { id, one, two } = await room(stage)
    await move(stage, { id, machine: one, marks: {} })
    for (const on of stage.moveRoutes) stage.control.faults.add({ on, answer: 429, times: 1, retryAfterSeconds: 0.05 })
    await move(stage, { id, machine: two, marks: {} })
    assert.equal(await machinesOf(stage, id), [two])
  })
}
