import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { calling } from '../testing/puppet-model.ts';
import { never, startedWorkstreams } from './workstreams-fixture.ts';

type Fixture = Awaited<ReturnType<typeof startedWorkstreams>>;

/** Runs a command in `main`; what it appended to the log. */
async function command({ parts, main, eventsOf }: Fixture, line: string): Promise<StreamEvent[]> {
  const { wsId } = main().data;
  const { last } = parts.store.bounds(wsId);
  await parts.commands.run(main(), line);
  return (await eventsOf(wsId)).slice(last);
}

async function say(fixture: Fixture, ...messages: string[]): Promise<void> {
  for (const message of messages) await (await fixture.send(message))?.ended;
}

const shown = async ({ parts, main }: Fixture) =>
  (await parts.snapshots.take(main())).snapshot.messages.map(({ seq, content }) => [seq, content]);
const info = (message: string) => ({ type: 'info', message });
const problem = (message: string) => ({ type: 'error', message: `Command error: ${message}` });

test('/help lists the commands; an unknown one says what was probably meant and where to look', async () => {
  await using fixture = await startedWorkstreams();
  const [help] = await command(fixture, ' /help ');
  assert.match(
    help?.type === 'info' ? help.message : '',
    /^\/help.*\n\/clear.*\n\/new.*\n\/model.*\n\/resume.*\n\/name/,
  );
  assert.deepEqual(await command(fixture, '/toString now'), [
    info('Unknown command: /toString. Type /help for a list.'),
  ]);
  assert.deepEqual(await command(fixture, '/nmae now'), [
    info('Unknown command: /nmae. Did you mean /name? Type /help for a list.'),
  ]);
});

test('/clear empties the screen and the context; what was said stays stored', async () => {
  await using fixture = await startedWorkstreams();
  await say(fixture, 'a');
  assert.deepEqual(await command(fixture, '/clear'), [{ type: 'clear_ui', after_seq: 2 }]);
  assert.deepEqual([await shown(fixture), fixture.main().data.messageCount], [[], 2]);
  await say(fixture, 'b');
  assert.deepEqual(fixture.puppet.requests[1]?.messages, [{ role: 'user', content: 'b' }]);
  await fixture.crash();
  assert.deepEqual(await shown(fixture), [
    [3, 'b'],
    [4, 'ok'],
  ]);
});

test('/clear, /new and /resume begin without the tokens of the turn before; /clear and /new without its title', async () => {
  await using fixture = await startedWorkstreams();
  const facts = () => [fixture.main().data.title, fixture.main().data.status()?.total_tokens !== undefined];
  for (const word of ['/clear', '/new']) {
    await say(fixture, 'first words');
    assert.deepEqual(facts(), ['first words', true], word);
    await command(fixture, word);
    assert.deepEqual(facts(), [null, false], word);
    await fixture.crash();
    assert.deepEqual(facts(), [null, false], `${word}, after a crash`);
  }
  await say(fixture, 'second words');
  assert.deepEqual(facts(), ['second words', true]);
  const [saved] = await fixture.parts.store.db
    .selectFrom('workstreams')
    .select('ws_id')
    .where('loaded', '=', 0)
    .execute();
  await command(fixture, `/resume ${saved?.ws_id}`);
  assert.deepEqual(facts(), ['first words', false]);
});

test('/clear and a message at once: the message waits, and is answered without what was cleared', async () => {
  await using fixture = await startedWorkstreams();
  await say(fixture, 'a');
  const cleared = fixture.parts.commands.run(fixture.main(), '/clear');
  const sent = fixture.send('b');
  await cleared;
  await (await sent)?.ended;
  assert.deepEqual(fixture.puppet.requests[1]?.messages, [{ role: 'user', content: 'b' }]);
  assert.deepEqual(await shown(fixture), [
    [3, 'b'],
    [4, 'ok'],
  ]);
});

test('/new keeps the conversation as a saved one and starts afresh, with a name of its own', async () => {
  await using fixture = await startedWorkstreams();
  await say(fixture, 'a');
  const events = await command(fixture, '/new');
  assert.deepEqual(events[0], { type: 'clear_ui', after_seq: 2 });
  const name = /saved as (ws-[0-9a-f]{4})\.$/.exec(events[1]?.type === 'info' ? events[1].message : '')?.[1];
  assert.equal(fixture.parts.workstreams.list().length, 1);
  await say(fixture, 'b');
  assert.equal(fixture.main().data.title, 'b');
  const reopened = await fixture.parts.workstreams.reopen(name ?? '');
  const { title, messageCount, always } = reopened?.workstream.data ?? {};
  assert.deepEqual({ title, messageCount, always }, { title: 'a', messageCount: 2, always: undefined });
  assert.deepEqual(await command(fixture, '/clear').then(() => command(fixture, '/new')), [
    { type: 'clear_ui', after_seq: 4 },
  ]);
});

test('/resume copies a saved conversation behind what is here and shows it', async () => {
  await using fixture = await startedWorkstreams();
  const saved = await fixture.parts.workstreams.create({ name: 'saved' });
  await (await fixture.send('old', { to: saved }))?.ended;
  await say(fixture, 'a');
  const events = await command(fixture, '/resume saved');
  assert.deepEqual(events[0], { type: 'clear_ui', after_seq: 2 });
  const history = events[1]?.type === 'history' ? events[1].messages : [];
  assert.deepEqual(
    history.map(({ seq, content }) => [seq, content]),
    [
      [3, 'old'],
      [4, 'ok'],
    ],
  );
  assert.deepEqual(await shown(fixture), [
    [3, 'old'],
    [4, 'ok'],
  ]);
  await say(fixture, 'b');
  assert.deepEqual(
    fixture.puppet.requests.at(-1)?.messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  assert.equal(saved.data.messageCount, 2);
  assert.equal(fixture.main().data.title, 'old', 'lists name what is talked of now');
});

test('/resume leaves out the calls of a turn that is still in progress', async () => {
  await using fixture = await startedWorkstreams();
  const saved = await fixture.parts.workstreams.create({ name: 'saved' });
  fixture.puppet.turn('Let me.', calling('touch'));
  await fixture.send('old', { to: saved });
  while (!saved.current?.pendingApproval()) await new Promise(setImmediate);
  await command(fixture, '/resume saved');
  assert.deepEqual(await shown(fixture), [[1, 'old']]);
});

test('/resume of nothing, and of what is unknown, says so', async () => {
  await using fixture = await startedWorkstreams();
  assert.deepEqual(await command(fixture, '/resume'), [problem('Usage: /resume NAME')]);
  assert.deepEqual(await command(fixture, '/resume x'), [problem('No saved conversation is called x')]);
});

test('/model lists the models, switches to one, and refuses what it does not know', async () => {
  await using fixture = await startedWorkstreams();
  assert.deepEqual(await command(fixture, '/model'), [info('* puppet  (puppet/puppet)\n  other  (puppet/other)')]);
  const events = await command(fixture, '/model other');
  assert.deepEqual([events[0]?.type, events[1]], ['settings_changed', info('Model: other')]);
  assert.deepEqual(await command(fixture, '/model x'), [problem("Unknown model 'x'. Available models: puppet, other")]);
});

test('/name renames; a name in use or missing is an error', async () => {
  await using fixture = await startedWorkstreams();
  await fixture.parts.workstreams.create({ alias: 'other' });
  const events = await command(fixture, '/name my work');
  assert.deepEqual([events[0]?.type, events[1]], ['settings_changed', info('This workstream is now called my work.')]);
  assert.deepEqual(await command(fixture, '/name'), [problem('Usage: /name NAME')]);
  assert.deepEqual(await command(fixture, '/name other'), [problem('That name is already used by another workstream')]);
});

test('what changes the context waits for the answer; the rest does not', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn(never());
  await fixture.send('a');
  await fixture.reaches('thinking_start');
  for (const word of ['clear', 'new', 'resume']) {
    assert.deepEqual(await command(fixture, `/${word}`), [
      info(`/${word} is not possible while an answer is in progress. Wait for its end, or cancel it.`),
    ]);
  }
  assert.deepEqual(
    (await command(fixture, '/name x')).map(({ type }) => type),
    ['settings_changed', 'info'],
  );
});

test('a command that could not be stored changes nothing and is no answer', async () => {
  await using fixture = await startedWorkstreams();
  await say(fixture, 'a');
  fixture.parts.tap.fails = () => true;
  await assert.rejects(fixture.parts.commands.run(fixture.main(), '/clear'), { code: 'UNAVAILABLE' });
  fixture.parts.tap.fails = undefined;
  assert.deepEqual(
    [await shown(fixture), fixture.main().busy],
    [
      [
        [1, 'a'],
        [2, 'ok'],
      ],
      false,
    ],
  );
});
