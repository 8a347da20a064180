import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { findInstalled } from '../../src/agent/process/program-fixture.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  /** A folder for those of workstreams. */
  home: string;
}

const run = promisify(execFile);

/** A successful call of each method about the files of a workstream. */
export function fileCalls({ call, home }: Session) {
  const FILE = { path: 'a.txt' };
  const inFolder = async () => {
    const workdir = path.join(home, 'workspace', 'of-file-calls');
    await mkdir(workdir, { recursive: true });
    await writeFile(path.join(workdir, FILE.path), 'one\n');
    const { wsId } = await call('workstream.create', { workdir });
    return { wsId, workdir };
  };
  return {
    'file.list': async () => call('file.list', { wsId: (await inFolder()).wsId }),
    'file.find': async () => call('file.find', { wsId: (await inFolder()).wsId, query: 'a' }),
    'file.read': async () => call('file.read', { wsId: (await inFolder()).wsId, ...FILE }),
    'file.changes': async () => call('file.changes', { wsId: (await inFolder()).wsId }),
    async 'file.diff'() {
      const git = await findInstalled('git');
      if (git.kind !== 'found') return; // git knows no change then
      const { wsId, workdir } = await inFolder();
      await run(git.path, ['init', '-q'], { cwd: workdir });
      await call('file.diff', { wsId, ...FILE });
    },
    async 'file.discard'() {
      const git = await findInstalled('git');
      if (git.kind !== 'found') return;
      const { wsId, workdir } = await inFolder();
      await run(git.path, ['init', '-q'], { cwd: workdir });
      const { seen = '' } = await call('file.diff', { wsId, ...FILE });
      await call('file.discard', { wsId, ...FILE, seen });
    },
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
