import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../../testing/needs.ts';
import { StopReason } from '../stop-reason.ts';
import { STANDARD_PATH } from './programs.ts';
import { enter, LAYOUTS } from './sandbox-fixture.ts';

const sandboxed = await needs('bubblewrap', 'git');
const exec = promisify(execFile);

/** A repository that sandboxed commands may write to, and a program that a planted setting would run outside. */
async function start(t: TestContext) {
  const it = await enter(t, LAYOUTS['they lie apart']);
  const evil = join(it.root, 'evil');
  await writeFile(evil, `#!/bin/sh\ntouch ${it.root}/ran\n`);
  await chmod(evil, 0o755);
  const me = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  /** As a person calls it, outside. */
  const git = async (...args: string[]) => {
    const env = { PATH: STANDARD_PATH, HOME: it.root, GIT_CONFIG_NOSYSTEM: '1' };
    return (await exec('git', [...me, ...args], { cwd: it.workdir, env })).stdout;
  };
  await git('init', '-q');
  await git('commit', '-q', '--allow-empty', '-m', 'first');
  const attack = async (command: string) => {
    const { printed } = await it.run(command.replaceAll('EVIL', evil));
    await git('status').catch(() => undefined); // what it says does not matter, only what it runs
    return { printed, hasRun: existsSync(join(it.root, 'ran')) };
  };
  return { ...it, evil, git, attack };
}

const OTHER = 'mkdir -p x/objects x/refs x/hooks; git config -f x/config core.fsmonitor EVIL; ';

for (const [name, command] of Object.entries({
  'another folder for its settings': `${OTHER} echo ../x > .git/commondir`,
  'another folder, renamed into place': `${OTHER} echo ../x > c; mv -f c .git/commondir`,
  'another folder, after removing what stands there': `${OTHER} rm -f .git/commondir; ln -s ../c .git/commondir; echo ../x > c`,
  'a file in place of its folder': `${OTHER} cp .git/HEAD x; mv .git aside || rm -rf .git; echo gitdir: x > .git`,
})) {
  test(`a git outside does not run what a sandboxed command named: ${name}`, sandboxed, async (t) => {
    const it = await start(t);
    assert.equal((await it.attack(command)).hasRun, false);
  });
}

test('settings of a working tree cannot be planted', sandboxed, async (t) => {
  const it = await start(t);
  await it.git('config', 'extensions.worktreeConfig', 'true');
  assert.equal((await it.attack('git config -f .git/config.worktree core.fsmonitor EVIL')).hasRun, false);
});

test(
  'git works inside and outside while its redirections are held, and nothing is left of them',
  sandboxed,
  async (t) => {
    const it = await start(t);
    const before = await readdir(join(it.workdir, '.git'));
    await it.git('config', 'extensions.worktreeConfig', 'true');
    const seen: Promise<string>[] = [];
    const { printed } = await it.run(
      'echo a > a && git add a && GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b git commit -qm second && git worktree add -q wt && git -C wt status --short && git gc -q && git log --format=%s; sleep 1',
      { onPrinted: () => void seen.push(it.git('status', '--short')) },
    );
    assert.equal(printed, 'second\nfirst\n');
    assert.deepEqual([...new Set(await Promise.all(seen))], ['?? wt/\n']);
    assert.deepEqual(
      (await readdir(join(it.workdir, '.git'))).filter((name) => /commondir|config\./.test(name)),
      [],
    );
    assert.ok(before.includes('config'));
  },
);

const AS_ADA = 'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b; ';

const BARE =
  'git init -q --bare x && git config -f x/config core.bare false && git config -f x/config core.worktree . && git config -f x/config core.fsmonitor EVIL; ';

for (const [where, sandbox] of [
  ['in the sandbox', 'wanted'],
  ['without a sandbox', 'none'],
] as const) {
  test(`git does not take a folder for a repository because it looks like one: ${where}`, sandboxed, async (t) => {
    const it = await start(t);
    await it.attack(BARE);
    const run = sandbox === 'none' ? it.runOutside : it.run;
    const { printed } = await run(
      `git -C x status; cd x && git status; ls ${it.root}/ran; cd .. && git status --short`,
    );
    assert.match(printed, /(fatal: cannot use bare repository .*\n){2}.*No such file.*\n\?\? x\/\n$/);
  });
}

const NESTED = 'git init -q sub && git -C sub commit -q --allow-empty -m x';
const LINK = 'git update-index --add --cacheinfo "160000,$(git -C sub rev-parse HEAD),sub"';

for (const [name, command] of Object.entries({
  'its settings': 'git config -f sub/.git/config core.fsmonitor EVIL',
  'another folder for its settings': `${OTHER} echo ../../x > sub/.git/commondir`,
  'the settings of a submodule': 'git config -f .git/modules/lib/config core.fsmonitor EVIL',
})) {
  test(`a repository inside the root is kept from commands that did not make it: ${name}`, sandboxed, async (t) => {
    const it = await start(t);
    await exec('bash', ['-c', AS_ADA + NESTED], { cwd: it.workdir });
    await exec('bash', ['-c', `${AS_ADA}git clone -q sub .git/lib && cp -r .git/lib/.git .git/modules-lib`], {
      cwd: it.workdir,
    });
    const lay =
      'mkdir .git/modules lib; mv .git/modules-lib .git/modules/lib; echo "gitdir: ../.git/modules/lib" > lib/.git';
    await exec('bash', ['-c', `${lay}; ${LINK}; ${LINK.replaceAll('sub', 'lib')}`], { cwd: it.workdir });
    assert.equal((await it.attack(`${command}; true`)).hasRun, false);
    assert.match(await it.git('status', '--short'), /^A {2}lib\nA {2}sub\n/);
  });
}

test(
  'commands make, use and remove repositories inside the root, and are told if these name programs',
  sandboxed,
  async (t) => {
    const it = await start(t);
    const made = await it.run(`${AS_ADA}${NESTED} && git -C sub config user.name x`);
    assert.deepEqual(made.result, { kind: 'exited', exitCode: 0 });
    const used = await it.run(
      `git -C sub config core.fsmonitor ${it.evil}; git init -q --bare b; git -C sub worktree add -q t`,
    );
    const path = join(it.workdir, 'sub/.git');
    assert.deepEqual(used.result, {
      kind: 'exited',
      exitCode: 0,
      planted: [{ kind: 'repository', path, why: 'core.fsmonitor' }],
    });
    assert.deepEqual((await it.run('rm -r sub b && ls')).result, { kind: 'exited', exitCode: 0 });
    const file = await it.run(
      `${AS_ADA}${NESTED}; git -C sub config alias.x '!ls'; mv sub/.git x; echo 'gitdir: ../x' > sub/.git`,
    );
    const planted = ['sub/.git', 'x'].map((name) => ({
      kind: 'repository',
      path: join(it.workdir, name),
      why: 'alias.x',
    }));
    assert.deepEqual(file.result, { kind: 'exited', exitCode: 0, planted });
    const stopped = await it.run(`git init -q late && git -C late config alias.x '!ls'; sleep 60`, {
      timeoutMs: 1_500,
    });
    assert.deepEqual(stopped.result, {
      kind: 'stopped',
      reason: new StopReason('timeout', 'Not finished within 1.5 s'),
      planted: [{ kind: 'repository', path: join(it.workdir, 'late/.git'), why: 'alias.x' }],
    });
  },
);

test('what protected links lead to cannot be changed, and a link that was replaced is named', sandboxed, async (t) => {
  const it = await start(t);
  const at = (name: string) => join(it.workdir, name);
  await exec(
    'bash',
    ['-c', 'rm -r .git/hooks; mkdir hooks; ln -s ../hooks .git/hooks; mv .git real; ln -s real .git'],
    {
      cwd: it.workdir,
    },
  );
  await exec('bash', ['-c', 'echo a > .env-of-ada; ln -s .env-of-ada .envrc; ln -s gone .vscode'], { cwd: it.workdir });
  const settings = 'cp EVIL hooks/post-commit; git config -f real/config core.fsmonitor EVIL; echo evil > .env-of-ada';
  assert.equal((await it.attack(settings)).hasRun, false);
  assert.equal(await readFile(at('.env-of-ada'), 'utf8'), 'a\n');
  await it.git('commit', '-q', '--allow-empty', '-m', 'second');
  assert.equal(existsSync(join(it.root, 'ran')), false);
  const { result } = await it.run('rm .envrc; echo evil > .envrc');
  assert.deepEqual(result, { kind: 'exited', exitCode: 0, planted: [{ kind: 'link', path: at('.envrc') }] });
});
