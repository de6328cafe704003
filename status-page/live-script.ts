/**
 * Replaces each section when the server sends it anew. In JavaScript that browsers run as it is; the page is complete
 * without it. What a person has unfolded or selected stays, because other sections are not touched.
 */
export const liveScript = `
const live = document.getElementById('live')
const say = (text, tone) => { live.textContent = text; live.className = tone }
let heardMs = Date.now()
const hear = () => { heardMs = Date.now(); say('live', 'good') }
const source = new EventSource('status/updates')
source.addEventListener('open', hear)
source.addEventListener('alive', hear)
source.addEventListener('error', () => say(source.readyState === 2 ? 'not live: reload the page' : 'connecting again', 'warn'))
source.addEventListener('section', ({ data }) => {
  hear()
  const { id, html } = JSON.parse(data)
  const before = document.getElementById(id)
  if (before) before.outerHTML = html
})
setInterval(() => {
  const silentS = Math.round((Date.now() - heardMs) / 1000)
  if (silentS > 12) say('not live: the process has said nothing for ' + silentS + ' s', 'warn')
}, 1000)
`
