import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readlink, rm, symlink } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../../../testing/needs.ts';
import { STANDARD_PATH } from '../../process/programs.ts';
import { workspaceFixture } from '../workspace-fixture.ts';

const needsGit = await needs('git');
const signal = new AbortController().signal;
const run = promisify(execFile);

/** A repository with one commit. */
async function repository(files: Record<string, string> = { 'a.txt': 'a\n' }) {
  const it = await workspaceFixture();
  await it.git('init', '-q');
  for (const [name, content] of Object.entries(files)) await it.file(`work/${name}`, content);
  await it.git('add', '-f', '.');
  await it.git('commit', '-qm', 'first');
  const seen = async (path: string) => (await it.workspace.diff(it.workdir, { path, part: undefined }, signal)).seen;
  const committed = (path: string, saw: string) => it.workspace.committed(it.workdir, { path, seen: saw }, signal);
  const back = async (path: string) => {
    const { wanted } = await committed(path, (await seen(path)) ?? '');
    return wanted?.kind === 'file' ? Buffer.from(wanted.content).toString() : wanted;
  };
  const refuses = (path: string, message: RegExp, saw = '0-0-0') =>
    assert.rejects(committed(path, saw), { kind: 'wrong_kind', message });
  return Object.assign(it, { seen, committed, back, refuses });
}

test('the last commit has the content, as a checkout would write it, and the target of a link', needsGit, async () => {
  await using it = await repository({ 'a.txt': 'a\n', 'b.bat': 'b\n', '.gitattributes': '*.bat eol=crlf\n' });
  await symlink('a.txt', it.at('work/link'));
  await it.git('add', 'link');
  await it.git('commit', '-qm', 'second');
  for (const name of ['a.txt', 'b.bat']) await it.file(`work/${name}`, 'changed\n');
  await rm(it.at('work/link'));
  await symlink('b.bat', it.at('work/link'));
  assert.equal(await readlink(it.at('work/link')), 'b.bat');
  assert.deepEqual(
    [await it.back('a.txt'), await it.back('b.bat'), await it.back('link')],
    ['a\n', 'b\r\n', { kind: 'link', target: 'a.txt' }],
  );
  await it.file('work/new.txt', 'new\n');
  assert.equal(await it.back('new.txt'), undefined, 'a new file goes');
});

test('what was seen is neither another content nor another commit', needsGit, async () => {
  await using it = await repository();
  await it.file('work/a.txt', 'one\n');
  const first = await it.seen('a.txt');
  await it.file('work/a.txt', 'two\n');
  assert.notEqual(await it.seen('a.txt'), first);
  await it.git('commit', '-qam', 'second');
  await it.file('work/a.txt', 'one\n');
  await assert.rejects(it.committed('a.txt', first ?? ''), { kind: 'changed' });
  await it.file('work/a.txt', 'two\n');
  await assert.rejects(it.committed('a.txt', first ?? ''), { kind: 'changed', message: /^Git reports no change/ });
});

test('a prepared repository cannot have a file written into a .git folder', needsGit, async () => {
  await using it = await repository();
  const git = async (input: string, ...args: string[]) => {
    const running = run('git', args, { cwd: it.at('work'), env: { PATH: STANDARD_PATH, HOME: it.at('home') } });
    running.child.stdin?.on('error', () => undefined).end(input);
    return (await running).stdout.trim();
  };
  const blob = await git('evil\n', 'hash-object', '-w', '--stdin');
  for (const name of ['.git', '.GIT', '.g\u200cit']) {
    const hooks = await git(`100755 blob ${blob}\tpost-checkout\n`, 'mktree');
    const folder = await git(`040000 tree ${hooks}\thooks\n`, 'mktree');
    const top = await git(`040000 tree ${folder}\t${name}\n`, '-c', 'core.quotePath=false', 'mktree');
    const author = ['-c', 'user.name=A', '-c', 'user.email=a@b.c'];
    const commit = await git('', ...author, 'commit-tree', '-m', 'evil', top);
    await git('', 'update-ref', 'refs/heads/main', commit);
    const path = `${name}/hooks/post-checkout`;
    await assert.rejects(it.committed(path, `${blob}-100755-0`), (error: Error) => {
      assert.match(error.message, /is a part of a git repository|^Git reports no change/, name);
      return true;
    });
  }
});

test('what changed in a submodule is not listed, and neither it nor a file in it is put back', needsGit, async () => {
  await using it = await repository();
  await it.file('work/part/inner.txt', 'one\n');
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'inner'],
  ])
    await it.git('-C', 'part', ...words);
  await it.git('add', 'part');
  await it.git('commit', '-qm', 'with a submodule');
  const listed = async () =>
    (await it.workspace.changes(it.workdir, signal)).flatMap(({ files }) => files.map(({ path }) => path));
  const refused = async (path: string) => {
    await assert.rejects(it.committed(path, '0-0-0'), /Git reports no change of part/);
    assert.equal(await it.seen(path).catch(() => undefined), undefined, 'there is no mark to put it back with');
  };
  await it.file('work/part/inner.txt', 'two\n');
  await it.git('-C', 'part', 'commit', '-qam', 'later');
  await it.file('work/part/inner.txt', 'three\n');
  await it.file('work/a.txt', 'beside it\n');
  assert.deepEqual(await listed(), ['a.txt']);
  await refused('part');
  await refused('part/inner.txt');
  assert.equal(await it.back('a.txt'), 'a\n');
  await rm(it.at('work/part'), { recursive: true });
  await refused('part');
  await it.file('work/part', 'a file now\n');
  assert.deepEqual(await listed(), ['a.txt']);
  await refused('part');
  await it.git('rm', '-q', '--cached', 'part');
  await it.git('add', 'part');
  assert.deepEqual(await listed(), ['a.txt', 'part']);
  await it.refuses('part', /is a submodule\. Use git to put it back\.$/, await it.seen('part'));
});

test('files whose content git does not hold, conflicts and secrets are refused in words', needsGit, async () => {
  await using it = await repository({ 'a.txt': 'a\n', '.env': 'KEY=1\n', 'large.bin': 'pointer\n' });
  await it.file('work/.env', 'KEY=2\n');
  assert.equal(await it.seen('.env'), undefined);
  await it.refuses('.env', /may hold secrets/);
  await it.file('work/.git/info/attributes', '*.bin filter=lfs\n');
  await it.file('work/large.bin', 'content\n');
  await it.refuses('large.bin', /comes from a filter \(lfs\)/, await it.seen('large.bin'));
  await it.git('checkout', '-qb', 'other');
  await it.file('work/a.txt', 'theirs\n');
  await it.git('commit', '-qm', 'theirs', '--', 'a.txt');
  await it.git('checkout', '-q', 'main');
  await it.file('work/a.txt', 'ours\n');
  await it.git('commit', '-qm', 'ours', '--', 'a.txt');
  await it.git('merge', '-q', 'other').catch(() => undefined);
  await it.refuses('a.txt', /merge conflict/, await it.seen('a.txt'));
  await assert.rejects(it.committed('../foreign/x', '0-0-0'), { kind: 'missing' });
});
