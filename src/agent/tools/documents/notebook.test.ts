import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { toSha256 } from '../files/confined-file.ts';
import { createConfinement } from '../files/confinement.ts';
import { createReadFileTool } from '../read-file.ts';
import { createToolFixture, execute, recordRun, sawFiles } from '../tool-fixture.ts';
import { createEditNotebookTool } from './edit-notebook.ts';
import { createPdfReader } from './read-pdf.ts';

const CELLS = [
  { cell_type: 'markdown', id: 'a', metadata: {}, source: ['# Sales\n', 'of 2026'] },
  {
    cell_type: 'code',
    execution_count: 3,
    id: 'b',
    metadata: { tags: ['x'] },
    outputs: [
      { output_type: 'stream', name: 'stdout', text: ['one\n', '\u001b[31mtwo\u001b[0m\n'] },
      { output_type: 'display_data', data: { 'image/png': 'aGVsbG8=', 'text/plain': '<Figure>' }, metadata: {} },
      { output_type: 'error', ename: 'KeyError', evalue: "'q'", traceback: ['line 1'] },
    ],
    source: 'print(1)',
  },
];
const NOTEBOOK = { cells: CELLS, metadata: { kernelspec: { name: 'python3' } }, nbformat: 4, nbformat_minor: 5 };
const TEXT = `${JSON.stringify(NOTEBOOK, undefined, 1)}\n`;

async function start(text = TEXT) {
  const fixture = await createToolFixture();
  const confinement = createConfinement({ home: fixture.home });
  const pdf = createPdfReader({ clock: systemClock, workerUrl: new URL('./pdf-worker.ts', import.meta.url) });
  const path = await fixture.file('work/a.ipynb', text);
  const reader = createReadFileTool({ confinement, pdf });
  const editor = createEditNotebookTool({ confinement });
  return {
    ...fixture,
    path,
    editor,
    read: async (args: object = {}, run = recordRun()) =>
      execute(await reader.prepare(reader.parameters.parse({ path: 'a.ipynb', ...args }), fixture.context()), run),
    edit: (args: object) =>
      editor.prepare(
        editor.parameters.parse({ path: 'a.ipynb', ...args }),
        fixture.context([sawFiles({ [path]: toSha256(text) })]),
      ),
    cells: async () => JSON.parse(await readFile(path, 'utf8')).cells,
  };
}

test('a notebook is shown by cells with their outputs, without pictures and colours', async () => {
  await using it = await start();
  const first = '--- cell 1, markdown ---\n# Sales\nof 2026';
  const second = [
    ...['--- cell 2, code ---', 'print(1)', '[output]', 'one', 'two', '[output: image/png]', '<Figure>', '[output]'],
    ...["KeyError: 'q'", 'line 1'],
  ].join('\n');
  assert.deepEqual(await it.read(), {
    output: `${first}\n\n${second}\n\n[cells 1 to 2 of 2]`,
    outcome: 'done',
    files: { [it.path]: toSha256(TEXT) },
  });
  assert.equal((await it.read({ offset: 2 })).output, `${second}\n\n[cells 2 to 2 of 2]`);
  assert.equal((await it.read({ offset: 3 })).output, '[there are only 2 cells]');
  const small = { ...recordRun(), maxOutputBytes: 60 };
  assert.equal((await it.read({}, small)).output, `${first}\n\n[cells 1 to 1 of 2; offset 2 shows the rest]`);
});

test('an output of an unknown type is shown with what it holds', async () => {
  const outputs = [{ output_type: 'constructor', data: { 'text/plain': 'x' } }, 'none', { output_type: 'toString' }];
  const cells = [{ cell_type: 'code', metadata: {}, source: '', outputs }];
  await using it = await start(JSON.stringify({ ...NOTEBOOK, cells }));
  const { output } = await it.read();
  assert.equal(output, '--- cell 1, code ---\n\n[output]\nx\n[output: unknown]\n[output]\n\n[cells 1 to 1 of 1]');
});

test('long outputs are cut, and a file that is no notebook is shown as text', async () => {
  const outputs = Array.from({ length: 12 }, () => ({ output_type: 'stream', text: 'x\n'.repeat(100) }));
  const cells = [{ cell_type: 'code', metadata: {}, source: '', outputs }];
  {
    await using it = await start(JSON.stringify({ ...NOTEBOOK, cells }));
    const { output } = await it.read();
    assert.deepEqual([output.match(/\[cut, 199 bytes\]/g)?.length, /\[2 more outputs\]/.test(output)], [10, true]);
  }
  await using it = await start('{"cells": 1}');
  assert.equal((await it.read()).output, '     1\t{"cells": 1}');
});

test('a cell is replaced, inserted and deleted; the rest of the file stays as it was', async () => {
  await using it = await start();
  const prepared = await it.edit({ action: 'replace', cell: 2, source: 'print(2)\nprint(3)' });
  assert.equal(prepared.kind === 'ready' && /^\+ {4}"print\(2\)\\n",$/m.test(prepared.preview), true);
  await execute(prepared);
  const replaced = {
    cell_type: 'code',
    execution_count: null,
    id: 'b',
    metadata: { tags: ['x'] },
    outputs: [],
    source: ['print(2)\n', 'print(3)'],
  };
  const text = await readFile(it.path, 'utf8');
  assert.deepEqual(JSON.parse(text), { ...NOTEBOOK, cells: [CELLS[0], replaced] });
  assert.equal(text.endsWith('}\n'), true);
});

test('numbers, escapes and line ends of the rest of the file stay as they were', async () => {
  const cell = [
    '  {',
    '   "cell_type": "raw",',
    '   "metadata": {',
    '    "scale": 1.0',
    '   },',
    '   "source": ["a"]',
    '  }',
  ];
  const odd = [
    '"a": 1.0,',
    '"b": 12345678901234567890,',
    '"c": 1e-07,',
    '"d": -0,',
    String.raw`"e": "\/\u00e9",`,
    '"f": 1e400',
  ];
  const lines = ['{', ' "cells": [', ...cell, ' ],', ' "metadata": {', ...odd.map((line) => `  ${line}`), ' },'];
  const text = [...lines, ' "nbformat": 4', '}', ''].join('\r\n').replace('["a"]', '[\r\n    "a"\r\n   ]');
  await using it = await start(text);
  await execute(await it.edit({ action: 'replace', cell: 1, source: 'z' }));
  assert.equal(await readFile(it.path, 'utf8'), text.replace('    "a"', '    "z"'));
});

test('an inserted cell gets an id, the same for the same call', async () => {
  await using it = await start();
  const args = { action: 'insert', cell: 0, source: 'hello', cell_type: 'markdown' };
  const [one, again] = [await it.edit(args), await it.edit(args)];
  assert.deepEqual(one.kind === 'ready' && one.preview, again.kind === 'ready' && again.preview);
  await execute(one);
  const [{ id, ...added }, ...others] = await it.cells();
  assert.match(id, /^[0-9a-f]{8}$/);
  assert.deepEqual([added, others], [{ cell_type: 'markdown', metadata: {}, source: ['hello'] }, CELLS]);
});

test('deleting needs no source; a missing cell, file or reading is refused', async () => {
  await using it = await start();
  const reasonOf = async (args: object) => {
    const prepared = await it.edit(args);
    return prepared.kind === 'refused' && prepared.reason;
  };
  assert.deepEqual(
    [
      await reasonOf({ action: 'delete', cell: 3 }),
      await reasonOf({ action: 'replace', cell: 0, source: '' }),
      await reasonOf({ action: 'delete', cell: 1, path: 'b.ipynb' }),
      it.editor.parameters.safeParse({ path: 'a.ipynb', action: 'insert', cell: 1 }).success,
      it.editor.parameters.safeParse({ path: 'a.ipynb', action: 'delete', cell: 1, source: '' }).success,
    ],
    [
      'a.ipynb has 2 cells; there is no cell 3.',
      'a.ipynb has 2 cells; there is no cell 0.',
      'b.ipynb: no such file.',
      false,
      false,
    ],
  );
  await execute(await it.edit({ action: 'delete', cell: 1 }));
  assert.deepEqual(await it.cells(), [CELLS[1]]);
});
