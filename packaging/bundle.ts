// Bundles the program into a few files that Node runs without node_modules, with the licences of their contents. The
// same sources give the same bytes in any folder.
import { mkdirSync, readFileSync, rmSync, writeFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Plugin, build } from 'esbuild'
import { entryName, pluginName } from './program.ts'

const root = join(import.meta.dirname, '..')

/**
 * Paths in source maps are relative to the output, so the output folder always has this name, and the files move
 * afterwards.
 */
const nominalFolder = join(root, 'dist')

/** The code by which packages in CommonJS require Node's own modules. */
const banner = "import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);"

/** Bundles the sources of this checkout into a folder, which it empties first. */
export async function bundle(into: string): Promise<void> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      [basename(entryName, '.mjs')]: 'server/main.ts',
      [basename(pluginName, '.mjs')]: 'kubectl-eip/main.ts',
    },
    bundle: true,
    // Modules that only some commands or a kubeconfig need are loaded with them.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24.14',
    outdir: nominalFolder,
    outExtension: { '.js': '.mjs' },
    // Names stay as they are: logs and stack traces have them, and without them the process takes 3 MiB more.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    alias: { undici: './packaging/without-undici.ts' },
    banner: { js: banner },
    plugins: [withoutMapsOfPackages, withoutImportsOfHttp],
    metafile: true,
    write: false,
    logLevel: 'warning',
    // imported-http.ts lacks exports that no package needs yet: such an import must fail the build.
    logOverride: { 'import-is-undefined': 'error' },
  })
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  for (const { path, contents } of outputFiles) writeFileSync(join(into, basename(path)), contents)
  const packages = bundledPackages(root, Object.keys(metafile.inputs))
  writeFileSync(join(into, 'LICENSES.txt'), licenceText(packages))
  const list = packages.map(({ name, version }) => ({ name, version }))
  writeFileSync(join(into, 'packages.json'), `${JSON.stringify(list, null, 2)}\n`)
}

/** An empty source map. A package's file with it takes no room in our maps: they contain its name, but no lines. */
const emptyMap =
  '//# sourceMappingURL=data:application/json;base64,' +
  Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64')

const withoutMapsOfPackages: Plugin = {
  name: 'without maps of packages',
  setup: (build) =>
    build.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\n${emptyMap}`,
      loader: 'default',
    })),
}

/** An import of node:http also loads Node's undici; a `require` of a package does not. */
const withoutImportsOfHttp: Plugin = {
  name: 'without imports of node:http',
  setup: (build) =>
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: join(import.meta.dirname, 'imported-http.ts') } : undefined,
    ),
}

/** A package whose code is in the bundle. */
type BundledPackage = { name: string; version: string; licence: string; text: string }

/** The packages that bundled files come from, in order of their names. Throws for one that states no licence. */
function bundledPackages(root: string, files: string[]): BundledPackage[] {
  const folders = files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  const packages = [...new Set(folders)].map((folder) => readPackage(join(root, folder)))
  // The same version may be in several folders.
  const byId = new Map(packages.map((found) => [`${found.name}@${found.version}`, found]))
  return [...byId].toSorted(([a], [b]) => compare(a, b)).map(([, found]) => found)
}

function readPackage(folder: string): BundledPackage {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
  const [name, version] = [String(manifest.name), String(manifest.version)]
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  const text = files
    .toSorted(compare)
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    .join('\n\n')
  if (typeof manifest.license !== 'string' || manifest.license === '')
    throw new Error(`${name}@${version} states no licence in its package.json, so it cannot be shipped`)
  return { name, version, licence: manifest.license, text }
}

/** A single text with the licences of all packages. */
function licenceText(packages: BundledPackage[]): string {
  const parts = packages.map(({ name, version, licence, text }) =>
    [`${name} ${version} (${licence})`, text].filter(Boolean).join('\n\n'),
  )
  return `${['eip-admission contains code of these packages.', ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** The same order on every machine, whatever its language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
