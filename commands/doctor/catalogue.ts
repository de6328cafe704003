import type { Check } from './check.ts'
import { doubledAddresses, orphanedRecords, pendingAddresses, shownAddressesHeld } from './checks/addresses.ts'
import { servedClasses, softwareChecks } from './checks/announcers.ts'
import { answeringNodes, assignedAddresses } from './checks/assigned.ts'
import { announcerConfiguration, loadBalancingOff, silentAnnouncer } from './checks/announcing.ts'
import { apiServerFlags, apiServerVersion, clock } from './checks/api-server.ts'
import { bgpPeers, bgpSessions, oneSpeaker } from './checks/bgp.ts'
import { addressLimits, cloudAccess, cloudPace, clusterId, location, project, recentErrors } from './checks/cloud.ts'
import { controlPlaneHolder, controlPlaneReservation, mirrorService } from './checks/control-plane.ts'
import { nodeMachines, providerIds, sharedMachines, uninitializedNodes } from './checks/nodes.ts'
import { guardianLease, leader, otherCloudControllers, runningPredecessor } from './checks/other-programs.ts'
import { leakedReservations } from './checks/reservations.ts'
import { roles } from './checks/rights.ts'
import { settingsWithoutEffect } from './checks/settings.ts'
import {
  caBundle,
  elasticIPFields,
  servingCertificate,
  webhookConfigurations,
  reviewedClasses,
  webhooksReached,
} from './checks/webhooks.ts'

/** Every check, with a line for each section. */
export const catalogue: readonly Check[] = [
  [apiServerVersion, apiServerFlags, clock],
  [webhookConfigurations, reviewedClasses, webhooksReached, caBundle, servingCertificate, elasticIPFields],
  [cloudAccess, cloudPace, location, clusterId, project, addressLimits, recentErrors],
  [providerIds, sharedMachines, uninitializedNodes, nodeMachines, bgpPeers, bgpSessions, oneSpeaker],
  [doubledAddresses, shownAddressesHeld, leakedReservations, orphanedRecords, pendingAddresses],
  [
    assignedAddresses,
    answeringNodes,
    ...softwareChecks,
    announcerConfiguration,
    silentAnnouncer,
    servedClasses,
    loadBalancingOff,
  ],
  [runningPredecessor, otherCloudControllers, leader],
  [roles],
  [settingsWithoutEffect],
  [controlPlaneReservation, controlPlaneHolder, mirrorService, guardianLease],
].flat()
