import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { createBarriers } from '../sandbox/barriers.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { BASH, BWRAP } from './program-fixture.ts';
import type { Program } from './programs.ts';
import { createProcessRunner } from './runner.ts';
import { type CommandAccess, detectSandbox } from './sandbox.ts';

export const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root' };

/** Not the system's temporary folder: /tmp is hidden inside anyway, so it would prove nothing. */
const VISIBLE = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();

export async function place(t: TestContext, layout: (root: string) => { home: string; workdir: string }) {
  const root = await realpath(await mkdtemp(join(VISIBLE, 'headgate-sandbox-')));
  t.after(() => rm(root, { recursive: true, force: true }));
  const { home, workdir } = layout(root);
  await mkdir(home, { recursive: true });
  await mkdir(workdir, { recursive: true });
  await writeFile(join(home, 'token'), 'canary-token');
  return { root, home, workdir };
}

/** A machine on which nothing is hidden but Headgate's home. */
export const machineOf = (home: string) => ({
  places: { emptied: [], unreadable: [], shown: [] },
  barriers: createBarriers({ folder: join(home, 'barriers') }),
  tmpBytes: 16 * 1_024 * 1_024,
});

/** Runs a command in the real sandbox. */
export async function enter(t: TestContext, layout: Parameters<typeof place>[1]) {
  return enterAt(t, await place(t, layout), {});
}

type Place = Awaited<ReturnType<typeof place>>;

interface Started {
  onPrinted?: () => void;
  isOutside: boolean;
  timeoutMs?: number;
}

interface Entered {
  bwrap?: Program;
  bash?: Program;
  /** Further roots of the workstream. */
  roots?: readonly string[];
}

export async function enterAt(t: TestContext, at: Place, { bwrap = BWRAP, bash = BASH, roots = [] }: Entered) {
  const clock = systemClock;
  const programs = { bash, bwrap };
  const sandbox = await detectSandbox({
    mode: 'auto',
    home: at.home,
    environment,
    clock,
    programs,
    ...machineOf(at.home),
  });
  assert.ok(sandbox.kind === 'bubblewrap', sandbox.kind === 'none' ? sandbox.reason : '');
  const folder = await holdFolder(at.workdir);
  t.after(() => folder[Symbol.asyncDispose]());
  const others = await Promise.all(roots.map((root) => holdFolder(root)));
  t.after(() => Promise.all(others.map((other) => other[Symbol.asyncDispose]())));
  const access: Pick<CommandAccess, 'others' | 'tier' | 'writable'> = { others, tier: 'workspace', writable: [] };
  const home = '/home/of-a-test';
  const runner = createProcessRunner({ clock, environment, sandbox, bash, ids: randomIds, home });
  let printed = '';
  const stop = new AbortController();
  const start = async (command: string, { onPrinted = () => undefined, isOutside, timeoutMs = 20_000 }: Started) => {
    printed = '';
    const result = await runner.run(
      { command, folder, timeoutMs, isOutside, access },
      {
        signal: stop.signal,
        onProcess: async () => undefined,
        onOutput: async (bytes) => {
          printed += bytes.toString('utf8');
          onPrinted();
        },
      },
    );
    return { result, printed };
  };
  const run = (command: string, how: Omit<Started, 'isOutside'> = {}) => start(command, { ...how, isOutside: false });
  const runOutside = (command: string) => start(command, { isOutside: true });
  return { ...at, run, runOutside, stop };
}

export const LAYOUTS = {
  'the workdir lies in the home': (root: string) => ({
    home: join(root, 'home'),
    workdir: join(root, 'home/workspace'),
  }),
  'the home lies in the workdir': (root: string) => ({
    home: join(root, 'work/.headgate'),
    workdir: join(root, 'work'),
  }),
  'they lie apart': (root: string) => ({ home: join(root, 'home'), workdir: join(root, 'work') }),
};
