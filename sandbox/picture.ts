// Draws the first steps of a demo as a terminal: reads what `make demo CLOUD=hetzner` prints, writes an SVG. Call it as
// `make picture`.
import { text } from 'node:stream/consumers'

/** The picture ends before this step. */
const end = 'Create two more Services'
const columns = 100
const size = { character: 7.8, line: 19, margin: 20 }

type Line = { kind: 'heading' | 'command' | 'ok' | 'output'; text: string; step: number }

/** The lines of the steps, by what they are. */
export function linesOf(output: string): Line[] {
  const start = output.indexOf('\n`kubectl create`')
  const stop = output.indexOf(`\n${end}`)
  if (start === -1 || stop === -1) throw new Error('this is not the output of `make demo CLOUD=hetzner`')
  const given = output.slice(start, stop).trim().split('\n')
  return given.flatMap((line, n): Line[] => {
    const step = given.slice(0, n + 1).filter((one) => /^(\$|ok:)/.test(one)).length
    const isHeading = n === 0 || given[n - 1] === ''
    const kind =
      isHeading && line !== ''
        ? 'heading'
        : line.startsWith('$ ')
          ? 'command'
          : line.startsWith('ok: ')
            ? 'ok'
            : 'output'
    const parts = line.match(new RegExp(`.{1,${columns - 2}}(?: |$)`, 'g')) ?? [line]
    return parts.map((part, at) => ({ kind, text: `${at > 0 ? '  ' : ''}${part.trimEnd()}`, step }))
  })
}

const escaped = (given: string) => given.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The terminal as an SVG. Its lines appear step by step; without animations all are visible. */
export function svgOf(lines: readonly Line[]): string {
  const { character, line: height, margin } = size
  const [width, tall] = [Math.ceil(columns * character + 2 * margin), lines.length * height + 2 * margin]
  const texts = lines.flatMap(({ kind, text: shown, step }, n) => {
    const bare = shown.trimStart()
    if (bare === '') return []
    const x = (margin + (shown.length - bare.length) * character).toFixed(1)
    const place = `x="${x}" y="${margin + (n + 0.75) * height}" textLength="${(bare.length * character).toFixed(1)}"`
    return [
      `<text class="${kind}" ${place} style="animation-delay: ${(step * 1.6).toFixed(1)}s" xml:space="preserve">${escaped(bare)}</text>`,
    ]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}" role="img" aria-label="A terminal: a Service returns with its address, which moves to another node when its node fails">
<style>
  rect { fill: #0d1117 }
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9; animation: appear 0.4s both }
  .heading { font-weight: bold; fill: #ffffff }
  .command { fill: #79c0ff }
  .ok { fill: #56d364 }
  @keyframes appear { from { opacity: 0 } }
  @media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect width="${width}" height="${tall}" rx="8"/>
${texts.join('\n')}
</svg>
`
}

if (import.meta.main) process.stdout.write(svgOf(linesOf(await text(process.stdin))))
