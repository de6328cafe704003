/** The look of the page: one column on a phone, dense on a desk, light or dark as the device prefers. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f7f9, #0f1318);
  --card: light-dark(#ffffff, #171c23);
  --line: light-dark(#e3e7ec, #262d37);
  --text: light-dark(#1b2430, #dde3ea);
  --soft: light-dark(#5c6876, #93a0ae);
  --good: light-dark(#1a7f4b, #4cc38a);
  --busy: light-dark(#2563b8, #6ea8f7);
  --warn: light-dark(#8a5a00, #e3b341);
  --bad: light-dark(#c0362c, #ff7b72);
  --quiet: light-dark(#8b97a5, #5f6b79);
  font: 14px/1.45 system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums;
}
* { box-sizing: border-box; margin: 0; padding: 0; }
html { scroll-padding-top: 5.5rem; }
body { background: var(--page); color: var(--text); overflow-wrap: anywhere; }
header {
  position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem;
  padding: .6rem max(1rem, calc((100% - 68rem) / 2)) 0; background: var(--card); border-bottom: 1px solid var(--line);
}
h1 { font-size: 1.05rem; letter-spacing: -.01em; }
header p { margin-left: auto; color: var(--soft); font-size: .85rem; }
nav { flex-basis: 100%; display: flex; gap: 1.1rem; overflow-x: auto; scrollbar-width: none; white-space: nowrap; }
nav a { padding: .45rem 0; color: var(--soft); font-size: .85rem; text-decoration: none; border-bottom: 2px solid transparent; }
nav a:hover, nav a:focus-visible { color: var(--text); border-color: var(--busy); }
main { max-width: 70rem; margin: 0 auto; padding: 1rem; display: grid; gap: 1rem; }
section { min-width: 0; padding: .9rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
section:target { border-color: var(--busy); }
h2 { font-size: .8rem; font-weight: 600; letter-spacing: .04em; text-transform: uppercase; color: var(--soft); margin-bottom: .6rem; }
code { font: .92em ui-monospace, 'SF Mono', 'DejaVu Sans Mono', monospace; }
small { display: block; color: var(--soft); font-size: .82rem; }
.tone i, .notes i { font-style: normal; font-size: .7em; margin-right: .45em; vertical-align: .1em; }
.good { --tone: var(--good); } .busy { --tone: var(--busy); } .warn { --tone: var(--warn); }
.bad { --tone: var(--bad); } .quiet { --tone: var(--quiet); }
.tone { color: var(--tone); }
.tone.quiet { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .7rem 1.2rem; }
.tiles dt { color: var(--soft); font-size: .82rem; }
.tiles dd > span { font-size: 1.15rem; font-weight: 600; }
.tiles dd > span:has(code) { font-size: .95rem; font-weight: 400; }
#summary dd > span { font-size: 1.5rem; }
#process .tiles div:has(code) { grid-column: span 2; }
.notes { list-style: none; display: grid; gap: .4rem; }
.notes li { display: flex; align-items: baseline; padding: .45rem .7rem; border-left: 3px solid var(--tone); border-radius: .3rem; background: color-mix(in srgb, var(--tone) 9%, transparent); }
.notes i { color: var(--tone); }
section > * + * { margin-top: .8rem; }
h2 + * { margin-top: 0; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; color: var(--soft); font-size: .8rem; font-weight: 500; }
th, td { padding: .35rem .8rem .35rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child td { border-bottom: 0; }
tr:has(+ .more) td { padding-bottom: 0; border-bottom: 0; }
.more td { padding-top: 0; }
tbody tr:hover { background: color-mix(in srgb, var(--busy) 5%, transparent); }
td time { color: var(--soft); }
th, td time, td code, td .tone { white-space: nowrap; }
.empty, .rest { color: var(--soft); }
@media (min-width: 40.01rem) {
  #summary .tiles { grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }
  #events td:nth-child(2) { min-width: 15rem; }
}
@media (max-width: 40rem) {
  main { padding: .6rem; gap: .6rem; }
  section { padding: .8rem; }
  .tiles { grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  tbody { display: block; }
  tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: .05rem .9rem; padding: .45rem 0; border-bottom: 1px solid var(--line); }
  tbody tr:last-child { border-bottom: 0; padding-bottom: 0; }
  tr:has(+ .more) { padding-bottom: 0; border-bottom: 0; }
  td { padding: 0; border: 0; }
  td code, td .tone { white-space: normal; }
  td[data-label]::before { content: attr(data-label) ' '; color: var(--soft); font-size: .85rem; }
  td:first-child { flex-basis: 100%; }
  td:first-child > span, td:first-child code { font-weight: 600; }
  td:first-child::before { content: none; }
  td:has(> small) { flex-basis: 100%; order: 1; }
  td:first-child:has(> small) { order: 0; }
  td:has(> span:empty) { display: none; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print { header { position: static; } nav { display: none; } }
`
