/**
 * Replaces each section when the server sends it anew. In JavaScript that browsers run as it is; the page is complete
 * without it. What a person has unfolded or selected stays, because other sections are not touched.
 */
export const liveScript = `
const live = document.getElementById('live')
const say = (text, tone) => { live.textContent = text; live.className = tone }
const source = new EventSource('status/updates')
source.addEventListener('open', () => say('live', 'good'))
source.addEventListener('error', () => say(source.readyState === 2 ? 'not live: reload the page' : 'connecting again', 'warn'))
source.addEventListener('section', ({ data }) => {
  const { id, html } = JSON.parse(data)
  const before = document.getElementById(id)
  if (before) before.outerHTML = html
})
`
