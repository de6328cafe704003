// `takeover plan`, `apply` and `undo` on a cluster that Cherry Servers' program of 2025 runs: what they promise, with routers that look on.
import { test } from 'uvu'
import { programs } from '../../predecessors/programs.ts'
import { walkByCommands } from './by-commands.ts'
import { titleOf } from './scene.ts'

const program = programs['Cherry 1.35.2']

test(`${titleOf(program)}: takeover and undo: nothing is bought, dropped or without a way`, () =>
  // Its peers name no source, and all machines of the rig share one network: a second one would have the source of the first.
  walkByCommands(program, { machines: ['node-a'] }))

test.run()
