import path from 'node:path';
import { validateSkill } from '../../../content/skills/validate-skill.ts';
import { EXIT } from '../../../exit-codes.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { readPlainFile } from './plain-file.ts';

/** Prints what is wrong with the skills in folders, and exits with 1 if anything is. */
export async function validateFolders(folders: readonly string[]): Promise<void> {
  let isAnyWrong = false;
  for (const folder of folders) {
    const problems = await problemsOf(path.resolve(folder));
    isAnyWrong ||= problems.length > 0;
    const words = problems.length === 0 ? ['valid'] : problems;
    process.stdout.write(words.map((word) => `${toSafeText(folder)}: ${toSafeText(word)}\n`).join(''));
  }
  if (isAnyWrong) process.exitCode = EXIT.failed;
}

async function problemsOf(folder: string): Promise<string[]> {
  const text = (await readText(path.join(folder, 'SKILL.md'))) ?? (await readText(path.join(folder, 'skill.md')));
  if (text === undefined) return ['Missing required file: SKILL.md'];
  return (await validateSkill(text, path.basename(folder))).map((problem) => problem.text);
}

/** Larger files are no skills for anybody. */
const MOST_BYTES = 1024 * 1024;

const readText = async (file: string): Promise<string | undefined> =>
  (await readPlainFile(file, MOST_BYTES))?.toString('utf8');
