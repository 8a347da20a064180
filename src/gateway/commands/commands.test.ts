import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { DAEMON, OF_EVERYONE } from '../sharing/perception.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { callerOf, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** Runs a command in `main`; returns the appended events. */
async function command(gateway: WholeGateway, text: string): Promise<StreamEvent[]> {
  const wsId = await gateway.main();
  const { length } = await gateway.events(wsId);
  await gateway.call('workstream.command', { wsId, command: text });
  return (await gateway.events(wsId)).slice(length);
}

async function say(gateway: WholeGateway, ...messages: string[]): Promise<void> {
  for (const message of messages) await (await gateway.accept(message))?.ended;
}

const shown = async (gateway: WholeGateway) => {
  const { snapshot } = await gateway.call('workstream.get', { wsId: await gateway.main() });
  return snapshot.messages.map(({ seq, content }) => [seq, content]);
};
const info = (message: string) => ({ type: 'info', message });
const problem = (message: string) => ({ type: 'error', message: `Command error: ${message}` });

test('/help lists the commands; an unknown one gets a suggestion and a hint', async () => {
  await using gateway = await wholeGateway();
  const [help] = await command(gateway, ' /help ');
  assert.match(
    help?.type === 'info' ? help.message : '',
    /^\/help.*\n\/clear.*\n\/new.*\n\/model.*\n\/effort.*\n\/resume.*\n\/name/,
  );
  assert.deepEqual(await command(gateway, '/toString now'), [
    info('Unknown command: /toString. Type /help for a list.'),
  ]);
  assert.deepEqual(await command(gateway, '/nmae now'), [
    info('Unknown command: /nmae. Did you mean /name? Type /help for a list.'),
  ]);
});

test('/workstreams and /history search for at most 256 characters, in which words may be repeated', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a garden');
  const tooLong = problem('The words to search for are too long: at most 256 characters');
  for (const name of ['/workstreams', '/history']) {
    assert.deepEqual(await command(gateway, `${name} ${'a '.repeat(2_000)}`), [tooLong]);
    const [found] = await command(gateway, `${name} ${'a '.repeat(128)}`);
    assert.match(found?.type === 'info' ? found.message : '', /a garden/, name);
  }
});

test('/export and /import name the ways that exist, because the daemon has no files of the person', async () => {
  await using gateway = await wholeGateway();
  for (const [line, words] of [
    ['/export', /^To export .* menu .* \/export FILE .* headgate export\.$/],
    ['/import x.json', /^To import .* \/import FILE .* headgate import\.$/],
  ] as const) {
    const [told] = await command(gateway, line);
    assert.match(told?.type === 'info' ? told.message : '', words);
  }
});

test('/clear empties the screen and the context; the messages stay stored', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a');
  assert.deepEqual(await command(gateway, '/clear'), [{ type: 'clear_ui', after_seq: 2 }]);
  assert.deepEqual([await shown(gateway), gateway.mainWorkstream().data.messageCount], [[], 2]);
  await say(gateway, 'b');
  assert.deepEqual(gateway.puppet.requests[1]?.messages, [{ role: 'user', content: 'b' }]);
  await gateway.crash();
  assert.deepEqual(await shown(gateway), [
    [3, 'b'],
    [4, 'ok'],
  ]);
});

test('/clear, /new and /resume reset the token count; /clear and /new also the title', async () => {
  await using gateway = await wholeGateway();
  const facts = () => [
    gateway.mainWorkstream().data.title,
    gateway.mainWorkstream().data.status()?.total_tokens !== undefined,
  ];
  for (const word of ['/clear', '/new']) {
    await say(gateway, 'first words');
    assert.deepEqual(facts(), ['first words', true], word);
    await command(gateway, word);
    assert.deepEqual(facts(), [null, false], word);
    await gateway.crash();
    assert.deepEqual(facts(), [null, false], `${word}, after a crash`);
  }
  await say(gateway, 'second words');
  assert.deepEqual(facts(), ['second words', true]);
  const [saved] = await gateway.store.db.selectFrom('workstreams').select('ws_id').where('loaded', '=', 0).execute();
  await command(gateway, `/resume ${saved?.ws_id}`);
  assert.deepEqual(facts(), ['first words', false]);
});

test('a message during /clear waits, and is answered without the cleared context', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a');
  const cleared = gateway.parts.commands.run(gateway.mainWorkstream(), '/clear', {
    ...{ viewer: DAEMON, principal: 'ada', rights: 'approve' as const },
    call: { principal: callerOf().principal, perform: () => assert.fail('/clear performs no other call') },
  });
  const sent = gateway.accept('b');
  await cleared;
  await (await sent)?.ended;
  assert.deepEqual(gateway.puppet.requests[1]?.messages, [{ role: 'user', content: 'b' }]);
  assert.deepEqual(await shown(gateway), [
    [3, 'b'],
    [4, 'ok'],
  ]);
});

test('/new saves the conversation under its own name and starts an empty one', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a');
  const events = await command(gateway, '/new');
  assert.deepEqual(events[0], { type: 'clear_ui', after_seq: 2 });
  const name = /saved as (ws-[0-9a-f]{4})\.$/.exec(events[1]?.type === 'info' ? events[1].message : '')?.[1];
  assert.equal(gateway.parts.workstreams.list(DAEMON).length, 1);
  await say(gateway, 'b');
  assert.equal(gateway.mainWorkstream().data.title, 'b');
  const reopened = await gateway.parts.workstreams.reopen(name ?? '', DAEMON);
  const { title, messageCount, always } = reopened?.workstream.data ?? {};
  assert.deepEqual({ title, messageCount, always }, { title: 'a', messageCount: 2, always: undefined });
  assert.deepEqual(await command(gateway, '/clear').then(() => command(gateway, '/new')), [
    { type: 'clear_ui', after_seq: 4 },
  ]);
});

test('/resume appends a copy of a saved conversation and shows it', async () => {
  await using gateway = await wholeGateway();
  const saved = await gateway.parts.workstreams.create({ owned: OF_EVERYONE, name: 'saved' });
  await (await gateway.accept('old', { to: saved }))?.ended;
  await say(gateway, 'a');
  const events = await command(gateway, '/resume saved');
  assert.deepEqual(events[0], { type: 'clear_ui', after_seq: 2 });
  const history = events[1]?.type === 'history' ? events[1].messages : [];
  assert.deepEqual(
    history.map(({ seq, content }) => [seq, content]),
    [
      [3, 'old'],
      [4, 'ok'],
    ],
  );
  assert.deepEqual(await shown(gateway), [
    [3, 'old'],
    [4, 'ok'],
  ]);
  await say(gateway, 'b');
  assert.deepEqual(
    gateway.puppet.requests.at(-1)?.messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  assert.equal(saved.data.messageCount, 2);
  assert.equal(gateway.mainWorkstream().data.title, 'old', 'lists name what is talked of now');
});

test('/resume leaves out the calls of a turn that is still in progress', async () => {
  await using gateway = await wholeGateway();
  const saved = await gateway.parts.workstreams.create({ owned: OF_EVERYONE, name: 'saved' });
  gateway.puppet.turn('Let me.', calling('touch'));
  await gateway.accept('old', { to: saved });
  while (!saved.current?.pendingApproval()) await new Promise(setImmediate);
  await command(gateway, '/resume saved');
  assert.deepEqual(await shown(gateway), [[1, 'old']]);
});

test('/resume without a name, or with an unknown one, is an error', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(await command(gateway, '/resume'), [problem('Usage: /resume NAME')]);
  assert.deepEqual(await command(gateway, '/resume x'), [
    problem('No saved conversation that everyone here sees is called x'),
  ]);
});

test('/model lists the models, switches to one, and refuses unknown ones', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(await command(gateway, '/model'), [info('* puppet  (puppet/puppet)\n  other  (puppet/other)')]);
  const events = await command(gateway, '/model other');
  assert.deepEqual([events[0]?.type, events[1]], ['settings_changed', info('Model: other')]);
  assert.deepEqual(await command(gateway, '/model x'), [problem("Unknown model 'x'. Available models: puppet, other")]);
});

test('/model marks a model that was chosen as provider/model, and lists context windows', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.models.list = () => [
    { alias: 'big', provider: 'maker', modelId: 'big-1', contextWindow: 128_000, isDefault: true },
    { alias: 'new', provider: 'server', modelId: '', contextWindow: 0, isDefault: false },
  ];
  assert.deepEqual(await command(gateway, '/model'), [
    info('* puppet\n  big  (maker/big-1, context 128k)\n  new  (server)'),
  ]);
});

test('/effort shows and sets the effort, also during an answer and after a restart; other words change nothing', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(await command(gateway, '/effort'), [info('Effort: medium')]);
  const [changed, told] = await command(gateway, '/effort High');
  assert.deepEqual([changed?.type === 'settings_changed' && changed.effort, told], ['high', info('Effort: high')]);
  await gateway.restart();
  const words = 'Unknown effort "extreme". Usage: /effort [low | medium | high]';
  assert.deepEqual(await command(gateway, '/effort extreme'), [problem(words)]);
  gateway.puppet.turn(never());
  await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'thinking_start');
  assert.deepEqual(await command(gateway, '/effort'), [info('Effort: high')]);
  assert.equal(gateway.puppet.requests[0]?.effort, 'high');
});

test('/name renames; a name in use or missing is an error', async () => {
  await using gateway = await wholeGateway();
  await gateway.parts.workstreams.create({ owned: OF_EVERYONE, alias: 'other' });
  const events = await command(gateway, '/name my work');
  assert.deepEqual([events[0]?.type, events[1]], ['settings_changed', info('This workstream is now called my work.')]);
  assert.deepEqual(await command(gateway, '/name'), [problem('Usage: /name NAME')]);
  assert.deepEqual(await command(gateway, '/name other'), [problem('That name is already used by another workstream')]);
});

test('commands that change the context are refused during an answer; others are not', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(never());
  await gateway.accept('a');
  await gateway.reaches(await gateway.main(), 'thinking_start');
  for (const word of ['clear', 'new', 'resume']) {
    assert.deepEqual(await command(gateway, `/${word}`), [
      info(`/${word} is not possible while an answer is in progress. Wait for its end, or cancel it.`),
    ]);
  }
  assert.deepEqual(
    (await command(gateway, '/name x')).map(({ type }) => type),
    ['settings_changed', 'info'],
  );
});

test('a command that could not be stored changes nothing and has no output', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a');
  gateway.disk.fails = () => true;
  await assert.rejects(command(gateway, '/clear'), { code: 'UNAVAILABLE' });
  gateway.disk.fails = undefined;
  assert.deepEqual(
    [await shown(gateway), gateway.mainWorkstream().busy],
    [
      [
        [1, 'a'],
        [2, 'ok'],
      ],
      false,
    ],
  );
});
