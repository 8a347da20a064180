import assert from 'node:assert/strict';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../../testing/temp-store.ts';
import { COMMAND_LIMITS, createProjectCommands, fillIn, missingArguments } from './project-commands.ts';

/** A repository with a folder `api`, both with commands. */
async function repository() {
  const dir = tempDir();
  const root = await realpath(dir.path);
  await mkdir(path.join(root, '.git'));
  const folders = { root: path.join(root, '.headgate/commands'), api: path.join(root, 'api/.headgate/commands') };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
  const commands = (trusted: string[]) =>
    createProjectCommands({ home: path.join(root, 'home'), trusted: () => trusted });
  const list = (trusted: string[]) => commands(trusted).list(path.join(root, 'api'), []);
  const others = (trusted: string[]) => commands(trusted).others(path.join(root, 'api'), []);
  return { root, folders, list, others, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

test('commands of all folders up to the repository’s root; the nearest wins', async () => {
  using at = await repository();
  await writeFile(path.join(at.folders.root, 'test.md'), 'Run npm test.');
  await writeFile(
    path.join(at.folders.root, 'review-pr.md'),
    '---\ndescription: "Review a change"\nargument-hint: NUMBER\n---\n\nReview #$1.\n',
  );
  await writeFile(path.join(at.folders.api, 'test.md'), '# Run the tests of the API\n\nWith $ARGUMENTS.');
  assert.deepEqual(await at.list([at.root]), [
    { name: 'review-pr', argument: 'NUMBER', summary: 'Review a change', text: 'Review #$1.' },
    {
      name: 'test',
      argument: '[ARGUMENTS]',
      summary: 'Run the tests of the API',
      text: '# Run the tests of the API\n\nWith $ARGUMENTS.',
    },
  ]);
});

test('folders that nobody trusts have no commands; links, empty files and odd names are none', async () => {
  using at = await repository();
  await writeFile(path.join(at.folders.root, 'test.md'), 'Run npm test.');
  await writeFile(path.join(at.folders.api, 'Odd Name.md'), 'no');
  await writeFile(path.join(at.folders.api, 'empty.md'), ' \n');
  await symlink(path.join(at.folders.root, 'test.md'), path.join(at.folders.api, 'link.md'));
  assert.deepEqual([await at.list([]), await at.list([path.join(at.root, 'api')])], [[], []]);
});

test('arguments are filled in once; without a place they follow the text', () => {
  assert.deepEqual(
    [
      fillIn({ text: 'Compare $1 with $2: $ARGUMENTS. Costs $10.' }, '"a b" $1'),
      fillIn({ text: 'Run $1.' }, ''),
      fillIn({ text: 'Run the tests.' }, 'twice'),
    ],
    ['Compare a b with $1: "a b" $1. Costs $10.', 'Run .', 'Run the tests.\n\ntwice'],
  );
});

test('commands of folders that nobody trusts are named, and trusted files with odd names have their reason', async () => {
  using at = await repository();
  await writeFile(path.join(at.folders.root, 'test.md'), 'Run npm test.');
  await writeFile(path.join(at.folders.api, 'Odd Name.md'), 'no');
  assert.deepEqual(await at.others([path.join(at.root, 'api')]), {
    waiting: [{ name: 'test', folder: at.root }],
    odd: [{ file: path.join(at.folders.api, 'Odd Name.md'), why: 'name' }],
  });
  assert.deepEqual((await at.others([])).odd, [], 'names of untrusted folders are not shown');
});

test('files that are empty, too long, links or too many are told apart', async () => {
  using at = await repository();
  const write = (name: string, text: string) => writeFile(path.join(at.folders.api, name), text);
  const trusted = [path.join(at.root, 'api')];
  await write('empty.md', '---\ndescription: nothing\n---\n \n');
  await write('long.md', 'x'.repeat(COMMAND_LIMITS.bytes + 1));
  await write('most.md', 'x'.repeat(COMMAND_LIMITS.bytes));
  await symlink(path.join(at.folders.api, 'most.md'), path.join(at.folders.api, 'link.md'));
  const odd = async () => (await at.others(trusted)).odd.map(({ file, why }) => [path.basename(file), why]);
  assert.deepEqual(await odd(), [
    ['empty.md', 'empty'],
    ['link.md', 'unreadable'],
    ['long.md', 'too_long'],
  ]);
  assert.deepEqual(
    (await at.list(trusted)).map(({ name }) => name),
    ['most'],
  );
  for (let n = 0; n < COMMAND_LIMITS.commands - 4; n += 1) await write(`c${String(n).padStart(3, '0')}.md`, 'go');
  assert.equal((await odd()).length, 3);
  await write('z.md', 'go');
  assert.deepEqual((await odd()).at(-1), ['z.md', 'too_many']);
});

test('single arguments that are missing are noticed', () => {
  assert.deepEqual(
    [
      missingArguments({ text: 'Compare $1 with $2.' }, '"a b"'),
      missingArguments({ text: 'Compare $1 with $2.' }, '"a b" c'),
      missingArguments({ text: 'Look at $ARGUMENTS for $10.' }, ''),
    ],
    [2, undefined, undefined],
  );
});
