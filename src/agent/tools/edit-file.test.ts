import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Message } from '../message.ts';
import { createEditFileTool } from './edit-file.ts';
import { toSha256 } from './files/confined-file.ts';
import { createConfinement } from './files/confinement.ts';
import { createToolFixture, execute, sawFiles, toShown } from './tool-fixture.ts';

interface Replacement {
  old_string: string;
  new_string: string;
  replace_all?: boolean;
}

const TEXT = 'alpha\nbeta\ngamma\nbeta\n';

async function start(text = TEXT) {
  const fixture = await createToolFixture();
  const path = await fixture.file('work/a.txt', text);
  const tool = createEditFileTool({ confinement: createConfinement({ home: fixture.home }) });
  const seen = [sawFiles({ [path]: toSha256(text) })];
  return {
    ...fixture,
    path,
    prepare: (args: { path?: string } & Partial<Replacement> & { edits?: Replacement[] }, history: Message[] = seen) =>
      tool.prepare(tool.parameters.parse({ path: 'a.txt', ...args }), fixture.context(history)),
  };
}

const refusal = (reason: string) => ({ kind: 'refused', subject: 'a.txt', reason });

test('an edit shows its diff, is bound to the version of the file, and records the new version', async () => {
  await using it = await start();
  const prepared = await it.prepare({ old_string: 'gamma', new_string: 'delta $& $1' });
  assert.deepEqual(toShown(prepared), {
    kind: 'ready',
    subject: 'a.txt',
    preview: [
      '--- a.txt',
      '+++ a.txt',
      '@@ -1,4 +1,4 @@',
      ' alpha',
      ' beta',
      '-gamma',
      '+delta $& $1',
      ' beta',
      '',
    ].join('\n'),
    previewType: 'diff',
    approvalLabel: 'edit_file',
    needsApproval: true,
    effects: { list: [{ kind: 'write', target: 'a.txt', certain: true }] },
    bindTo: `${toSha256(TEXT)} ${it.path}`,
  });
  const after = TEXT.replace('gamma', () => 'delta $& $1');
  assert.deepEqual(await execute(prepared), {
    output: 'Replaced a.txt (4 lines).',
    outcome: 'done',
    files: { [it.path]: toSha256(after) },
  });
  assert.equal(await readFile(it.path, 'utf8'), after);
});

test('a file that was not read cannot be edited', async () => {
  await using it = await start();
  assert.deepEqual(
    await it.prepare({ old_string: 'gamma', new_string: 'x' }, []),
    refusal('a.txt has not been read yet; read it before editing.'),
  );
});

test('a file that changed since it was read has to be read again', async () => {
  await using it = await start();
  await writeFile(it.path, `${TEXT}more`);
  assert.deepEqual(
    await it.prepare({ old_string: 'gamma', new_string: 'x' }),
    refusal('a.txt has changed since it was read; read it again.'),
  );
});

test('the last version seen or written counts', async () => {
  await using it = await start();
  const older = sawFiles({ [it.path]: toSha256('older') });
  const current = sawFiles({ [it.path]: toSha256(TEXT) });
  const edit = { old_string: 'gamma', new_string: 'x' };
  assert.equal((await it.prepare(edit, [older, current, sawFiles({ '/other': 'x' })])).kind, 'ready');
  assert.equal((await it.prepare(edit, [current, older])).kind, 'refused');
});

test('text that occurs several times is refused with its lines, unless replace_all is set', async () => {
  await using it = await start();
  const edit = { old_string: 'beta', new_string: 'B' };
  assert.deepEqual(
    await it.prepare(edit),
    refusal('old_string was found 2 times in a.txt (lines 2, 4); include more of its surroundings.'),
  );
  await execute(await it.prepare({ ...edit, replace_all: true }));
  assert.equal(await readFile(it.path, 'utf8'), 'alpha\nB\ngamma\nB\n');
});

test('missing text, and text replaced by itself, is refused', async () => {
  await using it = await start();
  assert.deepEqual(
    await it.prepare({ old_string: 'omega', new_string: 'x' }),
    refusal('old_string was not found in a.txt; it must match exactly.'),
  );
  assert.deepEqual(
    await it.prepare({ old_string: 'gamma', new_string: 'gamma' }),
    refusal('old_string and new_string are the same.'),
  );
  assert.deepEqual(await it.prepare({ path: 'b.txt', old_string: 'a', new_string: 'b' }), {
    kind: 'refused',
    subject: 'b.txt',
    reason: 'b.txt: no such file; write_file creates one.',
  });
});

test('a file with Windows line endings keeps them', async () => {
  await using it = await start('alpha\r\nbeta\r\ngamma\r\n');
  await execute(await it.prepare({ old_string: 'alpha\nbeta', new_string: 'one\ntwo\nthree' }));
  assert.equal(await readFile(it.path, 'utf8'), 'one\r\ntwo\r\nthree\r\ngamma\r\n');
});

test('lines that are added to a file with Windows line endings get them, also if the old text is a part of one line', async () => {
  await using it = await start('alpha\r\nbeta\r\n');
  await execute(await it.prepare({ old_string: 'alpha', new_string: 'one\ntwo' }));
  assert.equal(await readFile(it.path, 'utf8'), 'one\r\ntwo\r\nbeta\r\n');
});

test('a file with line endings of both kinds keeps those of the text that is replaced', async () => {
  await using it = await start('alpha\r\nbeta\ngamma\r\ndelta\r\n');
  const edits = [
    { old_string: 'alpha\nbeta\n', new_string: 'alpha\nbeta\n' },
    { old_string: 'beta\n', new_string: 'B\nb\n' },
    { old_string: 'gamma\ndelta', new_string: 'G\nD' },
  ];
  await execute(await it.prepare({ edits: edits.slice(1) }));
  assert.equal(await readFile(it.path, 'utf8'), 'alpha\r\nB\nb\nG\r\nD\r\n');
});

test('a file that changes between approval and execution is not edited', async () => {
  await using it = await start();
  const prepared = await it.prepare({ old_string: 'gamma', new_string: 'x' });
  await writeFile(it.path, 'changed');
  assert.equal((await execute(prepared)).outcome, 'failed');
  assert.equal(await readFile(it.path, 'utf8'), 'changed');
});

test('edits of a file in one answer are all made, each in the result of those before it', async () => {
  await using it = await start();
  const first = await it.prepare({ old_string: 'alpha', new_string: 'A' });
  const second = await it.prepare({ old_string: 'gamma', new_string: 'C' });
  const lost = await it.prepare({ old_string: 'alpha\nbeta', new_string: 'B' });
  const outcomes = await Promise.all([first, second, lost].map((prepared) => execute(prepared)));
  assert.deepEqual(
    outcomes.map(({ output, outcome }) => [outcome, output]),
    [
      ['done', 'Replaced a.txt (4 lines).'],
      ['done', 'Replaced a.txt (4 lines).'],
      ['failed', 'old_string was not found in a.txt; it must match exactly.'],
    ],
  );
  const after = 'A\nbeta\nC\nbeta\n';
  assert.deepEqual([await readFile(it.path, 'utf8'), outcomes[1]?.files], [after, { [it.path]: toSha256(after) }]);
});

test('an edit is not made in what somebody else has written meanwhile, also after an own change', async () => {
  await using it = await start();
  const first = await it.prepare({ old_string: 'alpha', new_string: 'A' });
  const second = await it.prepare({ old_string: 'gamma', new_string: 'C' });
  assert.equal((await execute(first)).outcome, 'done');
  await writeFile(it.path, 'A\nbeta\ngamma\nby a person\n');
  assert.match((await execute(second)).output, /^a\.txt has changed since the call was prepared/);
});

test('several edits are made at once, each against the text as it was read', async () => {
  await using it = await start();
  const edits = [
    { old_string: 'gamma', new_string: 'alpha' },
    { old_string: 'alpha\n', new_string: '' },
    { old_string: 'beta', new_string: 'B', replace_all: true },
  ];
  await execute(await it.prepare({ edits }));
  assert.equal(await readFile(it.path, 'utf8'), 'B\nalpha\nB\n');
});

test('if one of several edits fails, none is made, and each problem is named', async () => {
  await using it = await start();
  const edits = [
    { old_string: 'gamma', new_string: 'x' },
    { old_string: 'beta', new_string: 'y' },
    { old_string: 'omega', new_string: 'z' },
    { old_string: 'gamma\nbeta', new_string: 'x' },
  ];
  assert.deepEqual(
    await it.prepare({ edits }),
    refusal(
      [
        'Nothing in a.txt was changed.',
        'Edit 2: old_string was found 2 times in a.txt (lines 2, 4); include more of its surroundings.',
        'Edit 3: old_string was not found in a.txt; it must match exactly.',
        'Edits 1 and 4 overlap in a.txt (line 3); join them into one.',
      ].join('\n'),
    ),
  );
  assert.equal(await readFile(it.path, 'utf8'), TEXT);
});

test('an edit gives one replacement or a list, not both and not neither', async () => {
  await using it = await start();
  const { parameters } = createEditFileTool({ confinement: createConfinement({ home: it.home }) });
  const one = { old_string: 'a', new_string: 'b' };
  const isValid = (args: object) => parameters.safeParse({ path: 'a.txt', ...args }).success;
  assert.deepEqual(
    [one, { edits: [one] }, { edits: [] }, {}, { old_string: 'a' }, { edits: [one], ...one }].map(isValid),
    [true, true, false, false, false, false],
  );
});

test('a replacement that would fill the memory is refused', async () => {
  await using it = await start('a'.repeat(100));
  const prepared = await it.prepare({ old_string: 'a', new_string: 'b'.repeat(900_000), replace_all: true });
  assert.deepEqual(prepared, refusal('a.txt would become too large (90000000 characters).'));
});

test('an edit of more places than fit into the memory is refused, as is one that would be looked for without end', async () => {
  await using it = await start('a'.repeat(1_000_000));
  const edit = { old_string: 'a', new_string: 'b', replace_all: true };
  const edits = [edit, { ...edit, old_string: `b${'a'.repeat(200_000)}` }, { ...edit, replace_all: false }];
  assert.deepEqual(
    await it.prepare({ edits }),
    refusal(
      [
        'Nothing in a.txt was changed.',
        'Edit 1: At most 100000 places of a.txt can be replaced at once.',
        'Edit 2: old_string was not found in a.txt; it must match exactly.',
        `Edit 3: old_string was found more than 100000 times in a.txt (lines ${Array(20).fill(1).join(', ')}, …); include more of its surroundings.`,
      ].join('\n'),
    ),
  );
});

test('a long text is found where it begins again in itself, and without overlaps', async () => {
  const [long, other] = [`${'ab'.repeat(300)}c`, 'x'.repeat(500)];
  await using it = await start(`ab${long}\n${other}${other}\n`);
  const edits = [
    { old_string: long, new_string: '1' },
    { old_string: other, new_string: '2', replace_all: true },
  ];
  await execute(await it.prepare({ edits }));
  assert.equal(await readFile(it.path, 'utf8'), 'ab1\n22\n');
});
