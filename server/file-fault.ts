const fileFaults: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: this process has no permission',
  EISDIR: 'is a directory',
}

/** Why a file could not be read, to print after the name of the file. */
export function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  return fileFaults[code] ?? `cannot be read (${code})`
}
