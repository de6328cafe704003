// `takeover` and `undo` with a MetalLB before 0.13, which reads a ConfigMap. There, too, a change to a peer closes its
// session.
import { test } from 'uvu'
import { programs } from '../../predecessors/programs.ts'
import { walkByCommands } from './by-commands.ts'
import { titleOf } from './scene.ts'

const { settings, ...cpem } = programs['CPEM 3.8']
const program = { ...cpem, settings: { ...settings, loadbalancer: 'metallb:///metallb-system/config' } }

test(`${titleOf(program)} in a ConfigMap: takeover and undo: nothing is bought, dropped or without a way`, () =>
  walkByCommands(program, { metallb: '0.11.0' }))

test.run()
