import { execFile } from 'node:child_process';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../clock.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { findInstalled } from '../process/program-fixture.ts';
import { type Program, STANDARD_PATH } from '../process/programs.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { createFilesInFolders } from './files-in-folders.ts';

const run = promisify(execFile);
const WORKER = new URL('../tools/search/search-worker.ts', import.meta.url);

/** A working directory, an added folder and a foreign one, with the files of people over them. */
export async function workspaceFixture(rg: Program = { kind: 'missing' }) {
  const dir = tempDir();
  const root = await realpath(dir.path);
  const at = (name: string) => join(root, name);
  for (const name of ['home', 'work', 'added', 'foreign']) await mkdir(at(name));
  const folder = await holdFolder(at('work'));
  const added = await holdFolder(at('added'));
  const git = await findInstalled('git');
  return {
    root,
    at,
    workdir: { folder, readable: [added] },
    workspace: createFilesInFolders({
      home: at('home'),
      clock: systemClock,
      searchWorkerUrl: WORKER,
      programs: { rg, git },
    }),
    async file(name: string, content: string | Buffer = '') {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), content);
    },
    /** Runs git in the working directory. */
    async git(...args: string[]) {
      const env = { PATH: STANDARD_PATH, HOME: at('home'), GIT_CONFIG_NOSYSTEM: '1' };
      const known = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'init.defaultBranch=main'];
      await run('git', [...known, ...args], { cwd: at('work'), env });
    },
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await added[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}
