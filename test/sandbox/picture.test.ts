// The picture of the README shows what the demo prints today.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { svgOf, linesOf } from '../../sandbox/picture.ts'

const root = join(import.meta.dirname, '..', '..')
const demo = readFileSync(join(root, 'sandbox', 'demo.ts'), 'utf8')

/** The sentences that the demo prints, with anything where it fills something in. */
const printed = [
  ...demo.matchAll(/(?:printHeading|printDetail)\(['`](.+)['`]\)|, ['`](.+)['`]\)$|^ +'(the Service has .+)',$/gm),
]
  .map(([, title, checked, other]) => title ?? checked ?? other ?? '')
  .map((text) => new RegExp(`^(ok: )?${text.replaceAll(/[.*+?^()|[\]\\]/g, '\\$&').replaceAll(/\$\{[^}]*\}/g, '.*')}$`))

test('each heading and each result in the picture is one that the demo prints', () => {
  const svg = readFileSync(join(root, 'docs', 'pictures', 'demo.svg'), 'utf8')
  const texts = [...svg.matchAll(/<text class="(?:heading|ok)".*>(.*)<\/text>/g)].map(([, text = '']) => text)
  assert.ok(texts.length >= 6, texts.join('\n'))
  assert.equal(
    texts.filter((text) => !printed.some((one) => one.test(text))),
    [],
    'the picture is out of date: run make picture',
  )
})

const output = `
Starting

\`kubectl create\` returns the Service with its address
$ kubectl get service web -o wide & ${'x'.repeat(90)}
<none>  a
ok: it has

Create two more Services, and
$ kubectl`

test('a picture has the lines of the first steps, long commands in two, and nothing that is markup', () => {
  const lines = linesOf(output)
  assert.equal(
    lines.map(({ kind, text }) => `${kind}: ${text}`),
    [
      'heading: `kubectl create` returns the Service with its address',
      'command: $ kubectl get service web -o wide &',
      `command:   ${'x'.repeat(90)}`,
      'output: <none>  a',
      'ok: ok: it has',
    ],
  )
  const svg = svgOf(lines)
  assert.match(svg, '>&lt;none&gt;  a</text>')
  assert.match(svg, 'wide &amp;</text>')
  assert.throws(() => linesOf('nothing'), 'make demo CLOUD=hetzner')
})

test.run()
