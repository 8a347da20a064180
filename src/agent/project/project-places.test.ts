import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mock, test } from 'node:test';
import { tempDir } from '../../testing/temp-store.ts';
import { isObeyedPath } from '../permissions/obeyed-paths.ts';
import { isProtected } from '../sandbox/protected-paths.ts';
import { createFolderSkills } from '../skills/folder-skills.ts';
import { promptLooks } from '../tools/files/file-looks.ts';
import { findInstructions } from './instructions.ts';
import { createProjectCommands } from './project-commands.ts';
import { findProjectFolders } from './project-folders.ts';
import { COMMAND_FOLDER, INSTRUCTION_FILES, SKILL_FOLDERS } from './project-places.ts';

/** A trusted repository with something at every place. */
async function repository() {
  const dir = tempDir();
  const root = path.join(await realpath(dir.path), 'shop');
  const files = [
    ...['.git/HEAD', ...INSTRUCTION_FILES, `${COMMAND_FOLDER}/review.md`],
    ...SKILL_FOLDERS.flatMap((place) => [`${place}/build/SKILL.md`, `${place}/build/scripts/run.sh`]),
  ];
  for (const file of files) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), '---\nname: build\ndescription: Builds it\n---\nDo it.');
  }
  return { root, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

test('whatever is read in a project and obeyed asks before it is changed, and no command can change it', async (t) => {
  using at = await repository();
  const { root } = at;
  const looks = (['isFolder', 'readStart', 'namesIn'] as const).map((name) => mock.method(promptLooks, name));
  t.after(() => mock.restoreAll());
  const folders = { home: path.join(path.dirname(root), 'home'), trusted: () => [root] };
  const { folders: project } = await findProjectFolders(root, promptLooks);
  const { files } = await findInstructions(folders, { project, looks: promptLooks, agreed: [] });
  const skills = createFolderSkills(folders);
  const found = await skills.find(root, []);
  for (const skill of found.skills) await skills.list(skill);
  const commands = await createProjectCommands(folders).list(root, []);
  assert.deepEqual([files.length, found.skills.length, commands.length], [1, 1, 1]);
  const seen = looks.flatMap((look) => look.mock.calls.map(({ arguments: [place] }) => String(place)));
  const inside = [...new Set(seen)].filter((place) => place.startsWith(`${root}/`));
  assert.ok(inside.length >= 10, inside.join(' '));
  const open = inside.filter((place) => !isProtected(place, [root]) || !isObeyedPath(path.relative(root, place)));
  assert.deepEqual(open, []);
});

/**
 * Whoever looks at files of a project. A new one that reads what is obeyed takes the places from project-places.ts, and is
 * added to the test above.
 */
const READERS = [
  'src/agent/prefix/surroundings.ts', // passes them on
  'src/agent/project/git-state.ts', // .git, as words about it
  'src/agent/project/instructions.ts',
  'src/agent/project/project-commands.ts',
  'src/agent/project/project-folders.ts', // only whether .git is there
  'src/agent/skills/folder-skills.ts',
  'src/agent/tools/shell/machine-names.ts', // files of the system
  'src/gateway/workstreams/workdir.ts', // which folder it is
  'src/gateway/workstreams/workdirs.ts',
];

test('nobody else looks at files of a project, and only one place names what is read there', async () => {
  const readers: string[] = [];
  const naming: string[] = [];
  for (const file of [...(await sourcesIn('src/agent')), ...(await sourcesIn('src/gateway'))]) {
    const text = await readFile(path.join(ROOT, file), 'utf8');
    if (/from '[^']*\/(file-looks|project-folders)\.ts'/.test(text)) readers.push(file);
    if (/['"`/](\.headgate|\.agents|\.claude|CLAUDE\.md|\.gitignore)(\/[a-z]*)?['"`]/.test(text)) naming.push(file);
  }
  assert.deepEqual(
    [readers.sort((a, b) => (a < b ? -1 : 1)), naming],
    [READERS, ['src/agent/project/project-places.ts']],
  );
});

const ROOT = path.join(import.meta.dirname, '../../..');

async function sourcesIn(folder: string): Promise<string[]> {
  const names = await readdir(path.join(ROOT, folder), { recursive: true });
  return names
    .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|-fixture\.ts$|(^|\/)testing\//.test(name))
    .map((name) => path.join(folder, name));
}
