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
  tar: ['gzip', 'bzip2', 'xz', 'zstd', 'sh'], // it starts the others by sh -c
  zcat: ['gzip'],
  gunzip: ['gzip'],
  egrep: ['grep'],
  fgrep: ['grep'],
  sort: ['gzip'],
  rsync: ['rsync', 'ssh'],
  scp: ['ssh'],
  npm: ['node'],
  apt: ['dpkg'],
  dpkg: ['dpkg-query', 'dpkg-deb'],
  'apt-cache': ['dpkg'],
  man: [
    'apropos',
    'whatis',
    'nroff',
    'groff',
    'troff',
    'grotty',
    'preconv',
    'tbl',
    'eqn',
    'refer',
    'pic',
    'col',
    'locale',
    'zsoelim',
    'gzip',
    'less',
    'pager',
  ],
  // Some of its commands are scripts of the shell.
  git: [
    'git',
    'man',
    'basename',
    'sed',
    'gettext',
    'envsubst',
    'uname',
    'git-bisect',
    'git-submodule',
    'git-sh-i18n--envsubst',
  ],
};

/** Everything that happened although the reading did not name it. A person is asked about unknown effects and gaps. */
export function findMisses(reading: CommandReading, trace: Trace): Miss[] {
  const { effects, gaps } = reading;
  if (effects.some(({ kind }) => kind === 'unknown') || gaps.some(({ reason }) => reason !== 'unknown_words'))
    return [];
  const has = (kind: Effect['kind']) => effects.some((effect) => effect.kind === kind);
  const missed = (what: Miss['what'], targets: readonly string[]) => targets.map((target) => ({ what, target }));
  return [
    ...missed(
      'exec',
      trace.execs.filter((file) => !isNamedProgram(path.basename(file), reading)),
    ),
    ...missed(
      'write',
      trace.writes.filter((file) => !covers(effects, ['write'], file)),
    ),
    ...missed(
      'write',
      trace.folders.filter((file) => !coversFolder(effects, file)),
    ),
    ...missed(
      'delete',
      trace.deletes.filter((file) => !covers(effects, ['delete', 'write'], file)),
    ),
    ...missed('connect', has('network') ? [] : trace.connects),
    ...missed('kill', has('process') ? [] : trace.kills),
  ];
}

function isNamedProgram(name: string, { commands, effects }: CommandReading): boolean {
  // What changes the machine may start anything, and is always asked about.
  if (effects.some(({ kind }) => kind === 'system')) return true;
  const names = commands.map(({ words }) => path.basename(words[0]?.value ?? ''));
  // The traced shell itself; and several names may lead to one program.
  if (['bash', 'strace', 'busybox'].includes(name) || names.includes(name)) return true;
  const helpers = names.flatMap((each) => HELPERS[each] ?? []);
  return helpers.includes(name) || (helpers.includes('man') && HELPERS.man?.includes(name) === true);
}

/** An uncertain effect covers everything of its kind, because its target is not known; a change of the system, its state. */
const covers = (effects: readonly Effect[], kinds: readonly Effect['kind'][], file: string): boolean =>
  effects.some(
    ({ kind, certain, path: named }) =>
      (kinds.includes(kind) && (!certain || isBelow(named, file))) ||
      (kind === 'system' && /^\/(etc|run|var\/(lib|cache|log))(\/|$)/.test(file)),
  );

/** Writing a file or folder may create the folders above it. */
const coversFolder = (effects: readonly Effect[], folder: string): boolean =>
  covers(effects, ['write'], folder) ||
  effects.some(({ kind, path: named }) => kind === 'write' && named !== undefined && isBelow(folder, named));

const isBelow = (folder: string | undefined, file: string): boolean =>
  folder !== undefined && (file === folder || file.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
