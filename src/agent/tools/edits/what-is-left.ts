import { readVersion } from '../files/confined-file.ts';
import type { FileCall } from '../files/file-call.ts';
import { findSeenVersion } from '../files/read-history.ts';
import type { FilePatch } from './parse-patch.ts';

type Call = Pick<FileCall, 'context' | 'confinement'>;

/**
 * What a patch that a kill interrupted has left of its files. Names change one by one, so some files may be as the patch
 * wants them and others as they were; which ones can be seen by the versions that the model had read.
 */
export async function whatIsLeft(files: readonly FilePatch[], call: Call): Promise<string> {
  const paths = [
    ...new Set(files.flatMap((file) => ('moveTo' in file && file.moveTo ? [file.path, file.moveTo] : [file.path]))),
  ];
  const states: Record<State, string[]> = { before: [], gone: [], other: [], unknown: [] };
  for (const path of paths) states[await stateOf(path, call)].push(path);
  const lines = STATES.flatMap((state) =>
    states[state].length > 0 ? [`${WORDS[state]}: ${states[state].join(', ')}.`] : [],
  );
  return [INTERRUPTED, ...lines].join('\n');
}

const INTERRUPTED =
  'The patch was interrupted and may be applied in part. Read its files before you change them again.';

const STATES = ['other', 'gone', 'before', 'unknown'] as const;
type State = (typeof STATES)[number];

const WORDS: Record<State, string> = {
  other: 'Changed or new',
  gone: 'Not there',
  before: 'As before',
  unknown: 'Cannot be read',
};

async function stateOf(path: string, { context, confinement }: Call): Promise<State> {
  try {
    const place = await confinement.locate(path, context.workdir);
    if (place.kind === 'refused') return 'unknown';
    const now = await readVersion(place);
    if (now === undefined) return 'gone';
    return now.sha256 === findSeenVersion(context.history, place.path) ? 'before' : 'other';
  } catch {
    return 'unknown'; // a folder in its place, or no text
  }
}
