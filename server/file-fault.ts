const fileFaults: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this process',
  EISDIR: 'is a directory',
}

/** Why a file could not be read, in words that follow its name. */
export function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  return fileFaults[code] ?? `cannot be read (${code})`
}
