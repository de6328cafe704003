import type { MoveOccurrence, Subject } from '../../controllers/control-plane/move-report.ts'
import { splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import type { Base } from '../base.ts'
import type { ControlPlaneCaches } from './node-caches.ts'

/** Records Events about control-plane nodes and the mirror Service, if they exist. */
export function subjectEvents(
  { client, events, vendor, log }: Pick<Base, 'client' | 'events' | 'vendor' | 'log'>,
  caches: Pick<ControlPlaneCaches, 'nodes'>,
): (subject: Subject, occurrence: MoveOccurrence) => void {
  const recorder = events.of('control-plane')
  const onService = async (occurrence: MoveOccurrence) => {
    try {
      const service = await client.get(services, splitKey(vendor.policy.controlPlaneService))
      if (service) recorder.record(service, occurrence)
    } catch (error) {
      log.debug({ error: String(error) }, 'no Event about the mirror Service: it could not be read')
    }
  }
  return (subject, occurrence) => {
    if (subject === 'mirror-service') return void onService(occurrence)
    const node = caches.nodes().find(({ metadata }) => metadata.name === subject.node)
    if (node) recorder.record(node, occurrence)
  }
}
