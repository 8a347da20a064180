import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { toBubblewrapArguments } from '../../src/agent/sandbox/bubblewrap-arguments.ts';
import { CALLS, readTrace, type Trace } from './trace.ts';

const run = promisify(execFile);

/** Runs commands in the sandbox of the product and traces them. */
export async function openTracer() {
  const root = await mkdtemp('/var/tmp/headgate-effects-'); // /tmp is private in the sandbox
  const [home, template] = [path.join(root, 'home'), path.join(root, 'template')];
  await mkdir(home);
  await layOut(template);
  let count = 0;
  return {
    /** The trace of one command in a new folder. */
    async trace(command: string): Promise<{ trace: Trace; folder: string }> {
      count += 1;
      const folder = path.join(root, `work-${count}`);
      const traces = path.join(root, `trace-${count}`);
      await cp(template, folder, { recursive: true });
      await mkdir(traces);
      const output = path.join(traces, 'strace');
      const sandbox = [
        ...toBubblewrapArguments({
          ...{ emptied: [], unreadable: [], shown: [], home, tmpBytes: undefined, opener: undefined },
          roots: [{ path: folder, bindFd: undefined, sourceFd: -1, isWritable: true, readOnly: [], pinned: [] }],
        }),
        ...['--bind', traces, traces, '--setenv', 'HOME', folder, '--setenv', 'TERM', 'dumb'],
        ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin'],
      ];
      const strace = ['strace', '-f', '-y', '-qq', '-s', '4096', '-o', output, '-e', `trace=${CALLS}`];
      const shell = ['bash', '--norc', '--noprofile', '-c', command];
      await run('bwrap', [...sandbox, '--', ...strace, ...shell], { timeout: 10_000, killSignal: 'SIGKILL' }).catch(
        () => undefined,
      );
      const trace = readTrace(await readFile(output, 'utf8').catch(() => ''), folder);
      await rm(folder, { recursive: true, force: true });
      await rm(traces, { recursive: true, force: true });
      return { trace, folder };
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** Files with the names that the commands use. */
async function layOut(folder: string): Promise<void> {
  for (const name of ['src', 'lib', 'build', 'sub', 'empty', 'dst'])
    await mkdir(path.join(folder, name), { recursive: true });
  const names = [
    'a.txt',
    'b.txt',
    'log.txt',
    'list.txt',
    'x',
    'y',
    'src/main.c',
    'src/x',
    'lib/a.c',
    'build/x.o',
    'in.txt',
  ];
  for (const name of names) await writeFile(path.join(folder, name), 'x\nfoo 1\na.txt\n');
  await writeFile(path.join(folder, 'data.json'), '{"a":1}');
  await writeFile(path.join(folder, 'data.csv'), 'a,b\n1,2\n');
  await run('tar', ['czf', 'in.tgz', 'src'], { cwd: folder });
  await run('tar', ['cf', 'in.tar', 'src'], { cwd: folder });
}
