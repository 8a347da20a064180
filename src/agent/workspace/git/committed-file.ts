import { dirname } from 'node:path';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { isSecretPath } from '../../tools/files/secret-path.ts';
import { type Asked, missing } from '../place.ts';
import { type CommittedFile, WorkspaceProblem } from '../workspace.ts';
import { markIn } from './diff-file.ts';
import type { StatusLine } from './parse-status.ts';
import type { GitOutput } from './run-git.ts';

interface CommitReader {
  git(args: readonly string[], maxBytes: number): Promise<GitOutput>;
  /** The file on the disk. */
  asked: Asked;
}

const MOST_BYTES = 64 * 1024 * 1024;
const LINK = '120000';
const SUBMODULE = '160000';

/** Throws WorkspaceProblem if the file cannot be put back, or is not what the person saw. */
export async function committedOf(
  line: StatusLine,
  { shown, seen }: { shown: string; seen: string },
  reader: CommitReader,
): Promise<Pick<CommittedFile, 'seen' | 'wanted'>> {
  const named = toVisibleLine(shown);
  await requirePlain(line.path, { named, asked: reader.asked });
  if (line.unstaged === 'conflict') throw refused(`${named} has a merge conflict. Resolve it with git first.`);
  if (line.headMode === SUBMODULE) throw refused(`${named} is a submodule. Use git to put it back.`);
  const mark = markIn(seen, line);
  if (mark === undefined) throw new WorkspaceProblem('changed', `${named} is not in the last commit as you saw it.`);
  if (line.head === undefined) return { seen: mark, wanted: undefined };
  const isLink = line.headMode === LINK;
  if (!isLink) await requireNoFilter(line.path, { named, reader });
  // Converts line endings and encodings as a checkout does. There is no configuration that could name a filter.
  const how = isLink ? ['blob'] : ['--filters', `--path=${line.path}`];
  const out = await reader.git(['cat-file', ...how, line.head], MOST_BYTES);
  if (out.isCut) throw refused(`${named} is too large in the last commit. Use git to put it back.`);
  if (out.code !== 0) throw refused(`Git could not read ${named} in the last commit.`);
  return {
    seen: mark,
    wanted: isLink
      ? { kind: 'link', target: out.bytes.toString('latin1') }
      : { kind: 'file', content: out.bytes, isExecutable: line.headMode === '100755' },
  };
}

/** Neither a part of a repository, nor a secret, nor behind a link. A prepared repository can list any path. */
async function requirePlain(path: string, { named, asked }: { named: string; asked: Asked }): Promise<void> {
  if (path.split('/').some(isOfGit)) throw refused(`${named} is a part of a git repository.`);
  if (isSecretPath(path))
    throw refused(`${named} may hold secrets, so it is not changed here. Use git to put it back.`);
  const folder = dirname(asked.path);
  const place = await asked.confinement.locate(folder, asked.workdir);
  if (place.kind === 'refused' || place.base === undefined) throw missing(named);
  if (place.path !== folder) throw refused(`A folder of ${named} is a link now. Nothing was changed.`);
}

/** Some file systems do not see these characters, and none of them needs to see the case. */
const isOfGit = (name: string): boolean =>
  name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase() === '.git';

/** What the commit holds of such a file is not what belongs on the disk, and only a program of the person can tell. */
async function requireNoFilter(
  path: string,
  { named, reader }: { named: string; reader: CommitReader },
): Promise<void> {
  const out = await reader.git(['check-attr', '-z', 'filter', '--', path], 64 * 1024);
  const [, , filter = ''] = out.bytes.toString('utf8').split('\0');
  if (out.code !== 0) throw refused('Git could not read the attributes of the repository.');
  if (filter !== 'unspecified' && filter !== 'unset')
    throw refused(`The content of ${named} comes from a filter (${toVisibleLine(filter)}). Use git to put it back.`);
}

const refused = (message: string): WorkspaceProblem => new WorkspaceProblem('wrong_kind', message);
