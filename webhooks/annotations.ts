import type { Annotation, WrittenName } from '../lib/annotation.ts'
import { answerProbe } from './identities.ts'
import { probeAnnotation } from './probe.ts'

/** The annotation of the object by which we probe our own webhooks. */
export const probeAnnotations: readonly Annotation[] = [
  {
    name: probeAnnotation,
    on: 'ConfigMap',
    writers: ['eip-admission'],
    values: 'the name of a replica',
    sentence: 'The answer to a dry run by which eip-admission checks that the API server calls it. It is never stored.',
  },
]

/** Its label. */
export const probeLabels: readonly WrittenName[] = [
  { name: answerProbe.label, on: 'ConfigMap', sentence: 'Marks that dry run, so that no other object is reviewed.' },
]
