// node packaging/make-rootfs.ts FOLDER: assembles the root filesystem of the image in a new folder.
import { resolve } from 'node:path'
import process from 'node:process'
import { assembleRootfs } from './rootfs.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder to make: node packaging/make-rootfs.ts FOLDER')
await assembleRootfs(resolve(folder))
