import assert from 'node:assert/strict';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Message } from '../../message.ts';
import { toSha256 } from '../files/confined-file.ts';
import { createConfinement } from '../files/confinement.ts';
import { createToolFixture, execute, sawFiles, toShown } from '../tool-fixture.ts';
import { createApplyPatchTool } from './apply-patch.ts';

async function start(files: Record<string, string>) {
  const fixture = await createToolFixture();
  const seen: Message[] = [];
  for (const [name, text] of Object.entries(files))
    seen.push(sawFiles({ [await fixture.file(`work/${name}`, text)]: toSha256(text) }));
  const tool = createApplyPatchTool({ confinement: createConfinement({ home: fixture.home }) });
  return {
    ...fixture,
    tool,
    at: (name: string) => path.join(fixture.workdir, name),
    read: (name: string) => readFile(path.join(fixture.workdir, name), 'utf8'),
    prepare: (lines: readonly string[], history: Message[] = seen) =>
      tool.prepare(
        tool.parameters.parse({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') }),
        fixture.context(history),
      ),
  };
}

const refusal = (subject: string, ...problems: string[]) => ({
  kind: 'refused',
  subject,
  reason: ['The patch was not applied.', ...problems].join('\n'),
});

test('a patch adds, changes, moves and deletes files, after showing all diffs', async () => {
  await using it = await start({ 'a.txt': 'one\ntwo\nthree\n', 'b.sh': 'echo b\n', 'c.txt': 'gone\n' });
  await chmod(it.at('b.sh'), 0o750);
  const prepared = await it.prepare([
    '*** Add File: new/d.txt',
    '+fresh',
    '*** Update File: a.txt',
    '@@',
    ' one',
    '-two',
    '+TWO',
    '*** Update File: b.sh',
    '*** Move to: bin/b.sh',
    '-echo b',
    '+echo B',
    '*** Delete File: c.txt',
  ]);
  assert.deepEqual(toShown(prepared), {
    kind: 'ready',
    subject: 'new/d.txt, a.txt, b.sh and 2 more',
    preview: [
      '(moves b.sh to bin/b.sh)',
      ...['--- /dev/null', '+++ new/d.txt', '@@ -0,0 +1,1 @@', '+fresh'],
      ...['--- a.txt', '+++ a.txt', '@@ -1,3 +1,3 @@', ' one', '-two', '+TWO', ' three'],
      ...['--- b.sh', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-echo b'],
      ...['--- /dev/null', '+++ bin/b.sh', '@@ -0,0 +1,1 @@', '+echo B'],
      ...['--- c.txt', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-gone', ''],
    ].join('\n'),
    previewType: 'diff',
    approvalLabel: 'apply_patch',
    needsApproval: true,
    effects: {
      list: [
        ...['new/d.txt', 'a.txt', 'bin/b.sh'].map((target) => ({ kind: 'write', target, certain: true })),
        ...['b.sh', 'c.txt'].map((target) => ({ kind: 'delete', target, certain: true })),
      ],
    },
    bindTo: JSON.stringify([
      ['absent', it.at('new/d.txt')],
      [toSha256('one\ntwo\nthree\n'), it.at('a.txt')],
      [toSha256('echo b\n'), it.at('b.sh')],
      ['absent', it.at('bin/b.sh')],
      [toSha256('gone\n'), it.at('c.txt')],
    ]),
  });
  assert.deepEqual(await execute(prepared), {
    output: [
      'Created new/d.txt (1 line).',
      'Changed a.txt (3 lines).',
      'Deleted b.sh.',
      'Created bin/b.sh (1 line).',
      'Deleted c.txt.',
    ].join('\n'),
    outcome: 'done',
    files: {
      [it.at('new/d.txt')]: toSha256('fresh\n'),
      [it.at('a.txt')]: toSha256('one\nTWO\nthree\n'),
      [it.at('bin/b.sh')]: toSha256('echo B\n'),
    },
  });
  assert.deepEqual((await readdir(it.workdir, { recursive: true })).sort(), [
    ...['a.txt', 'bin', 'bin/b.sh', 'new', 'new/d.txt'],
  ]);
  assert.equal((await stat(it.at('bin/b.sh'))).mode & 0o777, 0o750);
});

test('conflicts of all files are reported by file and hunk, and nothing is changed', async () => {
  await using it = await start({ 'a.txt': 'one\ntwo\nthree\ntwo\n', 'b.txt': 'alpha\nbeta\n' });
  const prepared = await it.prepare([
    '*** Update File: a.txt',
    '@@',
    '-two',
    '+2',
    '@@',
    ' one',
    '-deux',
    '+2',
    '*** Update File: b.txt',
    '@@ gamma',
    '-beta',
    '+B',
    '@@',
    '-alpha',
    '+A',
    '*** Add File: b.txt',
    '+x',
    '*** Delete File: missing.txt',
  ]);
  assert.deepEqual(
    prepared,
    refusal(
      'a.txt, b.txt, b.txt and 1 more',
      'a.txt: Hunk 1 (line 3 of the patch): its lines are in the file more than once (lines 2, 4); add context lines, or name a line before it after @@.',
      'a.txt: Hunk 2 (line 6 of the patch): it fits from line 1, but line 2 is "two" where the patch has "deux".',
      'b.txt: Hunk 1 (line 11 of the patch): the line "gamma" was not found.',
      'b.txt: the file exists already; use "*** Update File".',
      'missing.txt: no such file.',
    ),
  );
  assert.equal(await it.read('b.txt'), 'alpha\nbeta\n');
});

test('hunks must be in the order of the file', async () => {
  await using it = await start({ 'a.txt': 'one\ntwo\nthree\n' });
  const prepared = await it.prepare(['*** Update File: a.txt', '@@', '-three', '+3', '@@', '-one', '+1']);
  assert.deepEqual(
    prepared,
    refusal(
      'a.txt',
      'a.txt: Hunk 2 (line 6 of the patch): its lines are at line 1, before the end of the hunk before it; hunks must be in the order of the file.',
    ),
  );
});

test('a file must have been read, and not have changed since, before it is changed, moved or deleted', async () => {
  await using it = await start({ 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.txt': 'three\n' });
  await writeFile(it.at('c.txt'), 'other\n');
  const patch = [
    ...['*** Update File: a.txt', '-one', '+1', '*** Update File: b.txt', '*** Move to: d.txt'],
    ...['*** Delete File: c.txt'],
  ];
  assert.deepEqual(
    await it.prepare(patch, []),
    refusal(
      'a.txt, b.txt, c.txt',
      'a.txt has not been read yet; read it before editing.',
      'b.txt has not been read yet; read it before moving.',
      'c.txt has not been read yet; read it before deleting.',
    ),
  );
  assert.deepEqual(
    await it.prepare(['*** Delete File: c.txt']),
    refusal('c.txt', 'c.txt has changed since it was read; read it again.'),
  );
});

test('a file that changes after the approval keeps all files of the patch from being changed', async () => {
  await using it = await start({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
  const prepared = await it.prepare([
    ...['*** Update File: a.txt', '-one', '+1', '*** Update File: b.txt', '-two', '+2'],
  ]);
  await writeFile(it.at('b.txt'), 'edited by a person\n');
  assert.deepEqual(await execute(prepared), {
    output: 'b.txt has changed since the call was prepared; nothing was written. Read it again.',
    outcome: 'failed',
  });
  assert.deepEqual([await it.read('a.txt'), await it.read('b.txt')], ['one\n', 'edited by a person\n']);
});

test('patches of the same files that run at the same time are made one after the other, whatever their order', async () => {
  await using it = await start({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
  const changeOf = (name: string, old: string, text: string) => [`*** Update File: ${name}`, `-${old}`, `+${text}`];
  const [a, b] = [changeOf('a.txt', 'one', '1'), changeOf('b.txt', 'two', '2')];
  const [c, d] = [changeOf('b.txt', 'two', 'II'), changeOf('a.txt', 'one', 'I')];
  const [first, second] = [await it.prepare([...a, ...b]), await it.prepare([...c, ...d])];
  const outcomes = await Promise.all([execute(first), execute(second)]);
  assert.deepEqual(
    outcomes.map(({ outcome }) => outcome),
    ['done', 'failed'],
  );
  assert.deepEqual([await it.read('a.txt'), await it.read('b.txt')], ['1\n', '2\n']);
});

test('places outside the workstream and in the home of the daemon are refused, and outside ones are named', async () => {
  await using it = await start({});
  await it.file('outside.txt', 'one\n');
  assert.deepEqual(
    await it.prepare(['*** Add File: ../home/x', '+1']),
    refusal('../home/x', '../home/x belongs to Headgate itself; tools cannot access it.'),
  );
  const prepared = await it.prepare(['*** Add File: ../new.txt', '+1']);
  const target = path.join(it.root, 'new.txt');
  assert.equal(
    prepared.kind === 'ready' && prepared.preview.split('\n')[0],
    `${target}: (outside the working directory: ${target})`,
  );
});

const cases: [title: string, file: string, hunks: string[], after: string][] = [
  [
    'context with other white space',
    'if (a) {\n\tb();   \n}\n',
    [' if (a) {', '-  b();', '+  c();'],
    'if (a) {\n  c();\n}\n',
  ],
  ['typographic quotes', 'say “hi” – now\n', ['-say "hi" - now', '+say bye'], 'say bye\n'],
  ['Windows line endings', 'a\r\nb\r\nc', [' b', '-c', '+C', '+d'], 'a\r\nb\r\nC\r\nd'],
  ['line endings of both kinds, without one at the end', 'a\r\nb\nc', [' b', '-c'], 'a\r\nb'],
  ['a file without a newline at its end', 'a\nb', ['-b', '+c'], 'a\nc'],
  ['a place named by @@', 'f:\n x\ng:\n x\n', ['@@ g:', '- x', '+ y'], 'f:\n x\ng:\n y\n'],
  ['numbers of a unified diff', 'a\nb\n', ['@@ -1,2 +1,2 @@', ' a', '-b', '+c'], 'a\nc\n'],
  ['the end of the file', 'x\ny\nx\n', ['-x', '+z', '*** End of File'], 'x\ny\nz\n'],
  ['an insertion after a named line', 'a\nb\n', ['@@ a', '+new'], 'a\nnew\nb\n'],
  ['an insertion without a place', 'a\n', ['+new'], 'a\nnew\n'],
  ['an empty file', '', ['+new'], 'new\n'],
  ['all lines', 'a\n', ['-a'], ''],
  ['an empty line without a sign', 'a\n\nb\n', [' a', '', '-b', '+c', ''], 'a\n\nc\n'],
];
for (const [title, text, hunks, after] of cases) {
  test(`a patch fits: ${title}`, async () => {
    await using it = await start({ 'a.txt': text });
    const outcome = await execute(await it.prepare(['*** Update File: a.txt', ...hunks]));
    assert.equal(outcome.outcome, 'done');
    assert.equal(await it.read('a.txt'), after);
  });
}

test('a file of so many lines that a patch would hold up everybody is not patched', async () => {
  await using it = await start({ 'a.txt': `one\n${'\n'.repeat(200_000)}` });
  assert.deepEqual(
    await it.prepare(['*** Update File: a.txt', '-one', '+two']),
    refusal('a.txt', 'a.txt: it has more than 200000 lines, which are too many for a patch; use edit_file.'),
  );
});

test('a malformed patch is refused with its line', async () => {
  await using it = await start({ 'a.txt': 'one\n' });
  const reasonOf = async (patch: string) => {
    const prepared = await it.tool.prepare({ patch }, it.context([]));
    return prepared.kind === 'refused' && prepared.reason;
  };
  assert.deepEqual(
    await Promise.all(
      [
        'nothing',
        '*** Begin Patch\n*** Add File: a\n+1',
        '*** Begin Patch\n*** End Patch',
        '*** Begin Patch\n*** Rename File: a\n*** End Patch',
        '*** Begin Patch\n*** Add File: a\n1\n*** End Patch',
        '*** Begin Patch\n*** Update File: a.txt\n@@\n?one\n*** End Patch',
        '*** Begin Patch\n*** Update File: a.txt\n@@\n one\n*** End Patch',
        '*** Begin Patch\n*** Update File: a.txt\n*** End Patch',
      ].map(reasonOf),
    ),
    [
      'The patch must begin with "*** Begin Patch".',
      'The patch must end with "*** End Patch".',
      'The patch changes no file.',
      'Line 2 of the patch is "*** Rename File: a"; expected "*** Add File: PATH", "*** Update File: PATH" or "*** Delete File: PATH".',
      'Line 3 of the patch must begin with "+": it belongs to a new file.',
      'Line 4 of the patch must begin with " ", "+", "-" or "@@": "?one".',
      'Line 3 of the patch: hunk 1 changes nothing.',
      'Line 2 of the patch: the update of a.txt changes nothing.',
    ],
  );
});

test('a file is changed by a patch in the form of a here-document', async () => {
  await using it = await start({ 'a.txt': 'one\n' });
  const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** End Patch\nEOF\n";
  const seen = [sawFiles({ [it.at('a.txt')]: toSha256('one\n') })];
  await execute(await it.tool.prepare({ patch }, it.context(seen)));
  assert.equal(await it.read('a.txt'), '1\n');
});
