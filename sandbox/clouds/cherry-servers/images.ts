/** An image of an operating system. Orders name it by slug; servers show its name, and both in `deployed_image`. */
export type Image = { id: number; name: string; slug: string }

/** The images that every plan offers. */
export const images: Image[] = [
  { id: 40785, name: 'Debian 12 64bit', slug: 'debian_12_64bit' },
  { id: 40812, name: 'Fedora 41 64bit', slug: 'fedora_41_64bit' },
  { id: 40801, name: 'Ubuntu 22.04 64bit', slug: 'ubuntu_22_04_64bit' },
  { id: 40830, name: 'Ubuntu 24.04 64bit', slug: 'ubuntu_24_04_64bit' },
]

export const defaultImage: Image = { id: 40830, name: 'Ubuntu 24.04 64bit', slug: 'ubuntu_24_04_64bit' }

/** Finds an image by slug or name. The vendor has many more than we list, so any other slug is an image too. */
export function imageOf(text: string): Image {
  const known = images.find(({ slug, name }) => slug === text || name === text)
  return known ?? { id: 0, name: nameOf(text), slug: text.toLowerCase().replace(/[ .]/g, '_') }
}

/** Turns `rocky_9_4_64bit` into `Rocky 9.4 64bit`. */
function nameOf(slug: string): string {
  const words = slug.replaceAll('_', ' ').replace(/(?<=\b\d+) (?=\d+\b(?!bit))/g, '.')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
