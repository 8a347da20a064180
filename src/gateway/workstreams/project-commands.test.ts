import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProjectCommand } from '../../agent/project/project-commands.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

const REVIEW: ProjectCommand = { name: 'review', argument: 'NUMBER', summary: 'Review a change', text: 'Review #$1.' };
const CLEAR: ProjectCommand = { name: 'clear', summary: 'not ours', text: 'Clear everything.' };

const WAITING =
  '/ship waits for trust: it comes from /work/api, which is not trusted. If the folder has an AGENTS.md, the first message of a conversation asks; otherwise add the folder to agents.trusted in config.json.';

/** A gateway whose working directories have two commands; one has a name that Headgate uses. */
const withCommands = () =>
  wholeGateway({
    projectCommands: {
      list: async () => [CLEAR, REVIEW],
      others: async () => ({
        waiting: [{ name: 'ship', folder: '/work/api' }],
        odd: [{ file: '/work/Odd.md', why: 'empty' }],
      }),
    },
  });

test('a command of the project sends its message for the caller', async () => {
  await using gateway = await withCommands();
  const wsId = await gateway.main();
  await gateway.call('workstream.command', { wsId, command: '/review 7' }, { scope: 'write', id: 'bob' });
  await gateway.isIdle(wsId);
  const { messages } = await gateway.call('workstream.history', { wsId });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['Review #7.', 'ok'],
  );
});

test('the names of Headgate’s own commands keep their meaning', async () => {
  await using gateway = await withCommands();
  const wsId = await gateway.main();
  await gateway.call('workstream.command', { wsId, command: '/clear' });
  assert.equal(gateway.puppet.requests.length, 0);
  assert.deepEqual(await gateway.call('workstream.commands', { wsId }), {
    commands: [{ name: 'review', argument: 'NUMBER', summary: 'Review a change' }],
  });
});

test('/help lists the commands of the project', async () => {
  await using gateway = await withCommands();
  const wsId = await gateway.main();
  await gateway.call('workstream.command', { wsId, command: '/help' });
  const infos = (await gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? [event.message] : []));
  assert.equal(
    infos.at(-1),
    [
      'Commands of this project:',
      '/review NUMBER  Review a change',
      WAITING,
      '/work/Odd.md is no command: it has no text.',
    ].join('\n'),
  );
});

test('while an answer is in progress, a command of the project is refused with words', async () => {
  await using gateway = await withCommands();
  const wsId = await gateway.main();
  const release = Promise.withResolvers<void>();
  gateway.puppet.turn(release.promise, 'done');
  const handle = await gateway.accept('hello');
  await gateway.call('workstream.command', { wsId, command: '/review 7' });
  release.resolve();
  await handle?.ended;
  const infos = (await gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? [event.message] : []));
  assert.deepEqual(infos, ['/review is not possible while an answer is in progress. Wait for its end, or cancel it.']);
});

test('a command that waits for trust, or lacks arguments, says so and sends nothing', async () => {
  await using gateway = await withCommands();
  const wsId = await gateway.main();
  await gateway.call('workstream.command', { wsId, command: '/ship it' });
  await gateway.call('workstream.command', { wsId, command: '/review' });
  const infos = (await gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? [event.message] : []));
  assert.deepEqual(infos, [
    WAITING,
    'Usage: /review NUMBER. The file of the command uses $1, so it needs at least 1 argument.',
  ]);
  assert.equal(gateway.puppet.requests.length, 0);
});
