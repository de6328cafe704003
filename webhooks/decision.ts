/** One RFC 6902 operation. */
export type Operation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string }

/**
 * What a webhook answers. A denial is for a person to read: `mistake` when the object is wrong as it is, `refusal` when
 * it is right but may not be. A broken dependency is neither; it throws.
 */
export type Decision =
  | { verdict: 'allow'; warnings?: string[] }
  | { verdict: 'deny'; because: 'mistake' | 'refusal'; reason: string }
  | { verdict: 'patch'; patch: Operation[]; warnings?: string[] }

/** Lets the object pass as it is. */
export function allow(warnings: string[] = []): Decision {
  return { verdict: 'allow', warnings }
}

/** Refuses an object whose author can mend it. */
export function mistake(reason: string): Decision {
  return { verdict: 'deny', because: 'mistake', reason }
}

/** Refuses an object for reasons outside it. */
export function refuse(reason: string): Decision {
  return { verdict: 'deny', because: 'refusal', reason }
}

/** Lets the object pass with changes, or as it is where nothing has to change. */
export function patch(operations: Operation[], warnings: string[] = []): Decision {
  return operations.length > 0 ? { verdict: 'patch', patch: operations, warnings } : allow(warnings)
}
