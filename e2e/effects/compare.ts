import path from 'node:path';
import type { CommandReading, Effect } from '../../src/agent/permissions/command-reading.ts';
import type { Trace } from './trace.ts';

/** Something that happened, but was not named. */
export interface Miss {
  what: 'exec' | 'write' | 'delete' | 'connect' | 'kill';
  target: string;
}

/** Programs that others start as a part of their own work, which their effects include. */
const HELPERS: Record<string, readonly string[]> = {
  tar: ['gzip', 'bzip2', 'xz', 'zstd', 'sh'],
  zcat: ['gzip'],
  gunzip: ['gzip'],
  egrep: ['grep'],
  fgrep: ['grep'],
  sort: ['gzip'],
  rsync: ['rsync', 'ssh'],
  git: ['git', 'pager', 'less', 'sh'],
};

/** Everything that happened although the reading did not name it. A person is asked about unknown effects and gaps. */
export function findMisses(reading: CommandReading, trace: Trace): Miss[] {
  const { effects, gaps } = reading;
  if (effects.some(({ kind }) => kind === 'unknown') || gaps.some(({ reason }) => reason !== 'unknown_words')) return [];
  const has = (kind: Effect['kind']) => effects.some((effect) => effect.kind === kind);
  const missed = (what: Miss['what'], targets: readonly string[]) => targets.map((target) => ({ what, target }));
  return [
    ...missed('exec', trace.execs.filter((file) => !isNamedProgram(path.basename(file), reading))),
    ...missed('write', trace.writes.filter((file) => !covers(effects, ['write'], file))),
    ...missed('delete', trace.deletes.filter((file) => !covers(effects, ['delete', 'write'], file))),
    ...missed('connect', has('network') ? [] : trace.connects),
    ...missed('kill', has('process') ? [] : trace.kills),
  ];
}

function isNamedProgram(name: string, { commands }: CommandReading): boolean {
  const names = commands.map(({ words }) => path.basename(words[0]?.value ?? ''));
  // The traced shell itself; and several names may lead to one program.
  if (['bash', 'strace', 'busybox'].includes(name) || names.includes(name)) return true;
  return names.some((each) => HELPERS[each]?.includes(name));
}

/** An uncertain effect covers everything of its kind, because its target is not known. */
const covers = (effects: readonly Effect[], kinds: readonly Effect['kind'][], file: string): boolean =>
  effects.some((effect) => kinds.includes(effect.kind) && (!effect.certain || isBelow(effect.path, file)));

const isBelow = (folder: string | undefined, file: string): boolean =>
  folder !== undefined && (file === folder || file.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
