import type { WebhookConfiguration } from '../../kube/objects.ts'

/** The secret first segments of the webhooks' paths. All of them are accepted. */
export type PathSegments = {
  /** The one that belongs into the webhook configurations. */
  current: string
  /** Accepted by every replica before it belongs there. */
  next: string | undefined
  /** Accepted until no API server uses it any more. */
  previous: string | undefined
  /** When the last step was taken. */
  sinceMs: number
}

export type RotationPace = {
  /** How often each replica reads the segments. */
  checkMs: number
  /** How long a segment is in use before the next one is published. */
  rotateAfterMs: number
  /** How long the next segment is published before it is used: every replica has read it by then. */
  publishMs: number
  /** How long the previous segment is accepted: API servers learn of new configurations by a watch. */
  retireAfterMs: number
}

/** The segments after the step that is due now; undefined if none is. */
export function planSegments(
  segments: PathSegments,
  facts: { nowMs: number; pace: RotationPace; areConfigured: boolean; newSegment: () => string },
): PathSegments | undefined {
  const { nowMs, pace, areConfigured } = facts
  const { current, next, previous } = segments
  const ageMs = nowMs - segments.sinceMs
  if (previous !== undefined) {
    if (!areConfigured || ageMs < pace.retireAfterMs) return undefined
    return { ...segments, previous: undefined, sinceMs: nowMs }
  }
  if (next !== undefined) {
    if (ageMs < pace.publishMs) return undefined
    return { current: next, next: undefined, previous: current, sinceMs: nowMs }
  }
  if (ageMs < pace.rotateAfterMs) return undefined
  return { ...segments, next: facts.newSegment(), sinceMs: nowMs }
}

/**
 * The JSON Patch for webhooks whose path begins with another segment; empty if none does. It contains the
 * resourceVersion and so fails if the configuration has changed meanwhile: only then can it name webhooks by their index.
 */
export function segmentPatch(stored: WebhookConfiguration | undefined, segment: string): object[] {
  const changes = (stored?.webhooks ?? []).flatMap(({ clientConfig: { service, url } }, index) => {
    const at = `/webhooks/${index}/clientConfig`
    const place = service ? { path: `${at}/service/path`, value: service.path } : { path: `${at}/url`, value: url }
    const wanted = place.value?.replace(firstSegment, `$<before>${segment}/`)
    return wanted === undefined || wanted === place.value ? [] : [{ op: 'replace', path: place.path, value: wanted }]
  })
  if (changes.length === 0) return []
  return [{ op: 'replace', path: '/metadata/resourceVersion', value: stored?.metadata.resourceVersion }, ...changes]
}

/** The first segment of a path, or of the path of a URL. */
const firstSegment = /^(?<before>(?:https?:\/\/[^/]+)?\/)[^/]+\//
