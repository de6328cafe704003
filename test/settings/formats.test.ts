import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as formats from '../../settings/formats.ts'
import type { Format } from '../../settings/setting.ts'

const { asn, annotation, bindAddress, boolean, choice, duration, hostUrl, limit, list, namespace } = formats
const { number, port, token, url } = formats

type Case = [name: string, format: Format<unknown>, text: string, value: unknown]

const right: Case[] = [
  ['a Go boolean', boolean, 'T', true],
  ['a Go boolean', boolean, 'FALSE', false],
  ['a Go boolean', boolean, '0', false],
  ['a number', number(0, 10), '0', 0],
  ['a limit', limit(10), '0', 0],
  ['no limit', limit(10), 'None', undefined],
  ['a port', port, '65535', 65_535],
  ['a four-byte ASN', asn, '4294967295', 4_294_967_295],
  ['a duration', duration(1000), '15m', 900_000],
  ['a word of a choice in another case', choice(['Delete', 'Retain']), 'retain', 'Retain'],
  ['a list', list(namespace), 'a, b,,c', ['a', 'b', 'c']],
  ['an empty list', list(namespace), '', []],
  [
    'an annotation',
    annotation,
    'metal.equinix.com/bgp-peers-{{n}}-peer-ip',
    'metal.equinix.com/bgp-peers-{{n}}-peer-ip',
  ],
  ['the shortest duration', duration(1000), '1000ms', 1000],
  ['an annotation without a prefix', annotation, 'plain', 'plain'],
  ['an IPv6 address', bindAddress, '::', '::'],
  ['an https URL', url('loopback'), 'https://api.example.com/metal/v1/', 'https://api.example.com/metal/v1'],
  ['http to localhost', url('loopback'), 'http://localhost:8080', 'http://localhost:8080'],
  ['http to 127.0.0.1', url('loopback'), 'http://127.0.0.1:8080/x', 'http://127.0.0.1:8080/x'],
  ['http to 127.1.2.3', url('loopback'), 'http://127.1.2.3', 'http://127.1.2.3'],
  ['http to ::1', url('loopback'), 'http://[::1]:8080', 'http://[::1]:8080'],
  ['the URL of a host', hostUrl, 'https://192.0.2.7:6443', 'https://192.0.2.7:6443'],
  ['the URL of an IPv6 host', hostUrl, 'https://[2001:db8::7]:6443/', 'https://[2001:db8::7]:6443'],
  ['the same without brackets', hostUrl, 'https://2001:db8::7:6443', 'https://[2001:db8::7]:6443'],
  ['http where it may be', url('anywhere'), 'http://10.0.0.1:6443', 'http://10.0.0.1:6443'],
]
for (const [name, format, text, value] of right) {
  test(`${name} is read: ${JSON.stringify(text)}`, () => assert.equal(format.read(text), { value }))
}

const wrong: [name: string, format: Format<unknown>, text: string][] = [
  ['a boolean', boolean, 'yes'],
  ['a number', number(0, 10), '11'],
  ['a number', number(0, 10), '-1'],
  ['a number', number(0, 10), '1.5'],
  ['a number', number(0, 10), '0x1'],
  ['a number', number(0, 10), '1e1'],
  ['a limit', limit(10), 'unlimited'],
  ['a port', port, '65536'],
  ['an ASN', asn, '4294967296'],
  ['a duration', duration(1000), '999ms'],
  ['a duration', duration(1000), '15'],
  ['a choice', choice(['defer', 'deny']), 'ignore'],
  ['a list', list(namespace), 'a,B'],
  ['a namespace', namespace, 'kube.system'],
  ['an annotation', annotation, 'a/b/c'],
  ['an annotation', annotation, '{{m}}'],
  ['an address', bindAddress, 'localhost'],
  ['a token', token, 'two words'],
  ['a token', token, 'line\nbreak'],
  ['the URL of a host', hostUrl, 'https://2001:db8::7::1:6443'],
  ['the URL of a host', hostUrl, 'http://2001:db8::7:6443'],
  ['a base URL', url('loopback'), 'api.example.com'],
  ['a base URL', url('loopback'), 'http://api.example.com'],
  ['a base URL', url('loopback'), 'http://127.0.0.1.example.com'],
  ['a base URL', url('loopback'), 'http://localhost.example.com'],
  ['a base URL', url('loopback'), 'ftp://localhost'],
  ['a base URL', url('loopback'), 'https://user:password@api.example.com'],
  ['a base URL', url('loopback'), 'https://api.example.com?token=x'],
  ['a webhook URL', url('never'), 'http://127.0.0.1'],
]
for (const [name, format, text] of wrong) {
  test(`${JSON.stringify(text)} is refused as ${name}`, () => {
    const reading = format.read(text)
    assert.ok('right' in reading && reading.right !== '')
  })
}

test('the quote of a URL hides what may be a secret in it', () => {
  const quote = url('loopback').quote
  assert.ok(quote)
  for (const text of ['http://user:hidden@host/x', 'https://a@hidden@host', 'https://host?key=hidden', 'host#hidden']) {
    assert.not.match(quote(text), 'hidden')
  }
})

test.run()
