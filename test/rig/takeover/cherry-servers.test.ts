// `takeover plan`, `apply` and `undo` on a cluster that Cherry Servers' program runs: their promises, while routers
// record the routes.
import { test } from 'uvu'
import { programs } from '../../predecessors/programs.ts'
import { walkByCommands } from './by-commands.ts'
import { titleOf } from './scene.ts'

const program = programs['Cherry main']

test(`${titleOf(program)}: takeover and undo: nothing is bought, dropped or without a way`, () =>
  walkByCommands(program))

test.run()
