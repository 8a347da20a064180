import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { MAX_RESOURCE_BYTES } from '../../../../protocol/methods/skills/skill-resource.ts';
import { readFrontMatter, toFieldText } from '../../../content/skills/front-matter.ts';
import { validateSkill } from '../../../content/skills/validate-skill.ts';
import { UsageError } from '../../../start-error.ts';
import { readPlainFile } from './plain-file.ts';

/** What `skill.resource.create` accepts, and of what kind. */
const FOLDERS = ['scripts', 'references', 'assets'];
/** The most that a SKILL.md may have. */
const MOST_BYTES = 256 * 1024;

/** Reads a skill as it is stored. `left`: files that are not text. Throws UsageError for what cannot be stored as a whole. */
export async function readSkillFolder(folder: string) {
  const place = path.resolve(folder);
  const text = (await readPlainFile(path.join(place, 'SKILL.md'), MOST_BYTES))?.toString('utf8');
  if (text === undefined)
    throw new UsageError(`${folder} has no SKILL.md that can be read, of at most ${MOST_BYTES / 1024} KiB`);
  const problems = (await validateSkill(text, path.basename(place))).filter(({ isHarmless }) => !isHarmless);
  const read = await readFrontMatter(text);
  if (problems.length > 0 || 'problem' in read)
    throw new UsageError(problems.map((problem) => problem.text).join('; ') || 'the frontmatter cannot be read');
  const { fields, body } = read;
  return {
    fields: {
      name: String(fields.name).trim(),
      description: String(fields.description).trim(),
      content: body,
      ...(fields.license !== undefined && { license: toFieldText(fields.license) }),
      ...(fields.compatibility !== undefined && { compatibility: toFieldText(fields.compatibility) }),
    },
    ...(await readFiles(place)),
  };
}

async function readFiles(place: string) {
  const files: { path: string; content: string }[] = [];
  const left: string[] = [];
  for (const file of await filesIn(place)) {
    const bytes = await readPlainFile(path.join(place, file), MAX_RESOURCE_BYTES);
    if (bytes === undefined)
      throw new UsageError(`${file} cannot be read, or has more than ${MAX_RESOURCE_BYTES / 1024} KiB`);
    const content = bytes.toString('utf8');
    if (Buffer.from(content).equals(bytes) && !content.includes('\0')) files.push({ path: file, content });
    else left.push(file);
  }
  return { files, left };
}

/** Without links, which may lead anywhere. */
async function filesIn(place: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of FOLDERS) {
    const start = path.join(place, folder);
    if (!(await isFolder(start))) continue;
    for (const entry of await readdir(start, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        found.push(path.relative(place, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
  }
  return found.sort((a, b) => (a < b ? -1 : 1));
}

const isFolder = async (place: string): Promise<boolean> =>
  lstat(place).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
