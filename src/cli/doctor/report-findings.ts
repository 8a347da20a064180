import type { Finding } from '../../daemon/checkup/finding.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { createPaint, type Paint, wantsColours } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';

interface ReportOptions {
  json: boolean;
  around: Surroundings;
}

/** Prints what was found. Exit code 1 if something does not work. */
export function reportFindings(findings: readonly Finding[], { json, around }: ReportOptions): void {
  const healthy = findings.every(({ level }) => level !== 'problem');
  const colours = wantsColours('auto', { isTerminal: process.stdout.isTTY, environment: around.environment });
  const text = json
    ? JSON.stringify({ ok: healthy, findings }, null, 2)
    : toLines(findings, createPaint(colours)).join('\n');
  process.stdout.write(`${text}\n`);
  process.exitCode = healthy ? EXIT.ok : EXIT.failed;
}

const MARKS: Record<Finding['level'], { sign: string; style: 'green' | 'yellow' | 'red' }> = {
  ok: { sign: '✔', style: 'green' },
  warning: { sign: '!', style: 'yellow' },
  problem: { sign: '✖', style: 'red' },
};

function toLines(findings: readonly Finding[], paint: Paint): string[] {
  return findings.flatMap(({ name, level, text, mend }) => {
    const { sign, style } = MARKS[level];
    const line = `${paint(style, sign)} ${paint('bold', name.padEnd(12))}${toSafeText(text)}`;
    return mend === undefined ? [line] : [line, paint('dim', `${' '.repeat(14)}→ ${mend}`)];
  });
}
