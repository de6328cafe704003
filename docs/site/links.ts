import { posix } from 'node:path'
import { placeOf } from './pages.ts'

/**
 * The form of a page's link on the site. A link to another page stays relative, and one to another file of the
 * project leads to the repository. Without the URL of the repository such a link is dropped, and its text stays.
 */
export function linkOnSite(target: string, page: string, repository: string | undefined): string | undefined {
  if (/^([a-z]+:|#|\/)/i.test(target)) return target
  const [path = '', anchor] = target.split('#')
  const file = posix.join(posix.dirname(page), decodeURI(path))
  const place = placeOf(file) ?? placeOf(posix.join(file, 'README.md'))
  if (place !== undefined) {
    const from = posix.dirname(placeOf(page) ?? page)
    const relative = posix.relative(from, place)
    const dotted = relative.startsWith('.') ? relative : `./${relative}`
    return anchor === undefined ? dotted : `${dotted}#${anchor}`
  }
  return repository === undefined ? undefined : `${repository}/blob/main/${file}`
}
