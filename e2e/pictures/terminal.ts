// `npm run pictures`: makes the pictures of the terminal in docs/ from a scripted conversation.
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { has, isQuiet, openChat } from '../support/clients/chat-terminal.ts';
import { openTerminal, type TerminalUnderTest } from '../support/clients/terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const SIZE = { columns: 88, rows: 26 };
const CALL = { name: 'bash', arguments: { command: 'seq -f "test %g passed" 1 240' } };
const EDIT = {
  name: 'edit_file',
  arguments: { path: 'watering.js', old_string: 'return left;', new_string: 'return Math.max(0, left);' },
};

const save = (name: string, terminal: TerminalUnderTest) =>
  writeFile(fileURLToPath(new URL(`../../docs/terminal-${name}.svg`, import.meta.url)), terminal.picture());

test('docs/terminal-*.svg', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'garden-'));
  await writeFile(path.join(folder.path, 'watering.js'), 'export function days(left) {\n  return left;\n}\n');
  model.when(
    'Do the tests pass',
    callTools(CALL),
    say('All **240** tests pass. The slowest one:\n\n- `watering.test.js`, 41 ms\n'),
  );
  model.when(
    'go below zero',
    callTools({ name: 'read_file', arguments: { path: 'watering.js' } }),
    callTools(EDIT),
    say('Done.'),
  );
  await using chat = await openChat(daemon, { ...SIZE, workdir: folder.path });
  chat.type('Do the tests pass?\r');
  await chat.until((rows) => has('41 ms')(rows) && isQuiet(rows), 'the answer');
  await save('conversation', chat);
  chat.type('\x0f\x1b[C');
  await chat.until(has('… 230 lines more'), 'the unfolded call');
  await save('calls', chat);
  chat.type('q/model\r');
  await chat.until(has('Model of this workstream'), 'the list');
  await save('list', chat);
  chat.type('\x1b');
  await chat.until(isQuiet, 'the prompt');
  chat.type('The days must not go below zero.\r');
  await chat.until(has('y approve'), 'the question');
  await save('approval', chat);
  await using top = openTerminal({ args: ['top'], env: { HEADGATE_HOME: daemon.home }, ...SIZE });
  await top.until(has('edit_file'), 'the call that waits');
  await save('top', top);
});
