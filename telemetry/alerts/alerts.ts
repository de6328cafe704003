import { addressAlerts } from './addresses.ts'
import { admissionAlerts } from './admission.ts'
import type { AlertGroup } from './alert.ts'
import { certificateAlerts } from './certificates.ts'
import { cloudAlerts } from './cloud.ts'
import { controlPlaneAlerts } from './control-plane.ts'
import { processAlerts } from './process.ts'

/** Every alert, in the order in which the reference lists them. */
export const alertGroups: AlertGroup[] = [
  addressAlerts,
  admissionAlerts,
  cloudAlerts,
  processAlerts,
  certificateAlerts,
  controlPlaneAlerts,
]
