export type AnnotationWriter = 'eip-admission' | 'kubelet' | 'operator' | 'predecessor' | 'user'

/** An annotation, as the code uses it and as docs/reference/annotations.md describes it. */
export type Annotation = {
  name: string
  /** The kind of object that carries it. */
  on:
    | 'BGPConfiguration'
    | 'BGPPeer'
    | 'CiliumBGPPeerConfig'
    | 'ConfigMap'
    | 'Deployment'
    | 'ElasticIP'
    | 'Lease'
    | 'Node'
    | 'Secret'
    | 'Service'
  writers: readonly AnnotationWriter[]
  /** The values that it may have, in Markdown. A list is exhaustive: a Service with any other value is refused. */
  values: string | readonly string[]
  /** The effect of its absence, in Markdown; left out if there is none. */
  default?: string
  sentence: string
}

/** A label or a finalizer that we write. */
export type WrittenName = { name: string; on: string; sentence: string }
