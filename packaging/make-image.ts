// Writes the image of this checkout for each architecture into dist/image, without a container engine, and prints how it
// is imported. Call it as `make image`.
import { join } from 'node:path'
import process from 'node:process'
import { checkout, imageRepository, writeImage } from './image.ts'

const root = join(import.meta.dirname, '..')
const facts = checkout(root)

for (const architecture of ['amd64', 'arm64'] as const) {
  const file = join('dist', 'image', `eip-admission-${architecture}.tar`)
  const digest = await writeImage(join(root, file), { ...facts, architecture })
  process.stdout.write(`${file}: ${imageRepository}:${facts.version} ${digest}\n`)
}
