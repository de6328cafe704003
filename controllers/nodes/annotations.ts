import type { Annotation } from '../../lib/annotation.ts'
import { providedIps } from './node-ips.ts'

/** Annotations of nodes that we read, in every dialect. */
export const nodeAnnotations: readonly Annotation[] = [
  {
    name: providedIps,
    on: 'Node',
    writers: ['kubelet'],
    values: 'one or two IP addresses, separated by a comma',
    default: 'the addresses of the machine',
    sentence: 'The addresses of `--node-ip` of the kubelet. They become the first addresses of the node.',
  },
]
