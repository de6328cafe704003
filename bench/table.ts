import { styleText } from 'node:util'
import type { Goal, Row, Unit } from './measure.ts'
import { median } from './samples.ts'

const heads = ['measure', 'ours', 'beside', 'ratio [min-max]', 'goal', 'met']

/** The rows as a table for a terminal. Nothing fails: the table says which goals this run met. */
export function table(rows: Row[]): string {
  const cells = [heads, ...rows.map(cellsOf)]
  const widths = heads.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const [head = '', ...body] = lines
  return [styleText('bold', head), ...body].join('\n')
}

function cellsOf(row: Row): string[] {
  const { measure, unit, ours, beside, goal } = row
  const besideText = beside ? `${figure(median(beside.samples), unit)} ${beside.what}` : '-'
  return [measure, figure(median(ours), unit), besideText, ratioText(row), goalText(goal, unit), metText(row)]
}

function ratiosOf({ ours, beside }: Row): number[] | undefined {
  return beside && ours.map((sample, round) => sample / (beside.samples[round] ?? Number.NaN))
}

function ratioText(row: Row): string {
  const ratios = ratiosOf(row)
  if (!ratios) return '-'
  const range = `[${ratio(Math.min(...ratios))}-${ratio(Math.max(...ratios))}]`
  return `${ratio(median(ratios))}${ratios.length > 1 ? ` ${range}` : ''}`
}

function goalText(goal: Goal | undefined, unit: Unit): string {
  if (!goal) return '-'
  const [sign, value] = 'atMost' in goal ? ['<=', goal.atMost] : ['>=', goal.atLeast]
  return `${sign} ${goal.of === 'ratio' ? ratio(value) : figure(value, unit)}`
}

function metText(row: Row): string {
  const { goal, ours } = row
  const value = goal?.of === 'ratio' ? median(ratiosOf(row) ?? []) : median(ours)
  if (!goal) return '-'
  const isMet = 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast
  return isMet ? 'yes' : 'no'
}

function ratio(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1)
}

function figure(value: number, unit: Unit): string {
  return `${value.toFixed(Number.isInteger(value) || value >= 10 ? 0 : 3)} ${unit}`
}
