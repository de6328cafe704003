import type { KubeObject } from '../kube/objects.ts'
import { allow, patch, type Webhook } from './webhook.ts'
import { answerProbe } from './identities.ts'

/** The mark of our answer on a probe. Without it, the API server did not reach us or did not use our answer. */
export const probeAnnotation = 'eip-admission.dev/probe-answered-by'

/** Answers the objects with which we check that the API server still calls our webhooks. They are never stored. */
export function probe({ identity }: { identity: string }): Webhook {
  return {
    ...answerProbe,
    decide({ object }) {
      if (object?.metadata.labels?.[answerProbe.label] === undefined) return allow()
      const annotations = { ...object.metadata.annotations, [probeAnnotation]: identity }
      return patch([{ op: 'add', path: '/metadata/annotations', value: annotations }])
    },
  }
}

/** Whether a webhook has added its answer to a probe. */
export function isAnswered({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[probeAnnotation] !== undefined
}
