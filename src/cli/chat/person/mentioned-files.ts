import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { findMentions, type Mention } from '../../../../protocol/mentions/mentions.ts';
import { UsageError } from '../../../start-error.ts';
import { readAttachment } from '../../upload.ts';

/** A mention and the file, or the lines of it, that it stands for. */
export interface MentionedFile {
  mention: Mention;
  file: File;
}

/** Reads the files that a message mentions. A mention of something else, such as a folder or a person, stays plain text. */
export async function readMentioned(text: string, workdir: string): Promise<MentionedFile[]> {
  const read: MentionedFile[] = [];
  for (const mention of findMentions(text)) {
    if (await isFile(path.resolve(workdir, mention.path))) {
      read.push({ mention, file: await readOne(mention, workdir) });
    }
  }
  return read;
}

const isFile = (name: string): Promise<boolean> =>
  stat(name).then(
    (found) => found.isFile(),
    () => false, // such as a name of a person
  );

async function readOne({ path: name, lines }: Mention, workdir: string): Promise<File> {
  const whole = await readAttachment(name, { cwd: workdir });
  if (lines === undefined) return whole;
  const all = (await readFile(path.resolve(workdir, name), 'utf8')).split('\n');
  if (all.at(-1) === '') all.pop();
  const { first, last } = lines;
  if (first < 1 || last < first || last > all.length) {
    throw new UsageError(`${name} has lines 1 to ${all.length}, but the message names ${first} to ${last}.`);
  }
  const range = first === last ? `line ${first}` : `lines ${first}-${last}`;
  return new File([`${all.slice(first - 1, last).join('\n')}\n`], `${path.basename(name)} (${range})`);
}
