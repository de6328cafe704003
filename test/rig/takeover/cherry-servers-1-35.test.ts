// `takeover plan`, `apply` and `undo` on a cluster that Cherry Servers' program of 2025 runs: their promises, while
// routers record the routes.
import { test } from 'uvu'
import { programs } from '../../predecessors/programs.ts'
import { walkByCommands } from './by-commands.ts'
import { titleOf } from './scene.ts'

const program = programs['Cherry 1.35.2']

test(`${titleOf(program)}: takeover and undo: nothing is bought, dropped or without a way`, () =>
  // Its peers name no source, and all machines of the rig share one network: a second machine would use the first one's
  // source.
  walkByCommands(program, { machines: ['node-a'] }))

test.run()
