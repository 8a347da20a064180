import { readFile } from 'node:fs/promises';
import type { Effect } from '../evidence.ts';

/** A bash command that records its start and, after `secs`, its end, and then prints this. */
export function effectCommand({ tag, file, secs }: { tag: string; file: string; secs: number }): string {
  return [
    `start=$EPOCHREALTIME-$RANDOM; note() { echo "${tag} $start $1 $EPOCHREALTIME" >> ${file}; }`,
    `note begin; echo "${tag} began"; sleep ${secs}; note end; echo "${tag} ended"`,
  ].join('\n');
}

/** The lines written by commands so far; empty if no command has run. */
export async function readEffects(file: string): Promise<Effect[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap(toEffect);
}

function toEffect(line: string): Effect[] {
  const [, tag, start, phase, at] = /^(\S+) (\S+) (begin|end) (\S+)$/.exec(line) ?? [];
  if (tag === undefined || start === undefined || at === undefined) return [];
  // Seconds, with the decimal separator of the locale.
  return [{ tag, start, phase: phase === 'begin' ? 'begin' : 'end', atMs: Number(at.replace(',', '.')) * 1000 }];
}
