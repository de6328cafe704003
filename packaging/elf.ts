// Reads and strips Linux programs, so that an image for another architecture needs none of its tools.
import { readFileSync } from 'node:fs'

/** A part of the file that the kernel or the loader reads. */
type Segment = { type: number; offset: number; address: number; size: number }

const load = 1
const dynamic = 2
const interpreter = 3
const neededTag = 1n
const stringsTag = 5n

/** The loader of a program, if it is one, and the libraries that the file names. */
export function linksOf(file: string): { loader: string | undefined; libraries: string[] } {
  const bytes = readFileSync(file)
  const segments = segmentsOf(bytes, file)
  const found = segments.find(({ type }) => type === interpreter)
  const entries = dynamicEntries(bytes, segments)
  const stringsAt = offsetOf(entries.find(({ tag }) => tag === stringsTag)?.value ?? 0n, segments)
  const needed = entries.filter(({ tag }) => tag === neededTag)
  return {
    loader: found && textAt(bytes, found.offset),
    libraries: needed.map(({ value }) => textAt(bytes, stringsAt + Number(value))),
  }
}

/** The program without its symbols and debugging data, which follow everything that is loaded. */
export function stripped(file: string): Buffer {
  const bytes = readFileSync(file)
  const ends = segmentsOf(bytes, file).map(({ offset, size }) => offset + size)
  const short = Buffer.from(bytes.subarray(0, Math.max(...ends)))
  // The section table was cut off, too: clear its offset, its length, and the index of the section with its names.
  short.writeBigUInt64LE(0n, 0x28)
  short.fill(0, 0x3c, 0x40)
  return short
}

function segmentsOf(bytes: Buffer, file: string): Segment[] {
  // "\x7fELF", of 64 bits, the least significant byte first: all that Node is built for here.
  if (bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error(`${file} is no 64-bit program of Linux`)
  const [table, size, count] = [Number(bytes.readBigUInt64LE(0x20)), bytes.readUInt16LE(0x36), bytes.readUInt16LE(0x38)]
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * size
    const long = (offset: number) => Number(bytes.readBigUInt64LE(at + offset))
    return { type: bytes.readUInt32LE(at), offset: long(8), address: long(16), size: long(32) }
  })
}

function dynamicEntries(bytes: Buffer, segments: Segment[]): { tag: bigint; value: bigint }[] {
  const table = segments.find(({ type }) => type === dynamic)
  if (!table) return []
  return Array.from({ length: table.size / 16 }, (_, index) => {
    const at = table.offset + index * 16
    return { tag: bytes.readBigInt64LE(at), value: bytes.readBigUInt64LE(at + 8) }
  })
}

function offsetOf(address: bigint, segments: Segment[]): number {
  const at = Number(address)
  const holder = segments.find((one) => one.type === load && at >= one.address && at < one.address + one.size)
  return holder ? at - holder.address + holder.offset : at
}

function textAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, bytes.indexOf(0, offset))
}
