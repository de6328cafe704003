import { test } from 'uvu'
import type { UnknownBehaviour } from '../../../sandbox/clouds/phoenixnap/unknown-behaviour.ts'
import { cloudContract, passwordContract, peeringContract } from '../contract.ts'
import { startStage } from './stage.ts'

// The other answer to every question that nobody outside the vendor can answer.
const otherwise: Partial<UnknownBehaviour> = {
  gone: '404',
  tagFilter: 'or',
  unknownTagFilter: '400',
  unknownTagName: '404',
  overQuota: '400',
  deleteAssigned: '400',
  networkUser: 'public network',
  systemBlocks: 'hidden',
  secondGroup: '400',
  prefixes: 'unassigned',
  otherScopes: 'dropped',
}
for (const { name, unknowns } of [
  { name: 'phoenixNAP', unknowns: {} },
  { name: 'phoenixNAP, if it is otherwise', unknowns: otherwise },
]) {
  const start = () => startStage(unknowns)
  cloudContract(name, start)
  peeringContract(name, start)
  passwordContract(name, start)
}

test.run()
