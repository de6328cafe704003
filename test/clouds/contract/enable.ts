import type { Password, ProjectPeering } from '../../../clouds/ports/peering.ts'
import { neverAborted } from '../scripted-server.ts'
import type { PeeringStage } from './stage.ts'

export const asn = 65_000

const hidden = (text: string): Password => ({ reveal: () => text })
const found = (one: ProjectPeering | undefined) => one && { ...one, password: one.password?.reveal() }

export const enable = ({ cloud }: PeeringStage, password?: string) =>
  cloud.peering.enable({ asn, password: password === undefined ? undefined : hidden(password) }, neverAborted)
/** The number of the project once its machines speak BGP. */
export const asnOf = ({ peering }: PeeringStage) => peering.chosenAsn ?? asn
export const project = async ({ cloud }: PeeringStage) => found(await cloud.peering.project(neverAborted))
export const enableOn = ({ cloud }: PeeringStage, id: string) => cloud.peering.enableOn(id, neverAborted)
export const peers = ({ cloud }: PeeringStage, id: string) => cloud.peering.peers(id, neverAborted)
export const machines = ({ cloud }: PeeringStage) => cloud.peering.machines(neverAborted)
