import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { ProcessRow } from '../../process/process-table.ts';
import type { CgroupFiles } from './cgroups.ts';
import { createLimiter } from './create-limiter.ts';
import { createWatcher } from './watcher.ts';

const LIMITS = { processes: 100, memoryBytes: 1_000_000, fileBytes: 1_000 };
const MOUNTS = {
  v2: '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw',
  v1: [
    '31 23 0:27 / /cg/memory rw - cgroup cgroup rw,memory',
    '32 23 0:28 / /cg/pids rw - cgroup cgroup rw,pids',
    '33 23 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct',
  ].join('\n'),
};

interface FakeOptions {
  cgroup: string;
  mountinfo: string;
  content?: Record<string, string>;
  /** Writing to paths like this fails. */
  refuses?: RegExp;
}

/** The files of a machine with these control groups. */
function fakeFiles({ cgroup, mountinfo, content = {}, refuses }: FakeOptions) {
  const written: string[] = [];
  const check = (path: string) => {
    if (refuses?.test(path)) throw new Error(`EACCES: ${path}`);
  };
  const files: CgroupFiles = {
    self: async (file) => (file === 'cgroup' ? cgroup : mountinfo),
    async read(path) {
      const text = content[path];
      if (text === undefined) throw new Error(`ENOENT: ${path}`);
      return text;
    },
    async write(path, text) {
      check(path);
      written.push(`${path} = ${text}`);
    },
    async make(folder) {
      check(folder);
      written.push(`make ${folder}`);
    },
    async remove(folder) {
      written.push(`remove ${folder}`);
    },
    list: async () => [],
  };
  return { files, written };
}

async function limit(options: FakeOptions) {
  const machine = fakeFiles(options);
  const clock = fakeClock(0);
  const ids = { id: () => 'cmd_1' };
  const limiter = await createLimiter({ limits: LIMITS, name: 'hg', clock, ids, files: machine.files });
  return { ...machine, clock, limiter };
}

const V2 = '/sys/fs/cgroup/user/headgate.service';
const DELEGATED = {
  cgroup: '0::/user/headgate.service\n',
  mountinfo: MOUNTS.v2,
  content: {
    [`${V2}/cgroup.controllers`]: 'cpu memory pids\n',
    [`${V2}/cgroup.procs`]: '4711\n',
    [`${V2}/hg-cmd_1/memory.events`]: 'oom 1\noom_kill 2\n',
    [`${V2}/hg-cmd_1/pids.events`]: 'max 0\n',
  },
};

test('with a delegated group of version 2, the daemon moves into a leaf and each command gets a group', async () => {
  const { limiter, written } = await limit(DELEGATED);
  assert.equal(limiter.way, 'cgroup v2');
  const command = await limiter.begin(5000);
  assert.equal(await command.end(), 'memory');
  assert.deepEqual(written, [
    `make ${V2}/headgate-daemon`,
    `${V2}/headgate-daemon/cgroup.procs = 4711`,
    `${V2}/cgroup.subtree_control = +memory +pids +cpu`,
    `make ${V2}/hg-trial`,
    `${V2}/hg-trial/memory.swap.max = 0`,
    `remove ${V2}/hg-trial`,
    `make ${V2}/hg-cmd_1`,
    `${V2}/hg-cmd_1/pids.max = 100`,
    `${V2}/hg-cmd_1/memory.max = 1000000`,
    `${V2}/hg-cmd_1/memory.swap.max = 0`,
    `${V2}/hg-cmd_1/cgroup.procs = 5000`,
    `remove ${V2}/hg-cmd_1`,
  ]);
});

test('where the kernel does not count swap, memory and processes are limited nevertheless', async () => {
  const { limiter, written } = await limit({ ...DELEGATED, refuses: /memory\.swap\.max/ });
  assert.equal(limiter.way, 'cgroup v2');
  written.length = 0;
  await limiter.begin(5000);
  assert.deepEqual(written, [
    `make ${V2}/hg-cmd_1`,
    `${V2}/hg-cmd_1/pids.max = 100`,
    `${V2}/hg-cmd_1/memory.max = 1000000`,
    `${V2}/hg-cmd_1/cgroup.procs = 5000`,
  ]);
});

test('a limit that cannot be set leaves no group behind', async () => {
  const { limiter, written } = await limit({ ...DELEGATED, refuses: /memory\.max/ });
  await assert.rejects(limiter.begin(5000), /EACCES/);
  await new Promise(setImmediate);
  assert.equal(written.at(-1), `remove ${V2}/hg-cmd_1`);
});

test('a group of version 2 that is not delegated, or that others share, is left as it was', async () => {
  const refused = await limit({ ...DELEGATED, refuses: /subtree_control/ });
  assert.equal(refused.limiter.way, 'watcher');
  assert.deepEqual(refused.written.slice(-2), [`${V2}/cgroup.procs = 4711`, `remove ${V2}/headgate-daemon`]);
  const content = { ...DELEGATED.content, [`${V2}/cgroup.procs`]: '4711\n4712\n' };
  const shared = await limit({ ...DELEGATED, content });
  assert.deepEqual([shared.limiter.way, shared.written], ['watcher', []]);
});

const OLD = { cgroup: '8:pids:/\n4:memory:/box\n1:cpu,cpuacct:/\n0::/\n', mountinfo: MOUNTS.v1 };

test('with writable groups of version 1, each command gets one for each controller', async () => {
  const content = {
    '/cg/pids/hg-cmd_1/pids.events': 'max 3\n',
    '/cg/memory/box/hg-cmd_1/memory.oom_control': 'oom_kill 0\n',
  };
  const { limiter, written } = await limit({ ...OLD, content });
  assert.equal(limiter.way, 'cgroup v1');
  written.length = 0;
  const command = await limiter.begin(5000);
  assert.equal(await command.end(), 'processes');
  assert.deepEqual(written, [
    ...['make /cg/memory/box/hg-cmd_1', 'make /cg/pids/hg-cmd_1', 'make /cg/cpu/hg-cmd_1'],
    ...['/cg/pids/hg-cmd_1/pids.max = 100', '/cg/memory/box/hg-cmd_1/memory.limit_in_bytes = 1000000'],
    ...['/cg/memory/box/hg-cmd_1', '/cg/pids/hg-cmd_1', '/cg/cpu/hg-cmd_1'].map((at) => `${at}/cgroup.procs = 5000`),
    ...['/cg/memory/box/hg-cmd_1', '/cg/pids/hg-cmd_1', '/cg/cpu/hg-cmd_1'].map((at) => `remove ${at}`),
  ]);
});

test('without the controller for processors the others still limit; without that for processes nothing does', async () => {
  assert.equal((await limit({ ...OLD, refuses: /cpu/ })).limiter.way, 'cgroup v1');
  assert.equal((await limit({ ...OLD, refuses: /pids/ })).limiter.way, 'watcher');
});

test('a command that is refused processes again and again is ended', async () => {
  const content: Record<string, string> = { '/cg/pids/hg-cmd_1/pids.events': 'max 100\n' };
  const { limiter, clock } = await limit({ ...OLD, content });
  const command = await limiter.begin(5000);
  let exceeded = '';
  void command.exceeded.then((limit) => {
    exceeded = limit;
  });
  await clock.advance(250);
  assert.equal(exceeded, '');
  content['/cg/pids/hg-cmd_1/pids.events'] = 'max 101\n';
  await clock.advance(250);
  assert.equal(exceeded, 'processes');
  await command.end();
});

const row = (pid: number, parent: number, residentBytes = 1): ProcessRow => ({
  ...{ pid, parent, group: pid, session: pid, startTicks: 1, hasMemory: true, residentBytes },
});

for (const [what, rows, limit] of [
  [
    'many processes',
    (pid: number) => [
      row(pid, 1),
      ...Array.from({ length: 100 }, (_, i) => row(10_000_000 + i, i === 0 ? pid : 9_999_999 + i)),
    ],
    'processes',
  ],
  [
    'much memory',
    (pid: number) => [row(pid, 1), row(10_000_000, pid, 600_000), row(10_000_001, 10_000_000, 500_000)],
    'memory',
  ],
  ['little', (pid: number) => [row(pid, 1), row(10_000_000, pid, 600_000), row(10_000_001, 1, 500_000)], undefined],
] as const) {
  test(`the watcher sees that a command uses ${what}, by its descendants`, async (t) => {
    const child = spawn('sleep', ['60']);
    t.after(() => child.kill('SIGKILL'));
    const pid = child.pid ?? 0;
    const clock = fakeClock(0);
    const command = await createWatcher({ limits: LIMITS, clock, readProcesses: async () => rows(pid) }).begin(pid);
    await clock.advance(100);
    assert.equal(await command.end(), limit);
    if (limit !== undefined) assert.equal(await command.exceeded, limit);
  });
}
