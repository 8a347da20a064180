import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { randomIds } from '../../../ids.ts';
import { backgroundFixture } from '../../background/background-fixture.ts';
import { testGuard } from '../../guard/guard-fixture.ts';
import { BASH, RG } from '../../process/program-fixture.ts';
import { createProcessRunner } from '../../process/runner.ts';
import { createBashTool } from '../bash.ts';
import { createPdfReader } from '../documents/read-pdf.ts';
import { createEditFileTool } from '../edit-file.ts';
import { createListDirectoryTool } from '../list-directory.ts';
import { createReadFileTool } from '../read-file.ts';
import { createSearchTool } from '../search.ts';
import type { Tool } from '../tool.ts';
import { createToolFixture, execute, sawFiles } from '../tool-fixture.ts';
import { createWriteFileTool } from '../write-file.ts';
import { toSha256 } from './confined-file.ts';
import { createConfinement } from './confinement.ts';
import { hasWay, holdFolder } from './held-folder.ts';

const environment = { PATH: '/usr/local/bin:/usr/bin:/bin' };

/** What replaces the working directory between the preparation and the execution of a call. */
const EXCHANGES: Record<string, (workdir: string, other: string) => Promise<void>> = {
  'a link to another folder': (workdir, other) => symlink(other, workdir),
  'another folder': (workdir, other) => rename(other, workdir),
  'a link to the root of the disk': (workdir) => symlink('/', workdir),
  nothing: async () => undefined,
};

async function start() {
  const fixture = await createToolFixture();
  const { home, root, workdir } = fixture;
  await fixture.file('work/sub/a.txt', 'harmless');
  await fixture.file('other/sub/a.txt', 'canary');
  const confinement = createConfinement({ home });
  const sandbox = { kind: 'none', reason: 'a test', required: false } as const;
  const runner = createProcessRunner({ clock: systemClock, environment, sandbox, bash: BASH, ids: randomIds, home });
  const search = { confinement, clock: systemClock, workerUrl: new URL('../search/search-worker.ts', import.meta.url) };
  const { background } = backgroundFixture(join(home, 'outputs'));
  const ripgrep = RG.kind === 'found' ? RG.path : undefined;
  const history = [sawFiles({ [join(workdir, 'sub/a.txt')]: toSha256('harmless') })];
  const prepare = async <A>(tool: Tool<A>, args: object) =>
    tool.prepare(tool.parameters.parse(args), { ...fixture.context(history) });
  return {
    ...fixture,
    other: join(root, 'other'),
    prepared: {
      read_file: await prepare(
        createReadFileTool({
          confinement,
          pdf: createPdfReader({ clock: systemClock, workerUrl: new URL('file:///none') }),
        }),
        { path: 'sub/a.txt' },
      ),
      list_directory: await prepare(createListDirectoryTool({ confinement }), { path: 'sub' }),
      ripgrep: await prepare(createSearchTool({ ...search, ripgrep }), { query: 'a', path: 'sub' }),
      'our own search': await prepare(createSearchTool({ ...search, ripgrep: undefined }), { query: 'a', path: 'sub' }),
      write_file: await prepare(createWriteFileTool({ confinement }), { path: 'new/b.txt', content: 'planted' }),
      edit_file: await prepare(createEditFileTool({ confinement }), {
        ...{ path: 'sub/a.txt', old_string: 'harmless', new_string: 'planted' },
      }),
      bash: await prepare(
        createBashTool({ runner, outputs: join(home, 'outputs'), ids: randomIds, guard: testGuard(), background }),
        {
          command: 'cat sub/a.txt; touch planted',
        },
      ),
    },
  };
}

for (const [what, exchange] of Object.entries(EXCHANGES)) {
  test(`prepared calls stay in their folder when ${what} is put at its path`, async () => {
    await using it = await start();
    await rename(it.workdir, `${it.workdir}.aside`);
    await exchange(it.workdir, it.other);
    for (const [tool, prepared] of Object.entries(it.prepared)) {
      assert.doesNotMatch((await execute(prepared)).output, /canary|root:|bin/, tool);
    }
    const at = what === 'another folder' ? it.workdir : it.other;
    assert.deepEqual([await readdir(at), await readdir(join(at, 'sub'))], [['sub'], ['a.txt']]);
    assert.equal(await readFile(join(at, 'sub/a.txt'), 'utf8'), 'canary');
  });
}

for (const disk of ['local', 'remote']) {
  test(`a folder on a ${disk} disk is in place while its path leads to it without links`, async () => {
    await using it = await createToolFixture();
    const path = join(it.root, 'deep/folder');
    await mkdir(path, { recursive: true });
    await using held = await holdFolder(path, async () => disk === 'local');
    const seen = [await held.isInPlace()];
    await rename(path, `${path}.aside`);
    seen.push(await held.isInPlace());
    await mkdir(path);
    seen.push(await held.isInPlace());
    await rm(path, { recursive: true });
    await symlink(`${path}.aside`, path);
    seen.push(await held.isInPlace());
    await rm(path);
    await rename(`${path}.aside`, path);
    seen.push(await held.isInPlace());
    await rename(join(it.root, 'deep'), join(it.root, 'deep2'));
    await symlink('deep2', join(it.root, 'deep'));
    seen.push(await held.isInPlace());
    assert.deepEqual(seen, [true, false, false, false, true, false]);
  });
}

test('a link cannot be held', async () => {
  await using it = await createToolFixture();
  await symlink(it.workdir, join(it.root, 'link'));
  await assert.rejects(holdFolder(join(it.root, 'link')), { code: 'ENOTDIR' });
});

test('whether folders can be reached without their names does not depend on a name that is just gone', async () => {
  await using fixture = await createToolFixture();
  await using folder = await holdFolder(fixture.workdir);
  const before = await hasWay(folder);
  await rm(fixture.workdir, { recursive: true });
  assert.equal(await hasWay(folder), before);
});
