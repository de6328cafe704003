import { readFileSync } from 'node:fs'

/** Linux counts a process's time in hundredths of a second, whatever the machine. */
const msPerTick = 10

/** The CPU time of a process so far. */
export function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets, which may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * msPerTick
}

/** The memory of a process: all that is resident, and the part that is not of a file. */
export function memoryMiB(pid: number): { resident: number; own: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024
  return { resident: of('VmRSS'), own: of('RssAnon') }
}
