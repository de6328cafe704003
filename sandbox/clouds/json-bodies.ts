import type { FastifyInstance } from 'fastify'

/** Reads every body as JSON: curl says that what it sends is a form. */
export function jsonWhateverItSays(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => parse(String(text), done))
}

/** Reads JSON where the client says that it is JSON, no body included; what calls itself anything else is not read. */
export function jsonWhereItSays(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
    parse(String(text), done),
  )
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, _text, done) => done(null, undefined))
}

function parse(text: string, done: (error: Error | null, body?: unknown) => void): void {
  if (text.trim() === '') return done(null, undefined)
  try {
    done(null, JSON.parse(text))
  } catch {
    done(Object.assign(new Error('the body is not JSON'), { statusCode: 400 }))
  }
}
