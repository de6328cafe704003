// Builds the Go module in the folder that its argument names, as the sandbox builds its programs.
import { goPrograms } from '../../../sandbox/go-programs.ts'

const [, , dir = ''] = process.argv
const programs = [{ name: 'tool', package: '.', built: 'tool' }]
console.log(await goPrograms({ name: 'tool', version: 'v1', dir, programs, flags: [], takes: 'seconds' }))
