import assert from 'node:assert/strict';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../../testing/temp-store.ts';
import { type FileLooks, patientLooks, promptLooks } from '../tools/files/file-looks.ts';
import { findInstructions } from './instructions.ts';
import { findProjectFolders } from './project-folders.ts';

/** A home, and a repository `shop` with a folder `api`. */
async function places(looks: FileLooks) {
  const dir = tempDir();
  const root = await realpath(dir.path);
  const [home, shop] = [path.join(root, 'home'), path.join(root, 'shop')];
  const api = path.join(shop, 'api');
  await mkdir(path.join(home, 'workspace'), { recursive: true });
  await mkdir(path.join(shop, '.git'), { recursive: true });
  await mkdir(api);
  const write = (text: string, ...names: string[]) => writeFile(path.join(root, ...names), text);
  const find = async (workdir: string, trusted: string[] = [shop], agreed: string[] = []) => {
    const { folders: project } = await findProjectFolders(workdir, looks);
    const places = { project, looks, agreed };
    const { files, untrusted } = await findInstructions({ home, trusted: () => trusted }, places);
    const short = (file: string) => path.relative(root, file);
    return {
      files: files.map(({ path: file, text }) => [short(file), text]),
      untrusted: untrusted.map(({ path: file }) => short(file)),
    };
  };
  return { root, home, shop, api, write, find, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

for (const [how, looks] of Object.entries({ 'at once': promptLooks, patiently: patientLooks })) {
  test(`looking ${how}: files from the home, then from the root of the repository to the working directory`, async () => {
    using at = await places(looks);
    await at.write('outside', 'AGENTS.md');
    await at.write('ours', 'home', 'AGENTS.md');
    await at.write('shop', 'shop', 'AGENTS.md');
    await at.write('not read', 'shop', 'CLAUDE.md');
    await at.write('api', 'shop', 'api', 'CLAUDE.md');
    const ours = ['home/AGENTS.md', 'ours'];
    assert.deepEqual(await at.find(at.api), {
      files: [ours, ['shop/AGENTS.md', 'shop'], ['shop/api/CLAUDE.md', 'api']],
      untrusted: [],
    });
  });

  test(`looking ${how}: without a repository, only the working directory counts`, async () => {
    using at = await places(looks);
    await mkdir(path.join(at.root, 'notes', 'deep'), { recursive: true });
    await at.write('no', 'notes', 'AGENTS.md');
    await at.write('yes', 'notes', 'deep', 'AGENTS.md');
    assert.deepEqual(await at.find(path.join(at.root, 'notes', 'deep'), [at.root]), {
      files: [['notes/deep/AGENTS.md', 'yes']],
      untrusted: [],
    });
  });

  test(`looking ${how}: files of folders that nobody trusts are only named; the workspace is trusted`, async () => {
    using at = await places(looks);
    await at.write('shop', 'shop', 'AGENTS.md');
    await at.write('api', 'shop', 'api', 'AGENTS.md');
    await at.write('work', 'home', 'workspace', 'AGENTS.md');
    assert.deepEqual(
      [await at.find(at.api, [at.api]), await at.find(at.shop, []), await at.find(path.join(at.home, 'workspace'), [])],
      [
        { files: [['shop/api/AGENTS.md', 'api']], untrusted: ['shop/AGENTS.md'] },
        { files: [], untrusted: ['shop/AGENTS.md'] },
        { files: [['home/workspace/AGENTS.md', 'work']], untrusted: [] },
      ],
    );
  });

  test(`looking ${how}: a folder that people agreed to is trusted without its subfolders`, async () => {
    using at = await places(looks);
    await at.write('shop', 'shop', 'AGENTS.md');
    await at.write('api', 'shop', 'api', 'AGENTS.md');
    assert.deepEqual(await at.find(at.api, [], [at.shop]), {
      files: [['shop/AGENTS.md', 'shop']],
      untrusted: ['shop/api/AGENTS.md'],
    });
  });

  test(`looking ${how}: links are not followed`, async () => {
    using at = await places(looks);
    await at.write('secret', 'secret.md');
    await symlink(path.join(at.root, 'secret.md'), path.join(at.shop, 'AGENTS.md'));
    await symlink(at.shop, path.join(at.root, 'linked'));
    await at.write('api', 'shop', 'api', 'AGENTS.md');
    assert.deepEqual(
      [await at.find(at.shop), await at.find(path.join(at.root, 'linked', 'api'), [at.root])],
      [
        { files: [], untrusted: [] },
        { files: [], untrusted: [] },
      ],
    );
  });

  test(`looking ${how}: all files together are limited; the nearest is shortened last, and the text says so`, async () => {
    using at = await places(looks);
    const long = 'ä'.repeat(10_000);
    await at.write(long, 'shop', 'api', 'AGENTS.md');
    await at.write(long, 'shop', 'AGENTS.md');
    await at.write('ours', 'home', 'AGENTS.md');
    const { files } = await at.find(at.api);
    const leftOut = (bytes: number) =>
      `\n[${bytes} bytes of this file are left out: all instruction files together are limited to 32 KiB.]`;
    assert.deepEqual(files, [
      ['home/AGENTS.md', leftOut(4)],
      ['shop/AGENTS.md', `${'ä'.repeat(6_384)}${leftOut(20_000 - 12_768)}`],
      ['shop/api/AGENTS.md', long],
    ]);
  });

  test(`looking ${how}: a file that is not text is not read`, async () => {
    using at = await places(looks);
    await at.write('a\0b', 'shop', 'AGENTS.md');
    assert.deepEqual(await at.find(at.shop), { files: [], untrusted: [] });
  });
}
