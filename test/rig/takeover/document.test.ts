// `takeover` and `undo` where MetalLB is older than 0.13 and reads one ConfigMap. A change of a peer closes its session there too.
import { test } from 'uvu'
import { programs } from '../../predecessors/programs.ts'
import { walkByCommands } from './by-commands.ts'
import { titleOf } from './scene.ts'

const { settings, ...cpem } = programs['CPEM 3.8']
const program = { ...cpem, settings: { ...settings, loadbalancer: 'metallb:///metallb-system/config' } }

test(`${titleOf(program)} in a ConfigMap: takeover and undo: nothing is bought, dropped or without a way`, () =>
  walkByCommands(program, { metallb: '0.11.0' }))

test.run()
