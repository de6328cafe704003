import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { redirectUrl } from '../../../clouds/http/client.ts'

const asked = 'https://api.example.com/v1/things?page=1'

function followed(location: string | undefined, { from = asked, method = 'GET', status = 301 } = {}) {
  const headers = new Headers(location === undefined ? {} : { location })
  return redirectUrl({ url: from, init: { method } }, { status, headers })
}

const ways: [location: string, to: string | undefined][] = [
  ['https://api.example.com/v1/others', 'https://api.example.com/v1/others'],
  ['http://api.example.com/v1/others?page=2#top', 'https://api.example.com/v1/others?page=2'],
  ['http://api.example.com:80/v1/others', 'https://api.example.com/v1/others'],
  ['/v1/others', 'https://api.example.com/v1/others'],
  ['others', 'https://api.example.com/v1/others'],
  ['HTTP://API.EXAMPLE.COM/v1/others', 'https://api.example.com/v1/others'],
  ['https://other.example.com/v1/others', undefined],
  ['//other.example.com/v1/others', undefined],
  ['https://api.example.com.evil.example/v1', undefined],
  ['https://api.example.com@evil.example/v1', undefined],
  ['https://me:pw@api.example.com/v1/others', undefined],
  ['https://api.example.com:8443/v1/others', undefined],
  ['http://api.example.com:8080/v1/others', undefined],
  ['ftp://api.example.com/v1/others', undefined],
  ['javascript:alert(1)', undefined],
  ['https://', undefined],
]
for (const [location, to] of ways)
  test(`a redirect to ${location} leads ${to === undefined ? 'nowhere' : `to ${to}`}`, () => {
    assert.is(followed(location), to)
  })

test('on a loopback address plain http stays plain http, on the same port', () => {
  const from = 'http://127.0.0.1:8080/v1/things'
  assert.is(followed('http://127.0.0.1:8080/v1/others', { from }), 'http://127.0.0.1:8080/v1/others')
  assert.is(followed('http://127.0.0.1:8081/v1/others', { from }), undefined)
})

test('a write is sent nowhere, and an answer that is no redirect leads nowhere', () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) assert.is(followed('/v1/others', { method }), undefined)
  for (const status of [200, 201, 300, 304, 404]) assert.is(followed('/v1/others', { status }), undefined)
  assert.is(followed(undefined), undefined)
})

test.run()
