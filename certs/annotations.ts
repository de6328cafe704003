import type { Annotation } from '../lib/annotation.ts'
import { signingSince } from './authority-secret.ts'

/** Our annotations of the Secret with our certificate authority. */
export const secretAnnotations: readonly Annotation[] = [
  {
    name: signingSince,
    on: 'Secret',
    writers: ['eip-admission'],
    values: 'a time (RFC 3339)',
    sentence:
      'When the current certificate authority began to sign. Older authorities are trusted for a while after it.',
  },
]
