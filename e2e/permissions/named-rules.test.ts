import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { callersOf } from '../support/clients/callers.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { answerCommands, itemsOf, outcomes, questions, run, runWith } from './command-talks.ts';

// What is decided only by a person, or by a rule that names it.
const { model, daemon } = await openStage();
const { operator } = callersOf(daemon);
const sandboxed = await needs('bubblewrap');
const fetching = await needs('bubblewrap', 'curl');
const RULES = '/v1/api/rules';
answerCommands(model);

afterEach(async () => {
  for (const { rule_id } of (await operator(`GET ${RULES}`)).body.rules) await operator(`DELETE ${RULES}/${rule_id}`);
});

test(
  'A call that changes a protected path must ask in every mode but `full` unless a rule names that path or the exact command',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon, { mode: 'edits' });
    const place = path.join(daemon.home, 'workspace/.envrc');
    await runWith(talk, '`echo one > .envrc`', { approved: false });
    const ruling = { verdict: 'ask', reason: 'protected', protected_paths: [place] };
    assert.deepEqual(itemsOf(talk).at(-1)?.ruling, ruling);
    // Approved, but it is not known that it changes this file, so it cannot.
    await runWith(talk, '`f=.envrc; echo two > $f`', { approved: true });
    await runWith(talk, '`ln -sf .envrc link`', { approved: true });
    assert.equal(existsSync(place), false, outcomes(talk).join());
    await runWith(talk, '`echo three > .envrc`', { approved: true, rules: [{ id: 'path', term: 'conversation' }] });
    assert.equal(readFileSync(place, 'utf8'), 'three\n');
    const before = questions(talk);
    await run(talk, '`echo four > .envrc` `echo five > link`');
    assert.deepEqual(
      [questions(talk), itemsOf(talk).at(-1)?.ruling?.protected_paths],
      [before, [place]],
      'named by the rule',
    );
    assert.match(readFileSync(place, 'utf8'), /four|five/);
    await using other = await openConversation(daemon, { mode: 'edits' });
    await runWith(other, '`echo six > link`', { approved: false });
    assert.deepEqual(itemsOf(other).at(-1)?.ruling, ruling, 'the link leads to it');
  },
);

test(
  'Hosts that a command could not reach must be asked about with the next call of the same command, which reaches them if it is allowed',
  fetching,
  async () => {
    await using talk = await openConversation(daemon);
    const command = 'x=first-use.invalid; curl -s -m 5 http://$x/';
    await runWith(talk, `\`${command}\``, { approved: true });
    const refused = [{ host: 'first-use.invalid', port: 80, reason: 'not_allowed' }];
    const results = () => talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event.refused_hosts] : []));
    assert.deepEqual([itemsOf(talk).at(-1)?.ruling?.hosts, results()], [undefined, [refused]]);
    await daemon.restart();
    await talk.reconnect();
    await runWith(talk, `\`${command}\``, { approved: true, rules: [{ id: 'host', term: 'conversation' }] });
    const asked = itemsOf(talk).at(-1);
    assert.deepEqual([asked?.ruling?.reason, asked?.ruling?.hosts], ['hosts', ['first-use.invalid']]);
    assert.deepEqual(results(), [refused, undefined], 'it is allowed now, although no such host exists');
    const known = await talk.client.call('rule.list', { wsId: talk.wsId });
    assert.deepEqual(known.rules[0]?.match, { host: 'first-use.invalid' });
  },
);

test(
  'A command that the agent wants to run outside the sandbox must always ask but in the mode `full`, whatever allows it',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon, { mode: 'edits' });
    const outside = `/var/tmp/headgate-outside-${process.pid}`;
    const command = `OFF echo $$ > ${outside}`;
    await operator(`POST ${RULES}`, { action: 'allow', match: { tool: 'bash' }, ws_id: talk.wsId });
    await runWith(talk, `\`ls\` \`${command}\``, { approved: true, decisions: { call_1: { approved: false } } });
    const item = itemsOf(talk).findLast(({ call_id }) => call_id === 'call_1');
    assert.deepEqual(
      [item?.ruling?.reason, item?.sandbox_off, item?.rules],
      ['not_sandboxed', 'it needs a local socket', []],
    );
    assert.equal(existsSync(outside), false);
    await runWith(talk, `\`${command}\``, { approved: true });
    assert.ok(existsSync(outside));
    rmSync(outside);
    const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event] : []));
    assert.match(results.at(-1)?.not_sandboxed ?? '', /it needs a local socket/);
    const { body } = await operator('GET /v1/api/admin/audit?action=command.outside&limit=5');
    assert.deepEqual(
      body.events.map(({ resource_id }: { resource_id: string }) => resource_id),
      [talk.wsId],
    );
    await operator(`POST ${RULES}`, { action: 'deny', match: { program: 'echo' } });
    await run(talk, `\`${command}\``);
    assert.match(outcomes(talk).at(-1) ?? '', /blocked/);
  },
);

test(
  'what runs because of the mode changes nothing in folders that were added; what a person approves may',
  sandboxed,
  async () => {
    const added = mkdtempSync('/var/tmp/headgate-added-');
    const manifest = path.join(daemon.home, 'workspace/package.json');
    writeFileSync(manifest, JSON.stringify({ scripts: { test: `echo x > ${added}/from-test` } }));
    await using talk = await openConversation(daemon, { mode: 'edits' });
    await talk.client.call('workstream.update', { wsId: talk.wsId, readable: [added] });
    await run(talk, '`npm test`');
    assert.deepEqual([questions(talk), readdirSync(added)], [0, []], outcomes(talk).join());
    assert.match(outcomes(talk).join(), /Read-only file system/);
    await runWith(talk, `\`touch ${added}/approved\``, { approved: true });
    assert.deepEqual(readdirSync(added), ['approved']);
    for (const each of [added, manifest]) rmSync(each, { recursive: true });
  },
);
