import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { commandLinesWith } from '../../testing/command-lines.ts';
import { needs } from '../../testing/needs.ts';
import { type SandboxPlaces, toBubblewrapArguments } from '../sandbox/bubblewrap-arguments.ts';
import { StopReason } from '../stop-reason.ts';
import { BASH, BWRAP } from './program-fixture.ts';
import type { Program } from './programs.ts';
import { detectSandbox, type Sandbox } from './sandbox.ts';
import { enter, enterAt, environment, LAYOUTS, machineOf, place } from './sandbox-fixture.ts';

const sandboxed = await needs('bubblewrap');

const placesOf = (home: string, workdir: string): SandboxPlaces => ({
  ...{ emptied: [], unreadable: [], shown: [], home, tmpBytes: undefined, opener: undefined },
  roots: [{ path: workdir, bindFd: 5, sourceFd: 4, isWritable: true, readOnly: [], pinned: [] }],
});

test('every folder is mounted before the folders inside it', () => {
  const mounts = (home: string, workdir: string) =>
    toBubblewrapArguments(placesOf(home, workdir))
      .join(' ')
      .match(/--(tmpfs|ro-bind|bind-fd 5) \/\S*/g);
  const system = ['--ro-bind /', '--ro-bind /proc/sys', '--tmpfs /tmp', '--tmpfs /run', '--tmpfs /dev/shm'];
  assert.deepEqual(mounts('/h/home', '/h/home/ws/a'), [...system, '--tmpfs /h/home', '--bind-fd 5 /h/home/ws/a']);
  assert.deepEqual(mounts('/h/w/.headgate', '/h/w'), [...system, '--bind-fd 5 /h/w', '--tmpfs /h/w/.headgate']);
  assert.deepEqual(mounts('/tmp/h', '/tmp/w'), [...system, '--tmpfs /tmp/h', '--bind-fd 5 /tmp/w']);
});

test('a sandbox has its own namespaces, no capabilities, and dies with the daemon', () => {
  const argv = toBubblewrapArguments(placesOf('/h', '/w'));
  for (const wanted of [
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-net',
    '--die-with-parent',
    '--new-session',
  ]) {
    assert.ok(argv.includes(wanted), wanted);
  }
  assert.match(argv.join(' '), /--dev \/dev --proc \/proc .*--cap-drop ALL.* --chdir \/w$/);
});

for (const [name, layout] of Object.entries(LAYOUTS)) {
  test(`inside, the token cannot be read and the workdir can be written when ${name}`, sandboxed, async (t) => {
    const it = await enter(t, layout);
    const attempts = [
      `cat ${it.home}/token`,
      `cat /proc/1/root${it.home}/token`,
      `umount ${it.home}; cat ${it.home}/token`,
      `unshare -rm bash -c "umount ${it.home}; umount -l ${it.home}; cat ${it.home}/token"`,
      `unshare -rmp --fork bash -c "mount --bind / /mnt; cat /mnt${it.home}/token"`,
      `mkdir m; mount -t proc proc m; cat m/*/root${it.home}/token`,
      `find ${it.root} -name token -exec cat {} +`,
    ];
    const { printed } = await it.run([...attempts, 'touch written', 'echo end'].join('; '));
    assert.doesNotMatch(printed, /canary/);
    assert.match(printed, /end\n$/);
    assert.equal(await readFile(join(it.workdir, 'written'), 'utf8'), '');
    assert.equal(await readFile(join(it.home, 'token'), 'utf8'), 'canary-token');
  });
}

test('inside, the system is read-only, /tmp is private, and other processes are invisible', sandboxed, async (t) => {
  const it = await enter(t, LAYOUTS['they lie apart']);
  const { printed } = await it.run(
    'touch /etc/here /usr/here 2>&1 | grep -c Read-only; touch /tmp/here && echo tmp; ls /proc | grep -c "^[0-9]"; ls /run; pwd',
  );
  const [readOnly, tmp, processes, ...rest] = printed.trim().split('\n');
  assert.deepEqual([readOnly, tmp, rest.at(-1)], ['2', 'tmp', it.workdir]);
  assert.ok(Number(processes) < 10, `${processes} processes`);
  await assert.rejects(readFile('/tmp/here'), { code: 'ENOENT' });
});

test('inside, kernel settings cannot be written, not even by root', sandboxed, async (t) => {
  const { run } = await enter(t, LAYOUTS['the workdir lies in the home']);
  // The original value is written back, so that a leaky sandbox changes nothing.
  const command =
    'cd /proc/sys/kernel; read -r now < core_pattern; echo "$now" > core_pattern || true; find /proc/sys -writable';
  assert.deepEqual(await run(command), {
    result: { kind: 'exited', exitCode: 0 },
    printed: `${BASH.kind === 'found' ? BASH.path : ''}: line 1: core_pattern: Read-only file system\n`,
  });
});

test('the exit code of a command is passed out of the sandbox', sandboxed, async (t) => {
  const it = await enter(t, LAYOUTS['they lie apart']);
  assert.deepEqual((await it.run('exit 7')).result, { kind: 'exited', exitCode: 7 });
});

test(
  'inside, a cancelled command may clean up, and processes that ignore SIGTERM or escape are killed',
  sandboxed,
  async (t) => {
    // The real clock, because the machine decides how long killed processes take to disappear.
    const it = await enter(t, LAYOUTS['they lie apart']);
    const reason = new StopReason('cancel', 'by a person');
    const runaway = 'trap "" TERM; while :; do date +%N >beat; sleep 0.02; done';
    await writeFile(join(it.workdir, 'runaway'), runaway);
    const { result } = await it.run(
      '(setsid bash runaway &); until [ -e beat ]; do sleep 0.01; done; trap "touch cleaned; exit" TERM; echo up; while :; do sleep 0.01; done',
      { onPrinted: () => it.stop.abort(reason) },
    );
    assert.deepEqual(result, { kind: 'stopped', reason });
    assert.equal(existsSync(join(it.workdir, 'cleaned')), true);
    assert.deepEqual(await commandLinesWith('bash runaway'), []);
  },
);

for (const [name, script] of Object.entries({
  'bubblewrap that takes descriptors': 'exec bwrap "$@"',
  'an older one that takes paths only':
    'case "$*" in *--bind-fd*) echo "Unknown option" >&2; exit 1;; esac; exec bwrap "$@"',
})) {
  test(
    `inside ${name} a command runs in the held folder or not at all, and has no way out by a descriptor`,
    sandboxed,
    async (t) => {
      const at = await place(t, LAYOUTS['they lie apart']);
      const program = join(at.root, 'program');
      // Just before the mount, the folder at the path is replaced.
      await writeFile(
        program,
        `#!/bin/bash\n[ -e ${at.root}/exchange ] && mv ${at.workdir} ${at.workdir}.aside && ln -s ${at.root}/other ${at.workdir}\n${script}\n`,
      );
      await chmod(program, 0o755);
      await mkdir(join(at.root, 'other'));
      await writeFile(join(at.root, 'other/note'), 'canary');
      const it = await enterAt(t, at, { bwrap: { kind: 'found', path: program } });
      const fds = await it.run('ls -l /proc/self/fd | grep -c "work"; touch written');
      assert.equal(fds.printed, '0\n');
      assert.equal(existsSync(join(at.workdir, 'written')), true);
      await writeFile(join(at.root, 'exchange'), '');
      const { printed } = await it.run('cat note; touch written-too');
      assert.doesNotMatch(printed, /canary/);
      assert.deepEqual(await readdir(join(at.root, 'other')), ['note']);
    },
  );
}

test(
  'a protected path whose folder was exchanged for a link before the mount shows nothing hidden, and nothing is run',
  sandboxed,
  async (t) => {
    const at = await place(t, LAYOUTS['they lie apart']);
    const vault = join(at.home, 'vault');
    for (const folder of [join(at.workdir, 'sub'), vault]) {
      for (const name of ['objects', 'refs', 'hooks']) await mkdir(join(folder, name), { recursive: true });
      for (const name of ['HEAD', 'config']) await writeFile(join(folder, name), folder === vault ? 'canary' : '');
    }
    const program = join(at.root, 'program');
    const exchange = `mv ${at.workdir}/sub ${at.workdir}/aside && ln -s ${vault} ${at.workdir}/sub`;
    await writeFile(program, `#!/bin/bash\n[ -e ${at.root}/exchange ] && ${exchange}\nexec bwrap "$@"\n`);
    await chmod(program, 0o755);
    const it = await enterAt(t, at, { bwrap: { kind: 'found', path: program } });
    assert.equal((await it.run('cat sub/config && echo ran')).printed, 'ran\n');
    await writeFile(join(at.root, 'exchange'), '');
    const { result, printed } = await it.run(`cat sub/config ${vault}/config; touch written`);
    assert.ok(result.kind === 'exited' && result.exitCode !== 0, printed);
    assert.doesNotMatch(printed, /canary/);
    assert.deepEqual([existsSync(join(at.workdir, 'written')), (await readdir(vault)).length], [false, 5]);
  },
);

test('protected paths with unusual names are found at their places', sandboxed, async (t) => {
  const it = await enter(t, LAYOUTS['they lie apart']);
  for (const name of ['objects', 'refs']) await mkdir(join(it.workdir, 'a b\\\tc', name), { recursive: true });
  for (const name of ['HEAD', 'config']) await writeFile(join(it.workdir, 'a b\\\tc', name), '');
  const { printed } = await it.run(`echo x > *c/config; ls; echo ran`);
  assert.match(printed, /Read-only file system\n[\s\S]*ran\n$/);
});

test('the reason for a missing sandbox is reported: not installed, not working', async (t) => {
  const it = await place(t, LAYOUTS['they lie apart']);
  const broken = join(it.root, 'broken');
  await writeFile(broken, '#!/bin/sh\necho "bwrap: no permissions to create a new namespace" >&2\nexit 1\n');
  await chmod(broken, 0o755);
  const detect = (mode: 'auto' | 'required', bwrap: Program, more = {}): Promise<Sandbox> =>
    detectSandbox({
      ...{ mode, home: it.home, environment, clock: systemClock },
      programs: { bash: BASH, bwrap },
      ...machineOf(it.home),
      ...more,
    });
  assert.deepEqual(await detect('auto', { kind: 'missing' }), {
    kind: 'none',
    reason: 'bubblewrap is not installed',
    required: false,
  });
  const danger = { kind: 'own', at: '/home/me' } as const;
  assert.deepEqual(await detect('auto', { kind: 'unsafe', path: '/home/me/bin/bwrap', danger }), {
    kind: 'none',
    reason:
      'bubblewrap was found only at /home/me/bin/bwrap and is not used: programs of this user can change /home/me',
    required: false,
  });
  assert.deepEqual(await detect('required', BWRAP, { architecture: 's390x' }), {
    kind: 'none',
    reason: BWRAP.kind === 'found' ? 'Unix sockets cannot be blocked on s390x' : 'bubblewrap is not installed',
    required: true,
  });
  assert.deepEqual(await detect('required', { kind: 'found', path: broken }), {
    kind: 'none',
    reason: 'bubblewrap does not work here: bwrap: no permissions to create a new namespace',
    required: true,
  });
});

for (const [what, script, weaker] of [
  [
    'a first try that fails on a busy machine is repeated, and the better way of mounting is kept',
    'mkdir "$0-tried" 2>/dev/null && exit 1; exec bwrap "$@"',
    undefined,
  ],
  [
    'an older bubblewrap is used, and what it lacks is told',
    'case "$*" in *--bind-fd*) echo "bwrap: Unknown option --bind-fd" >&2; exit 1;; esac; exec bwrap "$@"',
    /by their paths only.*Unknown option --bind-fd\. Install bubblewrap 0\.8 or newer\.$/,
  ],
  [
    'where only the weaker way works, it is used and told',
    'case "$*" in *--bind-fd*) echo "no" >&2; exit 1;; esac; exec bwrap "$@"',
    /by their paths only.*: no\. Restart Headgate to try again\.$/,
  ],
] as const)
  test(what, sandboxed, async (t) => {
    const it = await place(t, LAYOUTS['they lie apart']);
    const program = join(it.root, 'program');
    await writeFile(program, `#!/bin/bash\n${script}\n`);
    await chmod(program, 0o755);
    const sandbox = await detectSandbox({
      ...{ mode: 'auto', home: it.home, environment, clock: systemClock },
      programs: { bash: BASH, bwrap: { kind: 'found', path: program } },
      ...machineOf(it.home),
    });
    assert.ok(sandbox.kind === 'bubblewrap');
    if (weaker === undefined) assert.equal(sandbox.weaker, undefined);
    else assert.match(sandbox.weaker ?? '', weaker);
  });

test('a command that gets more descriptors than this process has begins in its folder', sandboxed, async (t) => {
  const at = await place(t, LAYOUTS['they lie apart']);
  const roots = Array.from({ length: 5 }, (_, index) => join(at.root, `root-${index}`));
  for (const root of roots) await mkdir(root);
  const [shell, begun] = [join(at.root, 'shell'), join(at.root, 'begun')];
  await writeFile(shell, `#!/bin/bash\npwd -P >> ${begun}\nexec bash "$@"\n`, { mode: 0o755 });
  const { run } = await enterAt(t, at, { roots, bash: { kind: 'found', path: shell } });
  assert.deepEqual((await run('true')).result, { kind: 'exited', exitCode: 0 });
  assert.equal((await readFile(begun, 'utf8')).split('\n')[0], at.workdir);
});
