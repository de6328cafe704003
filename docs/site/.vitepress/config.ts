import { cpSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import GithubSlugger from 'github-slugger'
import { defineConfig } from 'vitepress'
import { linkOnSite } from '../links.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { placeOf, root, sitePages, sourceOf } from '../pages.ts'
import { sidebar } from '../sidebar.ts'

const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: name, SITE_BASE: base = '/' } = process.env
const repository = name && `${server}/${name}`

// A copy, because pages outside of this folder would look for Vue among the product's packages.
const srcDir = join(import.meta.dirname, '..', 'pages')
rmSync(srcDir, { recursive: true, force: true })
const original = Object.fromEntries(sitePages().map((file) => [placeOf(file), file]))
for (const [place, file] of Object.entries(original)) cpSync(join(root, file), join(srcDir, place))

const escapeBraces = (html) => html.replaceAll('{{', '&#123;&#123;')

export default defineConfig({
  title: 'eip-admission',
  description: 'Public addresses for Kubernetes Services of type LoadBalancer on bare metal',
  base,
  srcDir,
  outDir: join(root, 'dist', 'site'),
  cleanUrls: true,
  // The status page, which runs on the machine of the reader.
  ignoreDeadLinks: 'localhostLinks',
  // The pictures follow the system's choice of light or dark, so the page has to.
  appearance: 'force-auto',
  // The link "Edit this page" leads to the file in the repository.
  transformPageData: ({ filePath }) => ({ filePath: sourceOf(original[filePath] ?? filePath) }),
  themeConfig: {
    nav: [{ text: `Version ${manifest.version}`, link: '/changelog' }],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    ...(repository && {
      socialLinks: [{ icon: 'github', link: repository }],
      editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
    }),
  },
  markdown: {
    // The anchors of GitHub, where most people read these pages.
    anchor: { slugify: (text) => new GithubSlugger().slug(text) },
    config(md) {
      // Vue would evaluate braces outside of code blocks.
      const { text, code_inline: code } = md.renderer.rules
      md.renderer.rules.text = (...args) => escapeBraces(text(...args))
      md.renderer.rules.code_inline = (...args) => escapeBraces(code(...args))
      md.core.ruler.push('links', (state) => {
        const page = original[relative(srcDir, state.env.realPath ?? state.env.path)]
        for (const token of state.tokens.flatMap((block) => block.children ?? [])) {
          const attribute = { link_open: 'href', image: 'src' }[token.type]
          if (attribute === undefined) continue
          const target = linkOnSite(token.attrGet(attribute), page, repository)
          if (target === undefined) token.attrs = token.attrs.filter(([key]) => key !== attribute)
          else token.attrSet(attribute, target)
        }
      })
    },
  },
})
