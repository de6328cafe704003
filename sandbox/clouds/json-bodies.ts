import type { FastifyInstance } from 'fastify'

/** Parses every body as JSON, whatever its content type: curl declares a form. */
export function parseEveryBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => parse(String(text), done))
}

/** Parses bodies whose content type is JSON, which may be empty, and ignores every other body. */
export function parseJsonBodies(app: FastifyInstance): void {
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
