import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Linux counts a process's time in hundredths of a second, whatever the machine. */
const msPerTick = 10

/** The CPU time of a process so far. */
export function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets, which may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * msPerTick
}

export type Memory = { resident: number; own: number }

/** The memory of a process: all that is resident, and the part that is not backed by a file. */
export function memoryMiB(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024
  return { resident: of('VmRSS'), own: of('RssAnon') }
}

/** The memory of Node when it runs nothing. */
export async function bareNode(program = process.execPath, flags: string[] = []): Promise<Memory> {
  const node = spawn(program, [...flags, '-e', 'setInterval(() => {}, 1000)'])
  await sleep(2000)
  const memory = memoryMiB(node.pid ?? 0)
  node.kill()
  await once(node, 'close')
  return memory
}
