import type { Annotation, WrittenName } from '../../lib/annotation.ts'
import { stoppedLabel } from '../../settings/installed-names.ts'

/** Set to `true` on a predecessor's workload, it confirms that the workload's manager is suspended. */
export const suspendedAnnotation = 'eip-admission.dev/manager-suspended'

/** The annotations of a takeover. */
export const takeoverAnnotations: readonly Annotation[] = [
  {
    name: suspendedAnnotation,
    on: 'Deployment',
    writers: ['operator'],
    values: '`true`',
    sentence:
      'On a workload that `takeover` stops, also on a DaemonSet: Argo CD, Flux or its owner is suspended and will not start it again meanwhile.',
  },
]

/** The labels of a takeover. */
export const takeoverLabels: readonly WrittenName[] = [
  {
    name: stoppedLabel,
    on: 'DaemonSet',
    sentence:
      'In a node selector: the DaemonSet runs on no node, because no node has this label. `takeover` stopped it, or the chart has `replicas: 0`.',
  },
]
